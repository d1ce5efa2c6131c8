"""How many days the rows of a source cover."""

from pathlib import Path

import pytest

from merge_runner.formats.types import parse_type
from merge_runner.merge.parse import parse
from merge_runner.pruning.layout.layout import TableColumn, TableLayout
from merge_runner.pruning.query.read_using import source_facts
from merge_runner.pruning.query.restricted_days import restricted_days
from merge_runner.pruning.query.source import KnownTable
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("restricted_days.yml"))
TYPES = {"id": "bigint", "dt": "date", "ts": "timestamp", "n": "int"}
S = KnownTable(TableLayout(columns=tuple(TableColumn(name, parse_type(text)) for name, text in TYPES.items())))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["where"])
def test_case(case):
    text = f"merge into t using (select * from s where {case['where']}) as s on t.id = s.id when matched then delete"
    assert restricted_days(source_facts(parse(text), {("s",): S}.get)) == case["time"]
