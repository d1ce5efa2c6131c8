"""What dbt projects become: cases in from_dbt.yml, and the errors of `import dbt`."""

import json
from pathlib import Path

import pytest

from merge_runner.api import Project, import_dbt
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
