"""`merge-runner import`: what it prints, and that no file is changed."""

import pytest

from tests.written_project import write_files

MERGE = "merge into dw.a as t using dw.b as s on t.id = s.id when matched then delete"


def test_no_existing_file_is_changed(call, tmp_path):
    write_files(
        tmp_path,
        {"a.sql": MERGE, "shop/models/a.sql": "mine", "shop/pyproject.toml": '[tool.merge-runner]\nname = "shop"\n'},
    )
    process = call("import", "a.sql", "--to", "shop")
    assert process.returncode == 2
    assert "shop/models/a.sql is there already" in process.stderr
    assert sorted(path.name for path in (tmp_path / "shop").rglob("*") if path.is_file()) == ["a.sql", "pyproject.toml"]
    assert (tmp_path / "shop/models/a.sql").read_text() == "mine"


def test_a_project_keeps_its_settings(call, tmp_path):
    settings = '[tool.merge-runner]\nname = "other"\n'
    write_files(tmp_path, {"a.sql": MERGE, "shop/pyproject.toml": settings})
    process = call("import", "a.sql", "--to", "shop")
    assert (process.returncode, (tmp_path / "shop/pyproject.toml").read_text()) == (0, settings)
    assert process.stdout.splitlines() == ["shop/models/a.sql", "shop/models/sources.yml", "shop/IMPORT.md"]
    assert "1 model written, 1 decision left to make" in process.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.sql"], "name the folder of the project with --to DIR"),
        (["--to", "shop"], "name the files or folders with MERGEs"),
        (["none.sql", "--to", "shop"], "there is no file or folder none.sql"),
        (["select.sql", "--to", "shop"], "there is no MERGE in these paths"),
        (["broken.sql", "--to", "shop"], "broken.sql:1:14: error: the MERGE is not imported"),
    ],
)
def test_mistakes(call, tmp_path, arguments, message):
    write_files(
        tmp_path, {"a.sql": MERGE, "select.sql": "select 1", "broken.sql": "merge into t on x when matched then delete"}
    )
    process = call("import", *arguments)
    assert process.returncode == 2
    assert message in process.stderr
    assert not (tmp_path / "shop").exists()


def test_a_dbt_project(call, tmp_path):
    write_files(
        tmp_path,
        {
            "dbt/dbt_project.yml": "name: shop",
            "dbt/models/a.sql": "{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }} select 1 as id",
            "dbt/models/b.py": "def model(dbt, session): ...",
        },
    )
    process = call("import", "dbt", "dbt", "--to", "new")
    assert process.returncode == 0
    assert "new/models/a.sql" in process.stdout.splitlines()
    assert "models/b.py:1:1: warning: a Python model is not imported" in process.stderr
    assert "1 model written, 1 left out" in process.stderr
    assert call("import", "dbt", "dbt", "--to", "new").returncode == 2
    assert call("import", "dbt", "dbt", "--to", "other", "--warn-error").returncode == 1
    assert call("import", "dbt", "new", "--to", "third").returncode == 2
