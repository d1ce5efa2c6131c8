"""How a MERGE will be bounded, told from its text: cases in bounding.yml."""

from pathlib import Path

import pytest

from merge_runner.formats.types import parse_type
from merge_runner.merge.parse import parse
from merge_runner.plan.steps.runtime_filter import bounding
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.layout.layout import PartitionField, TableColumn, TableLayout
from merge_runner.pruning.query.source import KnownTable
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "bounding.yml")
TARGET = TableLayout(
    "delta",
    (TableColumn("dt", parse_type("date")), TableColumn("flag", parse_type("boolean"))),
    partition_by=(PartitionField("dt"),),
    cluster_by=(),
)


def statements():
    for case in CASES:
        for using in case.get("usings", [case.get("using")]):
            name = case["name"] if "using" in case else f"{case['name']}: {using}"
            yield pytest.param(case, using, id=name)


@pytest.mark.parametrize(("case", "using"), list(statements()))
def test_bounding(case, using):
    known = {
        ("db", "delta"): KnownTable(TableLayout("delta")),
        ("db", "ice"): KnownTable(TableLayout("iceberg")),
        ("db", "file"): KnownTable(TableLayout()),
        ("feed",): KnownTable(TableLayout(), fixed=True),
        ("db", "view"): KnownTable(TableLayout(), case.get("view")),
    }
    text = (
        f"{case.get('with', '')} merge into shop.t as t using {using} on t.id = 1 and {case.get('condition', 't.dt = s.dt')} "
        f"{case.get('clauses', 'when matched then delete')}"
    )
    wanted = case.get("wanted", "auto")
    merge = judge_merge(parse(text), TARGET, known.get, wanted)
    found = bounding(merge, wanted)
    assert (str(found) if found is not None else None) == case.get("text")
    assert merge.judgement.verdict == case.get("verdict", merge.judgement.verdict)
    assert [".".join(parts) for parts in (found.pin.no_views if found else ())] == case.get("views", [])
