"""What MERGEs of scripts, notebooks and code become: cases in import.yml."""

from pathlib import Path

import pytest

from merge_runner.api import Project, import_merges
from merge_runner.errors import ProblemsError
from tests.written_project import write_files
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "import.yml")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case, folder):
    write_files(folder, case["given"])
    imported = import_merges(sorted(case["given"]), "shop")
    for path, text in case["files"].items():
        assert (folder / "shop" / path).read_text() == text, path
    decisions = [f"{decision.place}: {decision.text}" for decision in imported.decisions]
    for wanted in case.get("decisions", ()):
        assert any(wanted in found for found in decisions), decisions
    report = (folder / "shop/IMPORT.md").read_text()
    assert all(decision.text in report for decision in imported.decisions)


def test_what_is_imported_is_a_project_that_lint_judges(folder):
    write_files(
        folder, {f"{number}/{path}": text for number, case in enumerate(CASES) for path, text in case["given"].items()}
    )
    imported = import_merges(".", "shop")
    report = Project.load(folder / "shop").lint()
    models = {merge.model for merge in report.merges} | {
        found.model for found in report.findings if found.code == "J001"
    }
    assert {path.stem for path in imported.models} <= models
    assert "C010" not in {finding.code for finding in report.findings}


def test_nothing_is_written_where_nothing_can_be_read(folder):
    write_files(folder, {"broken.sql": "merge into t on x when matched then delete"})
    with pytest.raises(ProblemsError):
        import_merges("broken.sql", "shop")
    assert not (folder / "shop").exists()


def test_no_model_is_made_of_a_view_that_no_engine_writes_through(folder):
    texts = {
        "a.sql": "create temporary view va as select * from core.a where b > 0;\n"
        "create temporary view vb as select 1 as id;\n"
        "merge into va using core.b as b on va.a = b.a when matched then update set *;\n"
        "merge into vb using core.b as b on vb.id = b.a when matched then delete;\n"
        "merge into core.c as c using core.b as b on c.a = b.a when matched then delete;\n",
        "b.py": 'spark.sql("select * from delta.`/lake/a` limit 5").createOrReplaceTempView("vc")\n'
        'spark.sql("merge into vc using core.b as b on vc.a = b.a when matched then update set *")\n',
    }
    write_files(folder, texts)
    imported = import_merges(["a.sql", "b.py"], "shop")
    assert [path.stem for path in imported.models] == ["c"]
    assert [f"{each.place}: {each.message}" for each in imported.left_out] == [
        "a.sql:3:1: the MERGE is not imported: its target va filters its table",
        "a.sql:4:1: the MERGE is not imported: its target vb is no query of a single table",
        "b.py:2:12: the MERGE is not imported: its target vc is more than the rows of a table",
    ]
