"""`lint_paths` does for Python what `merge-runner lint PATHS` does; tests/cli/commands/test_lint.py has what paths mean."""

from __future__ import annotations

import json

import pytest

from merge_runner import lint_paths
from merge_runner.errors import ProblemsError

MERGE = "merge into t using (select 1 as id) s on t.id = s.id when matched then delete"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.sql").write_text(MERGE)
    return tmp_path


def codes(report):
    return sorted({finding.code for finding in report.findings})


def test_rules_are_chosen_as_on_the_command_line(folder):
    assert codes(lint_paths("a.sql", rules="P001")) == ["P001"]
    assert codes(lint_paths(["a.sql"], ignore=("P", "C"))) == []


def test_a_text_replaces_that_of_the_file(folder):
    assert lint_paths("a.sql", text="select 1").merges == ()
    assert (folder / "a.sql").read_text() == MERGE


def test_a_baseline_is_written_and_read_where_lint_looks_for_it(folder):
    before = lint_paths("a.sql")
    assert lint_paths("a.sql", write_baseline=True).findings == before.findings
    assert json.loads((folder / "lint-baseline.json").read_text())["findings"].keys() == {"a.sql"}
    assert (lint_paths("a.sql").findings, lint_paths("a.sql").hidden) == ((), len(before.findings))


def test_a_path_that_is_not_there_is_a_problem(folder):
    with pytest.raises(ProblemsError, match=r"no file or folder b\.sql"):
        lint_paths("b.sql")


def test_arguments_that_do_not_go_together_are_a_value_error(folder):
    with pytest.raises(ValueError, match="--select is about the models of a project"):
        lint_paths("a.sql", select="fct")


def test_warnings_go_to_logging(make_project, monkeypatch, caplog):
    root = make_project({"models/a.sql": MERGE.replace("into t", "into {{ this }} t")})
    report = lint_paths(root / "models/a.sql", vars={"regoin": "x"}, rules="P", cache=False)
    assert [merge.model for merge in report.merges] == ["a"]
    assert [(each.name, each.levelname) for each in caplog.records] == [("merge_runner.lint", "WARNING")]
    assert caplog.messages[0].startswith('--vars: no file reads the var "regoin"')
