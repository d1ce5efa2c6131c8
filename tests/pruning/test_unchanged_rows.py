"""Whether rows that change nothing can be left out of the source of a MERGE: cases in unchanged_rows.yml."""

from pathlib import Path

import pytest

from merge_runner.formats.types import parse_type
from merge_runner.merge.parse import parse
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.judge.unchanged_rows import Refusal, unchanged_rows
from merge_runner.pruning.layout.layout import TableColumn, TableLayout
from merge_runner.pruning.query.source import KnownTable
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "unchanged_rows.yml")
SOURCE = tuple(
    TableColumn(name, parse_type(kind))
    for name, kind in {"id": "int", "n": "int", "m": "double", "w": "string", "d": "date"}.items()
)
TARGET = TableLayout("delta", (*SOURCE, TableColumn("st", parse_type("struct<a: int>"))), complete=True)
TABLES = {("src",): KnownTable(TableLayout("delta", SOURCE, complete=True)), ("target",): KnownTable(TARGET)}


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_unchanged_rows(case):
    into = case.get("into", "target t")
    evolves = "with schema evolution " if case.get("evolves") else ""
    text = (
        f"{case.get('before', '')} merge {evolves}into {into} using {case.get('using', 'src s')} "
        f"on {case.get('match', 't.id = s.id')} {case['clauses']}"
    )
    merge = judge_merge(parse(text), TARGET, TABLES.get)
    found = unchanged_rows(merge, equal_rows=case.get("equal_rows", False))
    if "refused" in case:
        assert found == Refusal(*case["refused"])
        return
    assert not isinstance(found, Refusal)
    assert [key.source.of(text) for key in found.keys] == case.get("keys", ["s.id"])
    matched = [clause for clause in merge.statement.clauses if clause.kind == "matched"]
    conditions = [clause.condition.span if clause.condition is not None else None for clause in matched]
    assert [change.condition for change in found.changes] == conditions
    assert [number for number, change in enumerate(found.changes) if change.compares] == case.get("compares", [])
