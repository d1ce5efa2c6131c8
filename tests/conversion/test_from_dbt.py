"""What dbt projects become: cases in from_dbt.yml, and the errors of `import dbt`."""

import json
from pathlib import Path

import pytest

from merge_runner.api import Project, import_dbt
from merge_runner.cli.main import main
from merge_runner.errors import ProblemsError
from tests.written_project import write_files
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "from_dbt.yml")
PROJECT = "name: shop\nprofile: shop\n"


def imported(tmp_path, given):
    dbt = write_files(tmp_path / "dbt", {"dbt_project.yml": PROJECT, **given})
    return import_dbt(dbt, tmp_path / "new", env={})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case, tmp_path):
    made = imported(tmp_path, case["given"])
    new = tmp_path / "new"
    for path, wanted in case["files"].items():
        if wanted is None:
            assert not (new / path).exists(), path
        elif isinstance(wanted, list):
            text = (new / path).read_text()
            assert [part for part in wanted if part not in text] == [], text
        else:
            assert (new / path).read_text() == wanted, path
    if compiled := case.get("compiled"):
        Project.load(new).compile()
        texts = {path.stem: path.read_text() for path in (new / "target/compiled").rglob("*.sql")}
        assert {name: texts[name].strip() for name in compiled} == compiled
    todos = [f"{todo.place}: {todo.text}" for todo in made.todos]
    assert [part for part in case.get("todos", ()) if not any(part in todo for todo in todos)] == [], todos


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_result_parses_and_lints(case, tmp_path):
    made = imported(tmp_path, case["given"])
    project = Project.load(tmp_path / "new")
    project.check()
    report = project.lint()
    assert [str(finding) for finding in report.findings if finding.severity == "error"] == []
    lines = {path: path.read_text().split("\n") for path in made.files if path.suffix in (".sql", ".yml", ".toml")}
    for todo in made.todos:
        if todo.kind != "finding" and todo.at is not None:
            assert "TODO: " in lines[tmp_path / "new" / todo.at.path][todo.at.line - 1]
    report = json.loads((tmp_path / "new/import_report.json").read_text())
    assert len(report["todos"]) == len(made.todos)
    assert [model["name"] for model in report["models"]] == [model.name for model in made.models]
    markdown = (tmp_path / "new/import_report.md").read_text()
    assert all(todo.message.partition("\n")[0] in markdown for todo in made.todos)


def test_an_adapter_that_rows_depend_on_is_asked_for(tmp_path):
    given = {"models/a.sql": "{{ config(materialized='incremental', unique_key='id') }} select 1 as id"}
    with pytest.raises(ProblemsError, match="it decides what a does") as raised:
        imported(tmp_path, given)
    assert raised.value.problems[0].hint == "name it: --adapter databricks, or --adapter spark"
    assert not (tmp_path / "new").exists()
    import_dbt(tmp_path / "dbt", tmp_path / "new", adapter="spark", env={})
    assert "on false" in (tmp_path / "new/models/a.sql").read_text()
    import_dbt(tmp_path / "dbt", tmp_path / "databricks", adapter="databricks", env={})
    assert "on s.id <=> t.id" in (tmp_path / "databricks/models/a.sql").read_text()


def test_what_is_left_out_is_counted_in_one_line(tmp_path, capsys):
    overwrites = "{{ config(materialized='incremental', incremental_strategy='insert_overwrite') }} select 1 as id"
    given = {
        "models/a.sql": overwrites,
        "models/b.sql": overwrites,
        "models/c.py": "",
        "models/d.sql": "select 1 as id",
    }
    dbt = write_files(tmp_path / "dbt", {"dbt_project.yml": PROJECT, **given})
    with pytest.raises(SystemExit, match="0"):
        main(["import", "dbt", str(dbt), "--to", str(tmp_path / "new"), "--adapter", "spark"])
    counted = (
        "3 left out (2 × a model has the strategy insert_overwrite, which is no MERGE; a Python model is not imported)"
    )
    assert f"1 model written, {counted}, " in capsys.readouterr().err


def test_nothing_is_written_over_a_file(tmp_path):
    write_files(tmp_path / "new", {"profiles.yml": "mine: {}\n"})
    with pytest.raises(ProblemsError, match=r"profiles\.yml is there already"):
        imported(tmp_path, {"models/a.sql": "select 1 as id"})
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["profiles.yml"]


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"models/a.sql": "select 1"}, "no-dbt-project"),
        ({"dbt_project.yml": "profile: x"}, "no-dbt-project"),
        ({"dbt_project.yml": "name: [a"}, "yaml-syntax"),
        ({"dbt_project.yml": "name: shop", "models/a.yml": "models: [{"}, "yaml-syntax"),
    ],
)
def test_no_dbt_project(files, code, tmp_path):
    with pytest.raises(ProblemsError) as raised:
        import_dbt(write_files(tmp_path / "dbt", files), tmp_path / "new", env={})
    assert {problem.code for problem in raised.value.problems} == {code}
