"""The figures of truth_shown.yml are those of the statements, and a figure that gets worse is noticed."""

import pytest

from tests.lineage.lineage_cases import texts
from tests.lineage.test_lineage_against_engines import CASES, SOURCES, edges_of, lineage
from tests.lineage.truth_table import SHOWN, losses, truth_table
from tests.reports import write_report
from tests.yaml_data import read_yaml

RECORDED = read_yaml(SHOWN)
EDGES = read_yaml(SHOWN.with_name("truth_edges.yml"))
"""By statement: what the values of each column are made of, and which columns decide about rows or values."""


def edges_in_words(case):
    values, deciding = {}, {}
    found = lineage(case)
    for column in found.columns:
        parts = [part for part in found.inputs(column) if part.relation in SOURCES]
        if direct := texts(part for part in parts if part.is_direct):
            values[column.column] = direct
        deciding |= dict.fromkeys(texts([part]) for part in parts if not part.is_direct)
    return {"values": values, "decides": ", ".join(deciding)}


def test_every_statement_was_run():
    assert list(RECORDED) == [case["name"] for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_statement_has_the_edges_that_were_compared(case):
    assert edges_in_words(case) == EDGES[case["name"]]
    edges = edges_of(case).values()
    values = sum(edges)
    _, recorded_values, deciding, *_ = RECORDED[case["name"]]
    assert [values, len(edges) - values] == [recorded_values, deciding], "record again on the engines"


def test_fewer_edges_that_are_shown_are_a_loss():
    assert losses(RECORDED) == []
    assert losses({"CASE": [14, 1, 6, 1, 3]}) == []
    assert losses({"CASE": [14, 1, 6, 1, 1]}) == ["CASE: [1, 1] edges were shown, [1, 2] are recorded"]


def test_the_table_has_the_sums(tmp_path, monkeypatch):
    monkeypatch.setenv("REPORTS", str(tmp_path / "reports"))
    file = write_report("lineage.md", truth_table({"a": [1, 2, 3, 4, 5], "b": [10, 20, 30, 40, 50]}))
    assert file.parent == tmp_path / "reports"
    lines = file.read_text(encoding="utf-8").splitlines()
    assert [cell.strip() for cell in lines[-1].strip("|").split("|")] == ["all", "11", "22", "44", "33", "55"]
