"""`merge-runner lint` as its users call it: what the arguments mean, what is said where, and how it ends."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MODEL = """\
{{ config(partition_by=['dt']) }}
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id
when matched then delete
"""
PLAIN = "merge into t using s on t.id = s.id when matched then delete\n"
FILES = {
    "models/a.sql": MODEL,
    "models/sub/b.sql": MODEL.replace("source('raw', 's')", "ref('v')").replace("t.id = s.id", "{{ joined() }}"),
    "models/v.sql": "{{ config(materialized='view') }}\nselect id, dt from {{ ref('z') }} where {{ all_rows() }}\n",
    "models/raw.yml": "version: 2\nsources: [{name: raw, tables: [{name: s}]}]\n",
    "models/sub/b.yml": "version: 2\nmodels: [{name: b}]\n",
    "macros/joined.sql": "{% macro joined() %}t.id = s.id and t.dt = s.dt{% endmacro %}\n",
    "macros/rows.sql": "{% macro all_rows() %}{{ one() }}{% endmacro %}\n",
    "macros/one.sql": "{% macro one() %}1 = 1{% endmacro %}\n",
    "tests/one.sql": "select * from {{ ref('b') }} where not ({{ joined() }})\n",
    "seeds/z.csv": "id,dt\n1,2013-01-01\n",
    "scripts/adhoc.sql": PLAIN,
    ".github/workflows/x.yml": "on: ${{ a.b }}\n",
    "README.md": "merge into\n",
}


@pytest.fixture
def root(make_project, monkeypatch):
    folder = make_project(FILES)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def lint(call):
    """`merge-runner lint` in the current folder: status, output, messages."""

    def run(*arguments, stdin=b""):
        ended = call("lint", *arguments, cwd=Path.cwd(), stdin=stdin)
        return ended.returncode, ended.stdout, ended.stderr

    return run


@pytest.fixture
def merges(lint):
    """The files of the merges that an invocation has looked at, without an error in it."""

    def run(*arguments, **more):
        status, out, err = lint("--format", "json", "--fail-on", "never", *arguments, **more)
        assert status == 0, err
        return [merge["path"] for merge in json.loads(out)["merges"]]

    return run


A, B, ADHOC = "models/a.sql", "models/sub/b.sql", "scripts/adhoc.sql"


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        ([], [A, B]),
        (["."], [A, B]),
        (["models"], [A, B]),
        ([A], [A]),
        (["models/sub", "models/sub/b.sql"], [B]),
        (["models/../models/a.sql"], [A]),
        # What a pre-commit hook is given: the models that depend on it.
        (["models/raw.yml"], [A]),
        (["models/sub/b.yml"], [B]),
        (["macros/joined.sql"], [B]),
        (["macros/one.sql"], [B]),
        (["seeds/z.csv"], [B]),
        (["pyproject.toml"], [A, B]),
        (["profiles.yml"], [A, B]),
        (["tests/one.sql"], []),
        (["tests", "macros", "seeds"], []),
        ([".github/workflows/x.yml", "README.md"], []),
        # Plain files, alone and beside models.
        (["scripts"], [ADHOC]),
        ([ADHOC], [ADHOC]),
        ([ADHOC, "tests/one.sql", A, ".github/workflows/x.yml", "models/sub/b.yml"], [A, B, ADHOC]),
    ],
)
def test_what_paths_mean_in_a_project(root, merges, paths, found):
    assert merges(*paths) == found
    assert merges(*(root / path for path in paths), "--project-dir", root) == found


def test_from_a_folder_of_the_project_and_from_outside(root, merges, monkeypatch):
    monkeypatch.chdir(root / "models/sub")
    assert merges() == [A, B]
    assert merges(".") == [B]
    assert merges("../a.sql") == [A]
    monkeypatch.chdir(root.parent)
    assert merges(f"{root.name}/models/a.sql", f"{root.name}/scripts") == [A, ADHOC]
    assert merges("--project-dir", root.name) == [A, B]


def test_links_are_files_of_the_project(root, merges):
    (root / "shared.sql").write_text(MODEL)
    (root / "models/linked.sql").symlink_to(root / "shared.sql")
    (root.parent / "link").symlink_to(root)
    assert merges("models/linked.sql") == ["models/linked.sql"]
    assert merges(root.parent / "link" / A, root / B) == [A, B]


@pytest.mark.parametrize("paths", [["nope.sql"], [A, "nope"], ["nope.yml", "scripts"], ["/nope"]])
def test_a_path_that_does_not_exist(root, lint, paths):
    status, out, err = lint(*paths)
    assert (status, out) == (2, "")
    assert "no file or folder" in err
    assert "[no-such-file]" in err


def test_paths_of_several_projects(root, lint, merges, make_project):
    other = make_project(FILES)
    status, out, err = lint(A, other / A)
    assert (status, out) == (2, "")
    assert "several projects" in err
    assert merges("--project-dir", ".", A, other / A) == [A]
    assert merges(other / A) == [A]


def test_options_about_models_need_a_project(lint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.sql").write_text(PLAIN)
    status, _, err = lint("x.sql", "-s", "a")
    assert status == 2
    assert "--select is about the models of a project" in err


def test_without_a_project_and_paths(lint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = lint()
    assert (status, out) == (2, "")
    assert "[no-project]" in err


def test_nothing_to_lint_is_said(root, lint):
    assert lint("README.md")[::2] == (0, "there was nothing to lint\n")
    assert lint("README.md", "-q")[2] == ""


def test_selection(root, merges):
    assert merges("-s", "b") == [B]
    assert merges("--exclude", "b") == [A]
    assert merges("models/sub", "-s", "a") == []


@pytest.fixture
def git(root):
    def run(*arguments):
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)

    run("init", "-q")
    run("add", "-A")
    run("commit", "-qm", "x")
    return run


@pytest.mark.parametrize(
    ("file", "found"),
    [(A, [A]), ("models/v.sql", [B]), ("models/raw.yml", [A]), ("macros/one.sql", [B]), ("README.md", [])],
)
def test_changed(root, merges, git, file, found):
    assert merges("--changed") == []
    (root / file).write_text((root / file).read_text() + "\n")
    assert merges("--changed") == found
    git("commit", "-qam", "y")
    assert merges("--changed") == []
    assert merges("--changed", "HEAD~1") == found


def test_changed_plain_files(root, merges, git):
    assert merges("--changed", "HEAD", "scripts") == []
    (root / "scripts/new.sql").write_text(PLAIN)
    assert merges("--changed", "HEAD", "scripts", "models") == ["scripts/new.sql"]


def test_changed_without_git_or_since_no_commit(root, lint, request):
    assert "[no-git-repository]" in lint("--changed")[2]
    request.getfixturevalue("git")
    status, out, err = lint("--changed", "nope")
    assert (status, out) == (2, "")
    assert "[unknown-git-ref]" in err


def test_standard_input(root, merges, lint):
    bounded = MODEL.replace("t.id = s.id", "t.dt = date '2013-01-01'").encode()
    _, out, _ = lint("--format", "json", "--stdin-filename", A, stdin=b"\xef\xbb\xbf" + bounded)
    assert [merge["verdict"] for merge in json.loads(out)["merges"]] == ["static"]
    assert merges("--stdin-filename", "scripts/new.sql", stdin=PLAIN.encode()) == ["scripts/new.sql"]
    new = MODEL.replace("t.id = s.id", "{{ joined() }}").encode()
    assert merges("--stdin-filename", "models/new.sql", stdin=new) == ["models/new.sql"]
    assert (root / A).read_text() == MODEL


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--unsafe-fixes"], "--unsafe-fixes needs --fix"),
        (["--stdin-filename", A, B], "leave out PATHS and --fix"),
        (["--stdin-filename", A, "--fix"], "leave out PATHS and --fix"),
        (["--write-baseline", A], "would write models/a.sql"),
        (["--write-baseline", "b.json", "-s", "a"], "leave out --select"),
        (["--write-baseline", "b.json", A], "leave out PATHS"),
        (["--format", "xml"], "Invalid value for '--format'"),
        (["--fail-on", "fatal"], "Invalid value for '--fail-on'"),
        (["--rules", "P001,Q"], 'there is no rule "Q"'),
        (["--ignore", "unbound-target"], 'did you mean "unbounded-target"?'),
        (["--layout", "nope.yml"], "nope.yml:1:1: error: cannot be read"),
        (["--baseline", "nope.json"], "there is no baseline"),
    ],
)
def test_wrong_arguments(root, lint, arguments, told):
    status, out, err = lint(*arguments)
    assert (status, out) == (2, "")
    assert told in err
    assert (root / A).read_text() == MODEL


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ([], 1),
        (["--fail-on", "error"], 1),
        (["--fail-on", "never"], 0),
        (["models/sub"], 0),
        (["--rules", "K002"], 0),
        (["--rules", "C003", "--fail-on", "warning", "scripts"], 0),
        (["--ignore", "P,K"], 0),
        (["--warn-error", "--fail-on", "never"], 0),
    ],
)
def test_how_it_ends(root, lint, arguments, status):
    assert lint(*arguments)[0] == status


def test_warnings_count_when_they_are_to(root, lint):
    (root / A).write_text(MODEL.replace("then delete", "then update set name = s.name"))
    warnings = ["--rules", "C003"]
    assert [lint(*warnings)[0], lint(*warnings, "--warn-error")[0]] == [0, 1]
    assert [lint(*warnings, "--fail-on", level)[0] for level in ("error", "warning", "info")] == [0, 1, 1]


def test_problems_of_a_project_end_it_all_told(root, lint):
    (root / "models/x.yml").write_text("version: [\n")
    (root / "models/y.yml").write_text("models: [{nam: x}]\n")
    status, out, err = lint()
    assert (status, out) == (2, "")
    assert "models/x.yml:" in err
    assert "models/y.yml:" in err


@pytest.mark.parametrize(
    ("profiles", "status", "told"),
    [
        (None, 1, ""),
        ("shop: {outputs: {dev: {schema: \"{{ env_var('NOT_SET') }}\"}}}", 2, "[missing-env-var]"),
        ("other: {outputs: {dev: {schema: x}}}", 2, "[unknown-profile]"),
    ],
)
def test_profiles(root, lint, profiles, status, told):
    (root / "profiles.yml").unlink()
    if profiles:
        (root / "profiles.yml").write_text(profiles)
    found = lint()
    assert found[0] == status
    assert told in found[2]


def test_jinja_that_cannot_be_read_is_a_finding_where_it_is_meant(root, lint):
    (root / "models/bad.sql").write_text("{{ nothing }}")
    for paths in ([], ["models/bad.sql"], ["models"], ["models/raw.yml"]):
        status, out, _ = lint("--format", "concise", *paths)
        assert status == 1
        assert "models/bad.sql:1:4: J001 error" in out
    assert "J001" not in lint("--format", "concise", "models/sub")[1]


def test_a_circle_of_models_ends_it(root, lint):
    (root / "models/v.sql").write_text("select * from {{ ref('b') }}")
    status, out, err = lint()
    assert (status, out) == (2, "")
    assert "b -> v -> b" in err


def test_a_report_in_a_file(root, lint):
    status, out, err = lint("--format", "json", "-o", "deep/er/report.json")
    assert (status, out) == (1, "")
    assert "1 runtime, 1 none" in err
    assert err.endswith("written to deep/er/report.json\n")
    assert json.loads((root / "deep/er/report.json").read_text())["version"] == 1
    assert [file.name for file in (root / "deep/er").iterdir()] == ["report.json"]
    assert lint("-o", "deep/er/report.json", "-q")[1:] == ("", "")


def test_a_report_that_cannot_be_written(root, lint):
    status, out, err = lint("-o", "README.md/report")
    assert (status, out) == (2, "")
    assert "README.md" in err


def test_a_report_into_a_device_leaves_it_one(root, lint):
    assert lint("-o", "/dev/null")[0] == 1
    assert not Path("/dev/null").is_file()


def test_a_baseline_is_written_and_read(root, lint):
    status, out, err = lint("--write-baseline")
    assert (status, out) == (0, "")
    assert err == f"1 finding written to {root / 'lint-baseline.json'}\n"
    status, out, err = lint("--format", "concise")
    assert (status, err) == (0, "")
    assert "1 hidden by the baseline" in out
    (root / A).write_text(MODEL.replace("t.id = s.id", "t.dt = date '2013-01-01' and t.id = s.id"))
    status, _, err = lint("--ignore", "C")
    assert (status, err) == (0, "1 entry of the baseline matched nothing: --write-baseline rewrites it\n")
    assert "entries" not in lint("--ignore", "C", "-q")[2]
    assert "matched nothing" in lint("--ignore", "C", "-o", "report")[2]


def test_another_baseline_must_be_named(root, lint):
    assert "--baseline reads it" in lint("--write-baseline", "old.json")[2]
    assert lint()[0] == 1
    assert lint("--baseline", "old.json")[0] == 0
    (root / "old.json").write_text("{}")
    status, out, err = lint("--baseline", "old.json")
    assert (status, out) == (2, "")
    assert "[bad-baseline]" in err


UNUSED = "merge into t using s on t.dt = date '2013-01-01' and t.id = s.id -- noqa: C004\nwhen matched then delete\n"


@pytest.mark.parametrize("path", ["scripts/adhoc.sql", "models/a.sql"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_fixes_leave_the_rest_of_a_file(root, lint, path, mark, newline):
    text = (
        UNUSED
        if path.startswith("scripts")
        else UNUSED.replace("into t", "into {{ this }} as t").replace("using s", "using {{ source('raw', 's') }} as s")
    )
    before = (mark + text.replace("\n", newline)).encode() + b"-- the last line\n"
    (root / path).write_bytes(before)
    (root / path).chmod(0o640)
    status, out, err = lint("--fix", path, "--format", "concise")
    assert (status, err) == (0, f"{path}: 1 fix applied\n")
    assert "S001" not in out
    assert (root / path).read_bytes() == before.replace(b" -- noqa: C004", b"")
    assert (root / path).stat().st_mode & 0o777 == 0o640


def test_a_fix_of_a_link_stays_behind_it(root, lint):
    (root / "real.sql").write_text(UNUSED)
    (root / "scripts/link.sql").symlink_to(root / "real.sql")
    lint("--fix", "scripts/link.sql")
    assert (root / "scripts/link.sql").is_symlink()
    assert "noqa" not in (root / "real.sql").read_text()


def test_lines_that_end_with_a_carriage_return_alone_are_left(root, lint):
    content = UNUSED.replace("\n", "\r").encode()
    (root / "scripts/adhoc.sql").write_bytes(content)
    _, _, err = lint("--fix", "scripts/adhoc.sql")
    assert "not fixed" in err
    assert (root / "scripts/adhoc.sql").read_bytes() == content


def test_what_cannot_be_fixed_stays(root, lint):
    status, _, err = lint("--fix", A)
    assert (status, err) == (1, "")
    assert (root / A).read_text() == MODEL


def test_data_and_messages_have_streams_of_their_own(root, lint):
    status, out, err = lint("--format", "json", "--log-format", "json", "-s", "b nope")
    assert status == 0
    assert json.loads(out)["summary"]["merges"] == 1
    assert [json.loads(line)["code"] for line in err.splitlines()] == ["nothing-selected"]


@pytest.mark.parametrize(
    ("arguments", "env", "coloured"),
    [
        ([], {}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--no-use-colors"], {"FORCE_COLOR": "1"}, False),
        (["--format", "json"], {"FORCE_COLOR": "1"}, False),
        (["-o", "report"], {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colours(root, lint, monkeypatch, arguments, env, coloured):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    _, out, _ = lint(*arguments)
    written = (root / "report").read_text() if "-o" in arguments else out
    assert ("\x1b[" in written) is coloured


@pytest.mark.parametrize("end", ["head -n 1", "true"])
def test_a_reader_that_leaves(root, end, tmp_path):
    for number in range(60):
        (root / f"models/m{number}.sql").write_text(MODEL)
    ended = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -m merge_runner lint -v | {end}'],
        cwd=root,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert ended.stderr == ""


@pytest.mark.parametrize(("stream", "told"), [(">&-", ""), ("> /dev/full", "No space left")])
def test_an_output_that_is_none(root, stream, told, tmp_path):
    ended = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -m merge_runner lint {stream}'],
        cwd=root,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == (2 if told else 1)
    assert told in ended.stderr
    assert "internal" not in ended.stderr


def test_a_new_project_lints_clean(call, tmp_path):
    assert call("init", "demo").returncode == 0
    for arguments in ([], ["--no-cache"], ["."], ["models/fct_order.sql"]):
        done = call("lint", "--warn-error", *arguments, cwd=tmp_path / "demo")
        assert (done.returncode, done.stderr) == (0, "")
        assert "All clear: 1 merge" in done.stdout


def test_a_build_stops_at_an_error_of_lint(root, call):
    done = call("build", cwd=root)
    assert (done.returncode, done.stdout) == (1, "")
    assert "models/a.sql:4:7: error: the target is partitioned by `dt`" in done.stderr
    assert "nothing has run" in done.stderr
    assert not (root / "target/run_results.json").exists()
    help_ = " ".join(call("build", "--help").stdout.split())
    assert "--no-lint Do not lint first; errors of lint stop a build." in help_


@pytest.mark.parametrize(
    ("format_", "path"),
    [("github", "{}/models"), ("gitlab", "{}/models"), ("sarif", "{}/models"), ("concise", "models")],
)
def test_paths_for_a_ci_system_begin_at_the_repository(root, lint, format_, path):
    (root.parent / ".git").mkdir()
    for _made_or_kept in range(2):
        _, out, _ = lint("--format", format_)
        assert path.format(root.name) + "/a.sql" in out
        assert (f"{root.name}/models" in out) is ("{}" in path)


def test_a_dbt_user_needs_no_arguments(lint, merges, tmp_path, monkeypatch):
    (tmp_path / "target/run/shop").mkdir(parents=True)
    (tmp_path / "target/run/shop/orders.sql").write_text(PLAIN)
    (tmp_path / "dbt_project.yml").write_text("name: shop\n")
    monkeypatch.chdir(tmp_path)
    assert merges() == merges(".") == ["target/run/shop/orders.sql"]


@pytest.mark.parametrize("written", ["insert into {{ this }} select 1", "with a as (select 1) insert into t from a"])
@pytest.mark.parametrize("kind", ["view", "table", "ephemeral"])
def test_another_statement_is_refused_as_a_model_by_every_command(call, make_project, kind, written):
    config = f"{{{{ config(materialized='{kind}') }}}}\n"
    root = make_project({"models/m.sql": config + written, "models/q.sql": "select 1 as id"})
    column = written.index("insert") + 1
    for command, status in (("lint", 1), ("parse", 2), ("compile", 2)):
        done = call(command, cwd=root)
        assert done.returncode == status, command
        assert f"models/m.sql:2:{column}" in done.stdout + done.stderr, command
        assert "expected a query, found INSERT" in done.stdout + done.stderr, command


@pytest.mark.parametrize("kind", ["view", "table", "ephemeral"])
def test_a_folder_default_does_not_hide_a_merge(call, make_project, kind):
    merge = "merge into {{ this }} as t using src as s on t.id = s.id when matched then delete\n"
    settings = f'[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.models.staging]\nmaterialized = "{kind}"\n'
    root = make_project({"pyproject.toml": settings, "models/staging/stg.sql": "-- by hand\n" + merge})
    for command, status, word in (("lint", 1, "error[C010]"), ("parse", 2, "error:"), ("compile", 2, "error:")):
        done = call(command, cwd=root)
        assert done.returncode == status, command
        told = done.stdout + done.stderr
        assert f"models/staging/stg.sql:2:1{':' * (command != 'lint')} {word}" in told, command
        assert "{{ config(materialized='merge') }}" in told, command


@pytest.fixture
def settings_alone(tmp_path, monkeypatch):
    """A folder of SQL whose pyproject.toml has [tool.merge-runner.lint] and nothing else of ours."""
    (tmp_path / "sql/old").mkdir(parents=True)
    for name in ("sql/a.sql", "sql/old/b.sql"):
        (tmp_path / name).write_text(PLAIN)

    def write(lint):
        (tmp_path / "pyproject.toml").write_text(f"[project]\nname = 'x'\n[tool.merge-runner.lint]\n{lint}\n")

    write("")
    monkeypatch.chdir(tmp_path)
    return write


def test_settings_of_lint_need_no_project(lint, merges, settings_alone, monkeypatch, tmp_path):
    assert merges() == ["sql/a.sql", "sql/old/b.sql"]
    code, out, _ = lint("--format", "concise", "--rules", "P001")
    assert (code, out.count("[P001]") + out.count("P001 ")) == (0, 2), out
    settings_alone("select = ['P001']\nper-path-ignores = {'sql/old/**' = ['P001']}\nseverity = {P001 = 'warning'}")
    for folder in (tmp_path, tmp_path / "sql"):
        monkeypatch.chdir(folder)
        code, out, _ = lint("--format", "concise")
        assert (code, out.splitlines()[0].partition(": ")[0]) == (0, "sql/a.sql:1:25"), out
        assert "sql/old" not in out
    settings_alone("ignore = ['P99']")
    code, _, err = lint(".")
    assert (code, "pyproject.toml:4:11: error: there is no rule" in err) == (2, True)
    settings_alone("ignored = ['P001']")
    assert "pyproject.toml:4:1: error" in lint(".")[2]


def test_a_baseline_beside_the_settings_of_lint(lint, settings_alone, tmp_path):
    settings_alone("baseline = 'known.json'")
    assert lint("--write-baseline")[0] == 0
    assert (tmp_path / "known.json").is_file()
    assert lint()[0] == 0


def test_the_settings_of_lint_make_no_project(call, settings_alone, tmp_path):
    done = call("ls", cwd=tmp_path)
    assert done.returncode == 2
    assert "is a merge-runner project" in done.stderr


def test_nearer_settings_of_lint_win_over_a_project_above(lint, merges, root, monkeypatch):
    folder = root / "warehouse_jobs"
    folder.mkdir()
    (folder / "job.sql").write_text(PLAIN)
    (folder / "pyproject.toml").write_text("[tool.merge-runner.lint]\nignore = ['P001']\n")
    monkeypatch.chdir(folder)
    assert merges() == merges(".") == ["job.sql"]
    monkeypatch.chdir(root)
    assert merges("warehouse_jobs") == ["job.sql"]


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A dbt project that has run twice, with settings of lint alone."""
    folder = Path(__file__).parents[2] / "lint/dbt_shop"
    root = tmp_path / "shop"
    shutil.copytree(folder / "project", root)
    shutil.copytree(folder / "second", root / "target")
    (root / "pyproject.toml").write_text("[tool.merge-runner.lint]\nselect = ['C001', 'K002']\n")
    monkeypatch.chdir(root)
    return root


def test_a_dbt_project_is_linted_by_its_models(lint, shop, monkeypatch):
    found = ["models/marts/payments.sql:2:18: K002", "models/marts/schema.yml:8:11: C001"]

    def places(*arguments, stdin=b""):
        status, out, err = lint("--format", "concise", *arguments, stdin=stdin)
        assert not err
        assert (status, out.splitlines()[-1]) == (1 if "C001" in out else 0, out.splitlines()[-1])
        return [" ".join(line.split(" ")[:2]) for line in out.splitlines()[:-1]]

    for arguments in (
        [],
        ["."],
        ["models"],
        ["target/run"],
        ["--project-dir", shop],
        ["models/marts/schema.yml", "models/marts/payments.sql"],
    ):
        assert places(*arguments) == found, arguments
    assert places("models/marts/payments.sql") == found[:1]
    text = (shop / "models/marts/payments.sql").read_bytes()
    assert places("--stdin-filename", "models/marts/payments.sql", stdin=b"\n" + text) == [
        "models/marts/payments.sql:3:18: K002"
    ]
    (shop / "pyproject.toml").unlink()
    for folder in ("models", "models/marts"):
        monkeypatch.chdir(shop / folder)
        assert len(places("--rules", "C001,K002")) == 2


def test_a_baseline_of_a_dbt_project_is_about_its_models(lint, shop):
    assert lint("--write-baseline")[0] == 0
    assert '"models/marts/schema.yml"' in (shop / "lint-baseline.json").read_text()
    status, out, _ = lint()
    assert (status, "2 hidden by the baseline" in out) == (0, True)
    (shop / "models/marts/payments.sql").write_text("\n\n" + (shop / "models/marts/payments.sql").read_text())
    assert lint()[0] == 0


def test_a_model_that_dbt_has_not_seen_again_is_warned_of(lint, shop):
    file = shop / "models/marts/payments.sql"
    file.write_text(file.read_text().replace("2024", "2023"))
    _, _, err = lint("models/marts/payments.sql")
    assert "warning: changed since dbt wrote the manifest, and linted as they were: payments" in err
    assert "run `dbt parse`" in err
    assert lint("models/marts/orders.sql")[2] == ""
    assert lint("--warn-error", "models/marts/payments.sql")[0] != 0


def test_a_first_dbt_run_that_leaves_no_merge_ends_with_an_error(lint, shop):
    shutil.rmtree(shop / "target")
    shutil.copytree(Path(__file__).parents[2] / "lint/dbt_shop/first", shop / "target")
    manifest = shop / "target/manifest.json"
    manifest.write_text(manifest.read_text().replace('"adapter_type": "spark"', '"adapter_type": "databricks"'))
    status, out, _ = lint("--rules", "C010", "target/run")
    assert status == 1
    assert "the MERGE of 7 incremental models is not known yet, since dbt's first run creates the table" in out
    assert "run `dbt run` a second time" in out


CODE = '''spark.sql("""
  merge into t using (select distinct id from s) s on t.id = s.id
  when matched then delete
""")
'''


@pytest.fixture
def folder_of_code(tmp_path, monkeypatch):
    """A folder of code, without a project."""
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs/load.py").write_text(CODE)
    (tmp_path / "jobs/frames.py").write_text("left.merge(right)\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_code_is_linted_without_a_project(merges, folder_of_code):
    assert merges(".") == merges("jobs") == merges("jobs/load.py") == ["jobs/load.py"]


def test_code_of_a_project_is_linted_where_it_is_named(merges, root):
    (root / "jobs").mkdir()
    (root / "jobs/load.py").write_text(CODE)
    assert merges() == merges(".") == [A, B]
    assert merges("jobs", A) == ["jobs/load.py", A]


def test_settings_of_lint_are_those_of_code(lint, folder_of_code):
    (folder_of_code / "pyproject.toml").write_text("[tool.merge-runner.lint]\nignore = ['P001']\n")
    status, out, _ = lint("jobs", "--format", "json")
    assert (status, json.loads(out)["findings"]) == (0, [])
    assert json.loads(out)["summary"]["containers"] == {"python": 1}


def test_what_of_a_file_is_not_judged_is_said(lint, folder_of_code):
    (folder_of_code / "jobs/load.py").write_text(
        'TEXT = "merge into t using s on t.id = s.id when matched then delete"\n'
    )
    status, out, _ = lint("jobs/load.py")
    assert (status, "MERGE not judged at 1 place: jobs/load.py:1:8 (lint finds no `.sql(" in out) == (0, True), out
    assert lint("jobs/load.py", "--fail-on", "warning")[0] == 1
    status, out, _ = lint("jobs/frames.py")
    assert (status, out.strip()) == (0, "Nothing to prove: no merges in 1 file")


def test_a_notebook_that_is_none_has_no_traceback(lint, folder_of_code):
    (folder_of_code / "nb.ipynb").write_text('{"cells": [merge')
    status, out, err = lint("nb.ipynb")
    assert (status, "nb.ipynb:1:12 error[C010]" in out, err) == (1, True, ""), out


def test_fixes_of_code_remove_comments_and_write_no_sql(lint, folder_of_code):
    kept = "merge into t using s on t.id = s.id and t.dt >= '2024-01-01' when not matched by source then delete -- noqa: P004"
    (folder_of_code / "jobs/load.py").write_text(f'spark.sql("""{kept}\n""")\n')
    (folder_of_code / "nb.ipynb").write_text(json.dumps({"cells": [{"cell_type": "code", "source": f"%%sql\n{kept}"}]}))
    _, _, err = lint(".", "--fix", "--unsafe-fixes")
    assert "jobs/load.py: 1 fix left out, which would write SQL into a string of code" in err
    assert "nb.ipynb: not fixed, a notebook is fixed in its editor" in err
    assert (
        folder_of_code / "jobs/load.py"
    ).read_text() == f'spark.sql("""{kept.removesuffix(" -- noqa: P004")}\n""")\n'


def test_a_macro_means_the_seeds_whose_hooks_call_it(root, merges):
    written = {
        "macros/audit.sql": "{% macro audit() %}{{ audited() }}{% endmacro %}\n",
        "macros/audited.sql": f"{{% macro audited() %}}{PLAIN}{{% endmacro %}}\n",
        "seeds/z.yml": "version: 2\nseeds: [{name: z, config: {post_hook: '{{ audit() }}'}}]\n",
    }
    for path, text in written.items():
        (root / path).write_text(text, encoding="utf-8")
    for path in ("macros/audit.sql", "macros/audited.sql", "seeds/z.yml"):
        assert "seeds/z.yml" in merges(path)
    assert merges("macros/joined.sql") == [B]
