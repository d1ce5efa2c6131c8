"""Every byte that commands write is searched for the secrets that a project uses wherever it can."""

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from urllib.parse import quote

import pytest

from merge_runner.template.literal import literal

SECRETS = {
    "APP_TOKEN": "tok_4f9a77b1c2",
    "SALT_SECRET": 'it\'s a "salt" of é & <19> letters/+=',
    "CATALOG_PASSWORD": "pw-catalog-8812",
    "DATA_KEY": "key0815sig",
    "HOOK_PASSWORD": "hook-pass-5521",
    "WORD_SECRET": "xq7",
    "NEVER_ASKED_TOKEN": "unasked-991827",
}
LITERAL = "literal-conf-secret-3316"
PACKED = re.compile(rb"H4sI[A-Za-z0-9+/]{20,}={0,2}")
"""Gzipped JSON in base64, as pages have their data."""
FORMS = {
    form.encode(): name
    for name, value in {**SECRETS, "a conf": LITERAL}.items()
    for form in (
        *(value, json.dumps(value)[1:-1], literal(value)[1:-1], quote(value), quote(value, safe="")),
        base64.b64encode(value.encode()).decode().rstrip("="),
    )
}
FILES = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\nvars = {broken = false}\n',
    "profiles.yml": """
        shop:
          outputs:
            dev:
              master: local[2]
              schema: sold
              conf:
                spark.local.dir: scratch
                my.app.token: "{{ env_var('APP_TOKEN') }}"
                spark.hadoop.fs.s3a.secret.key: "LITERAL"
                my.url: "https://me:{{ env_var('CATALOG_PASSWORD') }}@host/x"
              catalogs:
                lake: {type: hadoop, warehouse: lake, token: "{{ env_var('CATALOG_PASSWORD') }}"}
    """.replace("LITERAL", LITERAL),
    "models/s.yml": """
        sources:
          - name: raw
            tables:
              - {name: r, path: "data/{{ env_var('DATA_KEY') }}/r.csv", format: csv, options: {header: true},
                 columns: [{name: id, data_type: int}, {name: n, data_type: string}]}
              - {name: gone, path: "data/{{ env_var('DATA_KEY') }}/gone", format: csv, options: {header: true}, columns: [{name: id, data_type: int}]}
              - {name: landing, path: landing, format: json, stream: true, columns: [{name: id, data_type: int}]}
        models:
          - name: stg
            description: "made with {{ env_var('APP_TOKEN') }}"
    """,
    "models/stg.sql": "{{ config(materialized='view') }} select id, n from {{ source('raw', 'r') }}",
    "models/fct.sql": """
        {{ config(pre_hook="set my.password = {{ env_var('HOOK_PASSWORD') }}", meta={'owner': env_var('APP_TOKEN')}) }}
        {{ log('the salt is ' ~ env_var('SALT_SECRET'), info=true) }}
        merge into {{ this }} as t
        using (select id, sha2(concat(n, {{ env_var('SALT_SECRET') | literal }}), 256) as n from {{ ref('stg') }}
               where n <> '{{ env_var('WORD_SECRET') }}') as s
        on t.id = s.id
        when matched and s.n <> t.n then update set *
        when not matched then insert *
    """,
    # What fails says what it could not do, with the value in the message.
    "models/no_cast.sql": """
        {{ config(materialized='table') }}
        select cast(concat(n, '{{ env_var('APP_TOKEN') }}') as int) as x from {{ ref('stg') }}
    """,
    "models/raises.sql": """
        {{ config(materialized='table') }}
        select raise_error(concat(n, '-', {{ env_var('SALT_SECRET') | literal }})) as x from {{ ref('stg') }}
    """,
    "models/no_column.sql": "{{ config(materialized='table') }} select `{{ env_var('APP_TOKEN') }}` from {{ ref('stg') }}",
    "models/no_syntax.sql": "{{ config(materialized='table') }} select 1 '{{ env_var('APP_TOKEN') }}' 2 from 3 4",
    "models/no_file.sql": "{{ config(materialized='table') }} select * from {{ source('raw', 'gone') }}",
    "models/no_hook.sql": """
        {{ config(materialized='table', post_hook="select raise_error('{{ env_var('HOOK_PASSWORD') }}')") }} select 1 as x
    """,
    "models/no_conf.sql": """
        {{ config(materialized='table', conf={'spark.sql.shuffle.partitions': env_var('APP_TOKEN')}) }} select 1 as x
    """,
    "models/of_var.sql": "{{ config(materialized='table') }} select cast('{{ var('api_token', 'x1') }}' as int) as x",
    "models/streamed.sql": """
        merge into {{ this }} as t
        using (select id from {{ source('raw', 'landing') }} where id < cast('{{ env_var('APP_TOKEN') }}' as int)) as s
        on t.id = s.id when not matched then insert *
    """,
    "models/broken.sql": """
        {% if var('broken') %}{{ exceptions.raise_compiler_error('no ' ~ env_var('SALT_SECRET')) }}{% endif %}
        {{ config(materialized='table') }} select 1 as x
    """,
    "tests/told.sql": "select id, n from {{ ref('fct') }} where n <> '{{ env_var('APP_TOKEN') }}' and cast(n as int) = 1",
}


class Shop:
    """A project, what one calls in it, and what it says."""

    def __init__(self, root, home):
        self.root, self.home = root, home
        cache = os.environ.get("MERGE_RUNNER_CACHE_DIR") or str(root.home() / ".cache/merge-runner")
        folders = {
            "HOME": str(home),
            "TMPDIR": str(home),
            "XDG_RUNTIME_DIR": str(home),
            "MERGE_RUNNER_CACHE_DIR": cache,
        }
        self.env = {**os.environ, "MERGE_RUNNER_WARM": "1", **folders, **SECRETS}
        self.told = b""
        self.unpacked = 0

    def call(self, *words, status=0):
        command = [sys.executable, "-m", "merge_runner", *words]
        done = subprocess.run(command, cwd=self.root, env=self.env, capture_output=True, check=False)
        assert done.returncode == status, (words, done.stdout.decode()[-2000:], done.stderr.decode()[-4000:])
        self.told += done.stdout + done.stderr
        self.search(done.stdout, f"stdout of {words}")
        self.search(done.stderr, f"stderr of {words}")
        for folder in (self.root, self.home):
            for file in folder.rglob("*"):
                if file.is_file() and file.name != "profiles.yml":  # where the literal stands
                    self.search(file.read_bytes(), f"{file.relative_to(folder)} after {words}")
        return done

    def search(self, content, where):
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        for chunk in PACKED.findall(content):
            self.unpacked += 1
            self.search(base64.b64decode(chunk), f"{where}, unpacked")
        content = PACKED.sub(b"", content)  # any three letters are in it somewhere
        for form, name in FORMS.items():
            at = content.find(form)
            assert at < 0, f"{name} stands in {where}: …{content[max(0, at - 200) : at + 200]!r}…"


@pytest.fixture
def shop(make_project):
    root = make_project(
        {**FILES, f"data/{SECRETS['DATA_KEY']}/r.csv": "id,n\n1,a\n2,b\n", "landing/1.json": '{"id": 1}'}
    )
    (root / "data" / SECRETS["DATA_KEY"] / "gone").mkdir()
    (root / "data" / SECRETS["DATA_KEY"] / "gone" / "x.json").write_text("{}")
    home = tempfile.mkdtemp(prefix="mr")  # short, for a socket
    shop = Shop(root, root.__class__(home))
    yield shop
    subprocess.run([sys.executable, "-m", "merge_runner", "warm", "stop"], cwd=root, env=shop.env, check=False)
    shutil.rmtree(home)


@pytest.mark.slow
def test_no_secret_is_written_anywhere(shop):
    shop.call("compile")
    shop.call("compile", "-s", "fct")
    shop.call("ls", "--output", "json")
    shop.call("lint", "--format", "json")
    shop.call("lint", "--format", "sarif", "--verbose")
    shop.call("compile", "--vars", "{broken: true}", status=2)
    shop.call("warm", "start")
    shop.call("debug", "--spark", "-d")
    shutil.rmtree(shop.root / "data" / SECRETS["DATA_KEY"] / "gone")
    failed = ["no_cast", "raises", "no_column", "no_syntax", "no_file", "no_hook", "no_conf", "of_var", "told"]
    token = f"{{api_token: {SECRETS['APP_TOKEN']}}}"
    shop.call("build", "--no-lint", "-d", "--vars", token, status=1)
    statuses = {
        each["unique_id"].split(".")[2]: each["status"]
        for each in json.loads((shop.root / "target/run_results.json").read_text())["results"]
    }
    assert sorted(name for name, status in statuses.items() if status == "error") == sorted(failed)
    assert statuses["fct"] == "success"
    compiled = (shop.root / "target/compiled/shop/models/fct.sql").read_text()
    assert "concat(n, '*****')" in compiled
    assert "n <> '*****'" in compiled
    assert "*****" in (shop.root / "target/logs/warm.log").read_text()
    shop.call("retry", status=2)
    shop.call("retry", "--vars", token, "--log-format", "json", "-d", status=1)
    shop.call("explain", "--spark", status=1)
    shop.call("explain", "--spark", "--output", "json", status=1)
    shop.call("stream", "--available-now", "-d", "--log-format", "json", status=1)
    shop.call("ls", "-s", "state:modified", "--state", "target")
    assert shop.call("warm", "stop").stdout == b"the warm driver has ended\n"
    assert b"the salt is *****" in shop.told
    assert shop.unpacked, "the page of the run has its data in another form"
    for name in ("NEVER_ASKED_TOKEN",):
        assert SECRETS[name].encode() not in shop.told


@pytest.mark.parametrize(
    ("model", "what"),
    [
        ("{{ config(materialized='view') }} select '{{ env_var('APP_TOKEN') }}' as x", "the query of a view"),
        ("merge into {{ this }} as t using (select 1 as id) as s on t.id = s.id and t.k = '{{ env_var('APP_TOKEN') }}' "
         "when not matched then insert *", "the ON of a MERGE"),
        ("merge into {{ this }} as t using (select 1 as id) as s on t.id = s.id "
         "when matched and s.k = '{{ env_var('APP_TOKEN') }}' then delete", "the condition of a WHEN clause"),
        ("{{ config(materialized='table', properties={'p': env_var('APP_TOKEN')}) }} select 1 as x",
         "the definition of a table"),
    ],
)  # fmt: skip
def test_no_table_keeps_a_secret(make_project, capsys, model, what):
    from merge_runner import Project
    from merge_runner.errors import ProblemsError
    from merge_runner.run.compile import compile_nodes

    project = Project.load(make_project({"models/m.sql": model}), env=SECRETS)
    with pytest.raises(ProblemsError) as caught:
        compile_nodes(project.prepared, ["model.shop.m"], "i")
    (problem,) = caught.value.problems
    assert (problem.code, problem.message) == ("secret-is-kept", f"{what} holds a secret, and is stored with it")
    assert SECRETS["APP_TOKEN"] not in str(problem)


def test_a_name_of_the_project_is_no_secret(make_project):
    from merge_runner import Project
    from merge_runner.run.compile import compile_nodes

    model = "select '{{ env_var('SHOP_PASSWORD') }} {{ env_var('M_TOKEN') }} {{ env_var('MY_KEY') }}' as x"
    env = {"SHOP_PASSWORD": "shop", "M_TOKEN": "a_long_name", "MY_KEY": "unrelated"}
    text = f"{{{{ config(materialized='table') }}}} {model}"
    project = Project.load(make_project({"models/a_long_name_1.sql": text}), env=env)
    (compiled,) = compile_nodes(project.prepared, project.graph.nodes, "i").values()
    assert compiled.strip() == "select 'shop a_long_name *****' as x"
    assert (
        "model.shop.a_long_name_1" in json.loads((project.prepared.target_path / "manifest.json").read_text())["nodes"]
    )


def test_another_secret_is_no_change(make_project):
    from merge_runner import Project
    from merge_runner.run.results.artifacts import write_manifest

    root = make_project({"models/m.sql": "{{ config(meta={'a': env_var('APP_TOKEN')}) }} select 1 as x"})
    write_manifest(Project.load(root, env=SECRETS).prepared, "i")
    again = Project.load(root, env={"APP_TOKEN": "another-one"})
    assert again.select("state:modified", state=root / "target").ids == ()
