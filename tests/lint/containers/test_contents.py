"""Whole files with MERGEs in them: where each is found, its verdict, and what is reported where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from merge_runner.lint.report import Report
from merge_runner.lint.run.lint_files import Surroundings, lint_files
from merge_runner.lint.run.lint_project import LintOptions
from merge_runner.lint.run.plain_files import plain_files
from tests.yaml_data import read_yaml

HERE = Path(__file__).parent
CASES = [
    pytest.param(case, id=f"{path.stem}-{case['name'].replace(' ', '-')}")
    for path in sorted((HERE / "files").glob("*.yml"))
    for case in read_yaml(path)
]


def content(file: Any) -> str:
    """A file as text; a notebook as a list of cells, those that are no mapping are code."""
    if isinstance(file, str):
        return file
    cells = [
        {"cell_type": "markdown", "source": [cell["markdown"]]}
        if isinstance(cell, dict)
        else {"cell_type": "code", "source": cell.splitlines(keepends=True), "outputs": [], "metadata": {}}
        for cell in file["cells"]
    ]
    language = {"kernelspec": {"language": file["language"]}} if "language" in file else {}
    return json.dumps({"cells": cells, "metadata": language, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def linted(files: dict[str, Any], root: Path) -> Report:
    for path, file in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content(file), encoding="utf-8")
    return lint_files(list(plain_files([root], root)), LintOptions(), {}, Surroundings(root))


def outcome(report: Report) -> dict[str, list[str]]:
    merges = [f"{merge.place} {merge.container} {merge.verdict} {merge.target}" for merge in report.merges]
    findings = [f"{finding.place} {finding.code}" for finding in report.findings]
    unread = [f"{item.place} {item.container}: {item.reason}" for item in report.not_judged]
    return {"merges": merges, "findings": findings, "not_judged": unread}


@pytest.mark.parametrize("case", CASES)
def test_contents(case, tmp_path):
    expected = {key: case.get(key, []) for key in ("merges", "findings", "not_judged")}
    assert outcome(linted(case["files"], tmp_path)) == expected


def test_there_are_enough_statements():
    assert sum(len(case.values[0].get("merges", [])) for case in CASES) >= 60


MERGE = "merge into t using (select distinct id from s) s on t.id = s.id when matched then delete"
NAMED = {
    "Job.java": f'class Job {{\n  void run() {{ spark.sql("{MERGE}"); }}\n}}',
    "Job.kt": f'// it\'s an upsert, merge into t\nspark.sql("""\n{MERGE}""")',
    "load.hql": f"-- 'merge into t'\n{MERGE}",
    "load.sh": f"spark-sql -e '\n  {MERGE}'",
    "note.zpln": json.dumps({"paragraphs": [{"text": f"%sql\n{MERGE}"}]}),
    "job.yml": f"tasks:\n  - sql: |\n      {MERGE}\n",
    "prose.yml": "description: merge into is used here",
    "prose.md": f"```sql\n{MERGE}\n```",
    "package.json": '{"name": "merge into", "description": "using it when needed"}',
}


def test_a_merge_in_a_language_that_lint_does_not_know_is_not_passed_over(tmp_path):
    for path, text in NAMED.items():
        (tmp_path / path).write_text(text)
    files = list(plain_files([tmp_path / path for path in NAMED], tmp_path))
    assert outcome(lint_files(files, LintOptions(), {}, Surroundings(tmp_path))) == {
        "merges": ["load.hql:2:1 sql none t"],
        "findings": ["load.hql:2:53 P001"],
        "not_judged": [
            "Job.java:2:27 sql: lint reads code in .py, .scala, .ipynb files",
            "Job.kt:3:1 sql: lint reads code in .py, .scala, .ipynb files",
            "load.sh:2:3 sql: lint reads code in .py, .scala, .ipynb files",
            "note.zpln:1:33 sql: lint reads code in .py, .scala, .ipynb files",
            "job.yml:3:7 sql: lint reads no SQL in files of JSON, YAML and TOML",
        ],
    }


def test_the_name_of_a_variable_that_a_column_may_hide_is_said(tmp_path):
    (tmp_path / "load.sql").write_text(
        "create table core.f (id bigint not null, day date) using delta partitioned by (day);\n"
        "declare variable cut date;\n"
        "merge into core.f t using stage.f s on t.id = s.id and t.day >= cut when matched then delete;\n"
        "begin\n  declare since date;\n"
        "  merge into core.f t using stage.f s on t.id = s.id and t.day >= since when matched then delete;\nend\n"
    )
    files = list(plain_files([tmp_path], tmp_path))
    reasons = [merge.reason for merge in lint_files(files, LintOptions(), {}, Surroundings(tmp_path)).merges]
    assert reasons == [
        "`cut` is a column, or the variable `session.cut`: say which",
        "`since` is a column, or a variable of the script: list the columns of the source in USING",
    ]


LOOPS = """\
create table core.f (id bigint not null, day date, r struct<x: int>) using delta partitioned by (day);
begin
  for d as select distinct day from stage.f do
    merge into core.f t using stage.f s on t.id = s.id and t.day = d.day when matched then delete;
    outer_loop: for `e` in (select 1 as x) do
      if e.x > 0 then
        merge into core.f t using stage.f s on t.id = s.id and t.day = D.day when matched then delete;
      end if;
    end for;
    merge into core.f t using stage.f s on t.id = s.id and t.day = e.day when matched then delete;
  end for;
  for r as select 1 as x do
    merge into core.f t using stage.f s on t.id = s.id and t.id = r.x when matched then delete;
  end for;
  for s as select 1 as day do
    merge into core.f t using stage.f s on t.id = s.id and t.day = s.day when matched then delete;
  end for;
  for select 1 as day do
    merge into core.f t using stage.f s on t.id = s.id and t.day = d.day when matched then delete;
  end for;
end;
"""


def test_the_variables_of_for_loops_are_no_columns_of_the_source(tmp_path):
    assert outcome(linted({"loop.sql": LOOPS}, tmp_path)) == {
        "merges": [
            "loop.sql:4:5 script static core.f",
            "loop.sql:7:9 script static core.f",
            "loop.sql:10:5 script none core.f",
            "loop.sql:13:5 script none core.f",
            "loop.sql:16:5 script none core.f",
            "loop.sql:19:5 script none core.f",
        ],
        "findings": ["loop.sql:10:60 P002", "loop.sql:13:44 K001", "loop.sql:16:60 P002", "loop.sql:19:60 P002"],
        "not_judged": [],
    }
