"""What the templates of a project that is not trusted get of the environment, where nothing runs and elsewhere."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from merge_runner.api import Project, lint_paths
from merge_runner.errors import ProblemsError
from merge_runner.lsp.documents.open_documents import OpenDocuments
from merge_runner.project.syntax.environment import RecordingEnv
from tests.cli.conftest import call  # noqa: F401 - a fixture
from tests.written_project import write_files

SECRET = "q7hZx0LmVt9w"
OTHER = "Kd3uPr5BnYc8"
NAMES = ["DEPLOY_TOKEN", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "SIGNING_KEY", "db_pwd"]

# Each makes another text of a secret, which no masking of texts knows.
FORMS = {
    "reversed": "{{ env_var('NAME') | reverse }}",
    "spaced": "{{ env_var('NAME') | list | join('-') }}",
    "upper": "{{ env_var('NAME') | upper | replace('A', 'A.') }}",
    "computed": "{{ env_var('EMAN' | reverse) | reverse }}",
    "builtins": "{{ builtins.env_var('NAME') | reverse }}",
    "builtins[]": "{{ builtins['env_var']('NAME') | reverse }}",
    "alias": "{% set read = env_var %}{{ read('NAME') | reverse }}",
    "default": "{{ env_var('NAME', 'none') | reverse }}",
    "macro": "{{ leak() }}",
    "modules": "{{ modules.re.sub('(.)', '\\\\1_', env_var('NAME')) }}",
}
FILES = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
    "profiles.yml": ("shop: {outputs: {dev: {schema: dev, conf: {spark.my.password: \"{{ env_var('NAME') }}\"}}}}\n"),
    "macros/leak.sql": "{% macro leak() %}{{ env_var('NAME') | reverse }}{% endmacro %}",
    "models/m.sql": (
        "{{ config(materialized='view', tags=[TEXT]) }}\n"
        "{{ log('said ' ~ TEXT, info=true) }}{{ print('said ' ~ TEXT) }}{{ exceptions.warn('said ' ~ TEXT) }}\n"
        "SELECT '{{ TEXT }}' AS a, 1 AS b\n"
    ),
    "models/m.yml": (
        "models: [{name: m, description: \"{{ env_var('NAME') | reverse }}\", "
        "meta: {it: \"{{ env_var('NAME') | reverse }}\"}}]\n"
    ),
}
COMMANDS = {
    "lint": ["lint", "--no-cache", "-v"],
    "lint json": ["lint", "--format", "json"],
    "ls": ["ls", "--output", "json"],
    "parse": ["parse"],
    "compile": ["compile", "-s", "m"],
    "docs": ["docs", "generate"],
    "docs --static": ["docs", "generate", "--static"],
    "lineage": ["lineage", "m"],
    "explain": ["explain"],
    "explain json": ["explain", "--output", "json"],
}


def transformed(secret):
    """What the forms make of a secret, as it may be shown."""
    yield from (secret, secret[::-1], "-".join(secret), secret.upper(), secret.lower(), "_".join(secret))


def project(root, name, form="{{ env_var('NAME') | reverse }}"):
    """Write a project whose files show a variable wherever a template can write."""
    text = form.replace("{% set read = env_var %}", "").replace("{{", "").replace("}}", "").strip()
    set_first = "{% set read = env_var %}" if "{% set" in form else ""
    files = {
        path: content.replace("{{ TEXT }}", "{{ " + text + " }}")
        .replace("TEXT", f"({text})")
        .replace("EMAN", name[::-1])
        .replace("NAME", name)
        for path, content in FILES.items()
    }
    files["models/m.sql"] = set_first + files["models/m.sql"]
    return write_files(root, files)


def everything(root, *results):
    """All that was written and said."""
    files = (path.read_bytes() for path in root.rglob("*") if path.is_file())
    return b"\n".join([*files, *(f"{each.stdout}\n{each.stderr}".encode() for each in results)]).decode(
        "utf-8", "replace"
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_no_template_gets_a_secret_where_nothing_runs(tmp_path, call, command):  # noqa: F811
    root = project(tmp_path / "p", "DEPLOY_TOKEN")
    done = call(*COMMANDS[command], cwd=root, env={"DEPLOY_TOKEN": SECRET})
    assert done.returncode == 0, done.stderr
    shown = everything(root, done)
    assert not [form for form in transformed(SECRET) if form in shown]
    assert "DEPLOY_TOKEN" in done.stderr, "a note names it"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["DEPLOY_TOKEN", "db_pwd"])
def test_no_form_of_a_secret_comes_through(tmp_path, call, form, name):  # noqa: F811
    root = project(tmp_path / "p", name, FORMS[form])
    done = call("compile", "-s", "m", cwd=root, env={name: SECRET})
    assert done.returncode == 0, done.stderr
    shown = everything(root, done)
    assert not [each for each in transformed(SECRET) if each in shown]
    assert f'"{name}" is withheld' in done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_secrets_of_every_kind_of_name(tmp_path, name):
    root = project(tmp_path, name)
    text = Project.load(root, env={name: SECRET}, secrets=False, target_path=str(tmp_path / "t")).compile()
    assert "terces_dlehhtiw" in text["model.shop.m"]


@pytest.mark.parametrize("url", [f"jdbc:x://me:{SECRET}@host/db", f"https://h/x?sig={SECRET}"])
def test_a_secret_in_a_url_is_withheld_by_its_value(tmp_path, url):
    root = project(tmp_path, "DATABASE_PLACE")
    text = Project.load(root, env={"DATABASE_PLACE": url}, secrets=False).compile()
    assert SECRET[::-1] not in text["model.shop.m"]


def test_what_is_said_does_not_depend_on_the_secret(tmp_path, call):  # noqa: F811
    root = project(tmp_path / "p", "DEPLOY_TOKEN")
    said = [
        call("lint", "-v", cwd=root, env={**({"DEPLOY_TOKEN": value} if value else {})})
        for value in (SECRET, OTHER, None, SECRET)
    ]
    assert said == [said[0]] * 4
    listed = [call("ls", "--output", "json", cwd=root, env={"DEPLOY_TOKEN": value}) for value in (SECRET, OTHER)]
    assert listed[0] == listed[1]


@pytest.mark.parametrize(
    ("use", "shown"),
    [
        ("{{ env_var('DB_PASSWORD') | int }}", "0"),
        ("{{ env_var('DB_PASSWORD') }}.t", "withheld_secret.t"),
        ("{{ env_var('DB_PASSWORD', 'none') }}", "none"),
        ("{{ env_var('DB_PASSWORD', '7') | int }}", "7"),
        ("{% if env_var('DB_PASSWORD', '') %}1{% else %}2{% endif %}", "2"),
    ],
)
def test_a_project_without_its_secrets_is_whole(tmp_path, use, shown):
    """An honest project needs no secret in CI: one without a default is a valid name, one with it has it."""
    root = write_files(tmp_path, {**FILES, "models/m.sql": f"SELECT 1 AS a -- {use}\n", "models/m.yml": ""})
    root = project(root, "DB_PASSWORD") and root
    (root / "models/m.sql").write_text(f"SELECT 1 AS a -- {use}\n")
    for env in ({}, {"DB_PASSWORD": SECRET}):
        text = Project.load(root, env=env, secrets=False).compile()["model.shop.m"]
        assert text == f"SELECT 1 AS a -- {shown}\n"


def test_a_profile_gets_a_placeholder(tmp_path, call):  # noqa: F811
    output = "{schema: \"s_{{ env_var('SCHEMA_TOKEN') }}\", conf: {spark.a.password: \"{{ env_var('DB_PASSWORD') }}\"}}"
    root = write_files(
        tmp_path / "p",
        {
            **FILES,
            "profiles.yml": f"shop: {{outputs: {{dev: {output}}}}}\n",
            "models/m.sql": "SELECT 1 AS a",
            "models/m.yml": "",
        },
    )
    (root / "macros/leak.sql").unlink()
    done = call("parse", cwd=root, env={"SCHEMA_TOKEN": SECRET, "DB_PASSWORD": SECRET})
    manifest = json.loads((root / "target/manifest.json").read_text())
    assert manifest["nodes"]["model.shop.m"]["schema"] == "s_withheld_secret"
    assert "profiles.yml" in done.stderr
    assert "SCHEMA_TOKEN" in done.stderr
    assert "DB_PASSWORD" not in done.stderr, "no name and no text depends on it"


def test_the_editor_and_lint_from_python_get_none(tmp_path):
    root = project(tmp_path, "DEPLOY_TOKEN")
    documents = OpenDocuments({"DEPLOY_TOKEN": SECRET, "HOME": str(tmp_path)})
    file = root / "models/m.sql"
    documents.look(file, {file: file.read_text()})
    found, _ = documents.locate(file)
    text = found.project.prepared.compiler.render("model.shop.m").text
    assert SECRET[::-1] not in text
    report = lint_paths(root, env={"DEPLOY_TOKEN": SECRET, "HOME": str(tmp_path)})
    assert SECRET[::-1] not in repr(report)


def test_what_runs_gets_the_value(tmp_path):
    root = project(tmp_path, "DEPLOY_TOKEN")
    assert SECRET[::-1] in Project.load(root, env={"DEPLOY_TOKEN": SECRET}).compile()["model.shop.m"]


ALLOWED = [
    ("REGION", "REGION", "eu"),
    ("A,REGION B", "REGION", "eu"),
    ("REG*", "REGION", "eu"),
    ("*", "REGION", "eu"),
    ("", "REGION", None),
    ("REGIO", "REGION", None),
    ("region", "REGION", None),
    ("OTHER", "REGION", None),
    ("*ION", "REGION", None),
]


@pytest.mark.parametrize(("allow", "name", "value"), ALLOWED)
@pytest.mark.parametrize("secrets", [False, True])
def test_a_list_from_outside_restricts_what_templates_read(allow, name, value, secrets):
    env = {"MERGE_RUNNER_ENV_ALLOW": allow, name: "eu", "DEPLOY_TOKEN": SECRET}
    given = RecordingEnv(env, secrets=secrets)
    assert (given[name] if value else given[name] != "eu") == (value or True)
    assert given["DEPLOY_TOKEN"] == (SECRET if secrets and allow == "*" else given.for_templates["DEPLOY_TOKEN"])


def test_a_variable_that_is_not_allowed_is_not_set(tmp_path, call):  # noqa: F811
    root = project(tmp_path / "p", "REGION")
    env = {"REGION": SECRET, "MERGE_RUNNER_ENV_ALLOW": "OTHER"}
    done = call("compile", cwd=root, env=env)
    assert done.returncode == 2
    assert "MERGE_RUNNER_ENV_ALLOW" in done.stderr
    (root / "profiles.yml").write_text("shop: {outputs: {dev: {schema: dev}}}\n")
    (root / "models/m.yml").unlink()
    (root / "models/m.sql").write_text("SELECT '{{ env_var('REGION', 'none') }}' AS a\n")
    done = call("compile", "-s", "m", cwd=root, env=env)
    assert (done.returncode, done.stdout) == (0, "SELECT 'none' AS a\n\n")
    assert 'm.sql:1:12: note: the environment variable "REGION" counts as not set' in done.stderr
    with pytest.raises(ProblemsError, match="REGION"):
        (root / "models/m.sql").write_text("SELECT '{{ env_var('REGION') }}' AS a\n")
        Project.load(root, env=env).compile()


def test_a_list_does_not_hide_where_profiles_are(tmp_path, call):  # noqa: F811
    root = write_files(tmp_path / "p", {"pyproject.toml": FILES["pyproject.toml"], "models/m.sql": "SELECT 1 AS a"})
    write_files(tmp_path / ".merge-runner", {"profiles.yml": "shop: {outputs: {dev: {schema: dev}}}\n"})
    done = call("ls", cwd=root, env={"MERGE_RUNNER_ENV_ALLOW": ""})
    assert (done.returncode, done.stdout) == (0, "m\n")


@pytest.fixture
def host():
    """Return a server that a project names, and the requests that it has got."""
    requests = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append((self.path, dict(self.headers)))
            self.send_error(404)

        do_POST = do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_):
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", requests
    server.shutdown()
    server.server_close()


CATALOGS = {
    "token": "{type: rest, uri: 'URL', token: \"{{ env_var('DEPLOY_TOKEN') }}\"}",
    "credential": "{type: rest, uri: 'URL', credential: \"{{ env_var('DEPLOY_TOKEN') }}\", oauth2-server-uri: 'URL/t'}",
    "path": "{type: rest, uri: \"URL/{{ env_var('DEPLOY_TOKEN') }}\"}",
}


@pytest.mark.parametrize("catalog", CATALOGS)
@pytest.mark.parametrize("command", ["lint", "ls", "parse", "compile", "docs", "docs --static", "lineage"])
def test_the_catalog_that_a_profile_names_is_not_asked(tmp_path, call, host, catalog, command):  # noqa: F811
    url, requests = host
    profile = f"shop: {{outputs: {{dev: {{schema: lake.dev, catalogs: {{lake: {CATALOGS[catalog]}}}}}}}}}\n"
    merge = "MERGE INTO {{ this }} t USING (SELECT 1 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *\n"
    files = {
        "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.models]\nformat = "iceberg"\n',
        "profiles.yml": profile.replace("URL", url),
        "models/m.sql": merge,
    }
    root = write_files(tmp_path / "p", files)
    done = call(*COMMANDS[command], cwd=root, env={"DEPLOY_TOKEN": SECRET})
    assert done.returncode in (0, 1), done.stderr
    assert requests == []


def test_the_state_of_inputs_is_asked_for_without_the_secret(tmp_path, call, host):  # noqa: F811
    url, requests = host
    output = f"{{schema: lake.dev, catalogs: {{lake: {CATALOGS['token'].replace('URL', url)}}}}}"
    root = write_files(
        tmp_path / "p",
        {
            "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
            "profiles.yml": f"shop: {{outputs: {{dev: {output}}}}}\n",
            "models/s.yml": "sources: [{name: raw, schema: lake.raw, tables: [{name: t, format: iceberg}]}]\n",
            "models/m.sql": "{{ config(materialized='table') }} SELECT * FROM {{ source('raw', 't') }}\n",
        },
    )
    for command in (["explain"], ["ls", "-s", "state:inputs"]):
        done = call(*command, cwd=root, env={"DEPLOY_TOKEN": SECRET})
        assert SECRET not in repr((done, requests))
