"""A report from the cache is the one that would be made again, after any change of anything; byte for byte."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from merge_runner.api import lint_paths
from merge_runner.cache_folder import VARIABLE, project_store
from merge_runner.cli.main import main
from merge_runner.lint.request import LintRequest
from merge_runner.lint.run import report_cache
from merge_runner.project.load.state import FILES_OF_ALL
from merge_runner.project.schema.layout_file import RECORDED

FILES = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
    "models/a.sql": """\
{{ config(partition_by=['dt']) }}
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.region = '{{ env_var("REGION", "EMEA") }}'
when matched then update set name = s.name
when not matched then insert *
""",
    "models/sub/b.sql": """\
{{ config(partition_by=['dt']) }}
merge into {{ this }} as t
using (select * from {{ ref('v') }}) as s
   on t.id = s.id and {{ joined() }} and t.region = {{ var('region', 'x') | literal }}
when matched then update set *
""",
    "models/v.sql": "{{ config(materialized='view') }}\nselect id, dt from {{ ref('z') }}\n",
    "models/s.yml": """\
version: 2
sources: [{name: raw, tables: [{name: s, columns: [{name: id, data_type: bigint}]}]}]
models:
  - name: a
    columns: [{name: id, data_type: bigint}, {name: dt, data_type: date}, {name: region, data_type: string}]
""",
    "macros/m.sql": "{% macro joined() %}t.dt = s.dt{% endmacro %}\n",
    "seeds/z.csv": "id,dt\n1,2013-01-01\n",
    "layout.yml": "version: 1\ntables:\n  - {name: raw.s, format: delta, columns: [{name: id, data_type: bigint}]}\n",
}
FORMATS = ("text", "concise", "json", "github", "gitlab", "sarif", "junit")


@pytest.fixture
def root(make_project, monkeypatch):
    folder = make_project(FILES)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.setenv(VARIABLE, str(folder / "cache"))
    monkeypatch.delenv("REGION", raising=False)
    return folder


@pytest.fixture
def lint(caplog, capfd):
    """`merge-runner lint` in this process: status, output, messages, and whether the report was made again."""
    caplog.set_level("DEBUG", "merge_runner.lint")

    def run(*arguments: str) -> tuple[int, str, str, bool]:
        caplog.clear()
        with pytest.raises(SystemExit) as end:
            main(["lint", *arguments])
        return (end.value.code, *capfd.readouterr(), "report of an earlier run" not in "".join(caplog.messages))

    return run


def store(root: Path) -> Path:
    """Return the file with what is kept of the project."""
    file = project_store(root, os.environ)
    assert file is not None
    return file


def reports(root: Path) -> int:
    """Return how many reports are kept."""
    with sqlite3.connect(store(root)) as connection:
        return connection.execute("select count(*) from kept where content like '%\"hidden\":%'").fetchone()[0]


def replaced(path, old, new):
    def change(root: Path) -> None:
        text = (root / path).read_text()
        assert old in text
        (root / path).write_text(text.replace(old, new))

    return change


def written(path, text):
    def change(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)

    return change


def settings(text):
    return replaced("pyproject.toml", 'name = "shop"\n', f'name = "shop"\n{text}')


CHANGES = {
    "a model": replaced("models/a.sql", "t.id = s.id", "t.id = s.id and t.dt = s.dt"),
    "a model in a folder": replaced("models/sub/b.sql", "t.id = s.id and", "t.id = 1 and"),
    "a view": replaced("models/v.sql", "id, dt", "id, dt, 1 as one"),
    "a macro": replaced("macros/m.sql", "t.dt = s.dt", "t.dx = s.dx"),
    "a property": replaced("models/s.yml", "region, data_type: string", "area, data_type: string"),
    "a seed": replaced("seeds/z.csv", "id,dt", "ix,dt"),
    "the settings": settings('lint = {ignore = ["P001"]}\n'),
    "a severity": settings('lint = {severity = {P001 = "info"}}\n'),
    "a default of the models": settings('models = {format = "iceberg"}\n'),
    "a var of the settings": settings('vars = {region = "it\'s"}\n'),
    "the profile": replaced("profiles.yml", "schema: shop", "schema: other_shop"),
    "a recorded catalog": written("catalog.yml", FILES["layout.yml"].replace("bigint", "string")),
    "a noqa": replaced("models/a.sql", "as s\n", "as s -- noqa: C003\n"),
    "a noqa of a whole file": replaced("models/a.sql", "{{ config", "-- noqa\n{{ config"),
    "a new model": written(
        "models/c.sql", "merge into {{ this }} t using {{ ref('z') }} s on true when matched then delete"
    ),
    "a new file of properties": written("models/b.yml", "version: 2\nmodels: [{name: b, columns: [{name: id}]}]\n"),
    "a model that is gone": lambda root: (root / "models/sub/b.sql").unlink(),
    "another name": lambda root: (root / "models/a.sql").rename(root / "models/a2.sql"),
    "another folder": lambda root: (root / "models/a.sql").rename(root / "models/sub/a.sql"),
    "Jinja that cannot be read": replaced("models/a.sql", "{{ this }}", "{{ thsi }}"),
    "YAML that cannot be read": replaced("models/s.yml", "version: 2", "version: [2"),
    "a baseline": written("lint-baseline.json", '{"version": 1, "findings": {}}'),
    "a baseline that is none": written("lint-baseline.json", "{}"),
    "no profiles": lambda root: (root / "profiles.yml").unlink(),
}


@pytest.mark.parametrize("name", CHANGES)
def test_after_a_change_the_report_is_the_new_one(root, lint, name):
    before = lint()
    assert before[3]
    assert lint() == (*before[:3], False)
    CHANGES[name](root)
    now = lint()
    assert now[3]
    assert now == lint("--no-cache")
    assert lint()[:3] == now[:3]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("more", [(), ("--statistics", "-v")])
def test_every_format_is_the_same_byte_for_byte(root, lint, kind, more):
    made = lint("--format", kind, "--no-cache", *more)
    lint()
    assert lint("--format", kind, *more) == (*made[:3], False)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--vars", "region: x"),
        ("--vars", 'region: "it\'s"'),
        ("--rules", "P"),
        ("--ignore", "P001"),
        ("--layout", "layout.yml"),
        ("--full-refresh",),
        ("models/a.sql",),
        ("models/sub",),
        ("models/s.yml", "macros/m.sql"),
        ("--target-path", "elsewhere"),
        ("--target", "dev"),
        ("--profile", "shop"),
    ],
)
def test_other_options_have_entries_of_their_own(root, lint, arguments):
    plain = lint("--format", "json")
    made = lint("--format", "json", "--no-cache", *arguments)
    assert lint("--format", "json", *arguments) == made
    assert lint("--format", "json", *arguments) == (*made[:3], False)
    assert lint("--format", "json") == (*plain[:3], False)


@pytest.mark.parametrize("arguments", [(), ("--vars", "{regoin: x}"), ("models/never.sql",)])
def test_warnings_are_kept_with_the_report(root, lint, arguments):
    text = "{{ config(materialized='view', partition_by=['dt']) }}\nselect 1 as id, '{{ is_incremental() }}' as dt\n"
    written("models/never.sql", text)(root)
    first = lint(*arguments)
    assert "models/never.sql:2:21: warning: is_incremental() is always false in a view" in first[2]
    assert ("regoin" in first[2]) is ("--vars" in arguments)
    assert first[3]
    assert lint(*arguments) == (*first[:3], False)
    strict = lint(*arguments, "--warn-error", "--no-cache")
    assert (strict[0], strict[1]) == (1, "")
    assert lint(*arguments, "--warn-error") == (*strict[:3], False)
    replaced("models/never.sql", "'{{ is_incremental() }}' as ", "")(root)
    assert "is_incremental" not in lint(*arguments)[2]


def test_the_file_of_layout_counts(root, lint):
    lint("--layout", "layout.yml")
    replaced("layout.yml", "bigint", "string")(root)
    assert lint("--layout", "layout.yml")[3]


def test_a_baseline_counts_whatever_names_it(root, lint):
    settings('lint = {baseline = "ci/known.json"}\n')(root)
    assert lint()[0] == 2
    assert lint("--write-baseline")[0] == 0
    assert (root / "ci/known.json").is_file()
    hidden = lint()
    assert hidden[0] == 0
    assert not lint()[3]
    written("ci/known.json", '{"version": 1, "findings": {}}')(root)
    assert lint()[0] == 1
    written("other.json", '{"version": 1, "findings": {}}')(root)
    lint("--baseline", "other.json")
    written("other.json", "{}")(root)
    assert lint("--baseline", "other.json")[0] == 2


def test_variables_of_the_environment_count_where_they_are_read(root, lint, monkeypatch):
    lint()
    monkeypatch.setenv("REGION", "x' or 'y")
    changed = lint()
    assert changed[3]
    assert changed == lint("--no-cache")
    monkeypatch.setenv("ANOTHER", "one")
    assert not lint()[3]
    monkeypatch.delenv("REGION")
    assert lint()[3]


def test_variables_count_that_are_read_in_other_processes(root, lint, monkeypatch):
    for number in range(6):
        written(f"models/more{number}.sql", FILES["models/a.sql"].replace("REGION", f"REGION{number}"))(root)
    lint_paths(processes=2)
    assert not lint()[3]
    monkeypatch.setenv("REGION5", "5")
    assert lint()[3]


def test_variables_of_the_profile_count(root, lint, monkeypatch):
    text = "shop: {outputs: {dev: {master: 'local[2]', schema: \"{{ env_var('MY_SCHEMA') }}\"}}}\n"
    written("profiles.yml", text)(root)
    monkeypatch.setenv("MY_SCHEMA", "correct_horse")
    lint("--ignore", "ALL")
    assert not lint("--ignore", "ALL")[3]
    kept = store(root).read_bytes()
    assert b"MY_SCHEMA" in kept
    monkeypatch.setenv("MY_SCHEMA", "other")
    assert lint("--ignore", "ALL")[3]


def test_profiles_outside_of_the_project_count(root, lint):
    profiles = (root / "profiles.yml").read_text()
    (root / "profiles.yml").unlink()
    written("home/.merge-runner/profiles.yml", profiles)(root)
    lint()
    assert not lint()[3]
    replaced("home/.merge-runner/profiles.yml", "schema: shop", "schema: other")(root)
    assert lint()[3]
    written("elsewhere/profiles.yml", profiles)(root)
    lint("--profiles-dir", "elsewhere")
    assert not lint("--profiles-dir", "elsewhere")[3]
    replaced("elsewhere/profiles.yml", "schema: shop", "schema: other")(root)
    assert lint("--profiles-dir", "elsewhere")[3]


def test_a_changed_rule_of_another_package_counts(root, tmp_path):
    rule = '"""Summary."""\nSEVERITY = "error"\ndef check_merge(merge): {}\n'
    (tmp_path / "zz001_any.py").write_text(rule.format("return ()"))
    (tmp_path / "own-1.0.dist-info").mkdir()
    (tmp_path / "own-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n")
    (tmp_path / "own-1.0.dist-info/entry_points.txt").write_text("[merge_runner.rules]\nown = zz001_any\n")

    def lint() -> str:
        command = [sys.executable, "-m", "merge_runner", "lint", "--project-dir", str(root), "--rules", "ZZ"]
        env = os.environ | {"PYTHONPATH": str(tmp_path), "COLUMNS": "100"}
        return subprocess.run(command, env=env, capture_output=True, text=True, cwd=root, check=False).stdout

    assert "ZZ001" not in lint()
    found = "from merge_runner.lint.rule import Hit; return [Hit(merge.statement.span, 'new')]"
    (tmp_path / "zz001_any.py").write_text(rule.format(found))
    assert "ZZ001" in lint()


def test_the_time_of_a_file_does_not_count(root, lint):
    lint()
    os.utime(root / "models/a.sql", (1, 1))
    assert not lint()[3]


def test_back_to_an_earlier_state_is_known(root, lint):
    first = lint()
    CHANGES["a macro"](root)
    lint()
    replaced("macros/m.sql", "t.dx = s.dx", "t.dt = s.dt")(root)
    assert lint() == (*first[:3], False)


def test_from_another_folder_paths_are_shown_alike(root, lint, monkeypatch):
    here = lint("--format", "concise")
    monkeypatch.chdir(root / "models/sub")
    assert lint("--format", "concise")[:3] == here[:3]
    monkeypatch.chdir(root.parent)
    there = lint("--format", "concise", root.name)
    assert there[:3] == here[:3]
    assert lint("--format", "concise", root.name) == (*here[:3], False)


@pytest.mark.parametrize("arguments", [("scripts/adhoc.sql",), ("models/a.sql", "scripts"), ("../plain.sql",)])
def test_plain_files_are_never_of_the_cache(root, lint, arguments):
    bounded = "merge into t using s on t.dt = date '2013-01-01' and t.id = s.id when matched then delete"
    for path in ("scripts/adhoc.sql", "../plain.sql"):
        written(path, "select 1")(root)
    lint(*arguments)
    for path in ("scripts/adhoc.sql", "../plain.sql"):
        written(path, bounded.replace("t.dt = date '2013-01-01' and", ""))(root)
    changed = lint(*arguments)
    assert changed[3]
    assert "P001" in changed[1]


def test_another_project_is_never_of_the_cache_of_this_one(root, lint, make_project):
    other = make_project(FILES)
    lint(str(other / "models/a.sql"))
    CHANGES["a model"](other)
    changed = lint(str(other / "models/a.sql"))
    assert changed[3]
    assert changed == lint("--no-cache", str(other / "models/a.sql"))


def test_a_project_in_a_project(root, lint, monkeypatch):
    for path, text in FILES.items():
        written(f"inner/{path}", text.replace("[tool.merge-runner]", '[tool."merge-runner"]'))(root)
    monkeypatch.chdir(root / "inner")
    lint()
    CHANGES["a model"](root / "inner")
    changed = lint()
    assert changed[3]
    assert changed == lint("--no-cache")


def test_a_path_that_is_gone_is_told(root, lint):
    written(".github/x.yml", "on: push\n")(root)
    assert lint(".github/x.yml")[0] == 0
    (root / ".github/x.yml").unlink()
    assert lint(".github/x.yml")[0] == 2


@pytest.mark.parametrize("damage", [b"", b"no database" * 1000, None])
def test_a_store_that_was_damaged_is_none(root, lint, damage):
    made = lint()
    content = store(root).read_bytes()
    store(root).write_bytes(content[: len(content) // 2] if damage is None else damage)
    assert lint() == made
    assert lint() == (*made[:3], False)


def test_a_folder_that_cannot_be_written_is_none(root, lint):
    (root / "cache").write_text("a file")
    made = lint("--no-cache")
    assert lint() == made
    assert lint() == made


def test_the_folder_of_the_command_line_counts(root, lint, monkeypatch):
    monkeypatch.setenv(VARIABLE, os.environ[VARIABLE])  # which the option replaces
    made = lint("--cache-dir", "elsewhere")
    assert lint("--cache-dir", "elsewhere") == (*made[:3], False)
    assert len(list((root / "elsewhere/projects").iterdir())) == 1
    assert not (root / "cache").exists()


def test_folders_that_link_to_each_other_end(root, lint):
    for name in ("one", "two", "three"):
        (root / "models" / name).symlink_to(root / "models", target_is_directory=True)
    status, _, messages, made = lint()
    assert (status, made) == (2, True)
    assert "symlink-loop" in messages


def test_the_project_folder_itself_as_model_path(root, lint):
    settings('model-paths = ["."]\nmacro-paths = ["macros"]\nseed-paths = []\ntest-paths = []\n')(root)
    made = lint()
    assert lint()[:3] == made[:3]


class ChangingEnv(dict):
    """Variables of the environment, of which a model asks while another is changed."""

    def get(self, name, default=None):
        if name == "REGION" and (change := self.pop("change", None)):
            change()
        return super().get(name, default)


def test_a_change_while_the_report_is_made_is_seen(root):
    lint_paths(env=ChangingEnv(os.environ, change=lambda: CHANGES["a seed"](root)))
    assert reports(root) == 0
    lint_paths(env=ChangingEnv(os.environ))
    assert reports(root) == 1


def test_the_recorded_catalog_is_one_of_the_files():
    assert RECORDED in FILES_OF_ALL


def test_each_option_is_part_of_the_key_or_keeps_a_report_out_of_the_cache():
    """`columns` needs `state`; the report is the same for any number of processes, and without a cache."""
    without_effect = {"columns", "cache", "processes"}
    never_cached = {"text", "write_baseline", *report_cache.UNCACHED}
    assert {field.name for field in fields(LintRequest)} == without_effect | never_cached | {*report_cache.DEPENDS}
