"""What the shuffles and sorts of a plan are for; tests/run/builds/test_shuffles.py asks the engine itself."""

from pathlib import Path

import pytest

from merge_runner.plan.explain.shuffle_remedies import Change, ShuffleRemedies, shuffled_when_bounded
from merge_runner.plan.explain.shuffles import shuffles
from merge_runner.plan.explain.spark_explain import EngineReport, report_as_json
from merge_runner.plan.steps.runtime_filter import FilterPlan
from merge_runner.pruning.runtime_filter.source_determinism import Scan
from merge_runner.pruning.runtime_filter.source_pinning import SourcePin
from merge_runner.text import Span
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "shuffles.yml")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_what_they_are_for(case):
    found = shuffles(case["plan"], source_first=case["source_first"])
    told = [
        f"{each.kind} ({each.number}) {' '.join(filter(None, (each.purpose, each.side)))}, {each.words}"
        for each in found
    ]
    assert told == case["shuffles"]
    lines = case["plan"].splitlines()
    assert all(f"{each.kind} ({each.number})" in lines[each.line] for each in found)


def test_how_they_are_told():
    plan = CASES[1]["plan"]
    sort, exchange, other = shuffles(plan, source_first=True)
    hashed, joined = Change("conf", "k", "false"), Change("config", "storage_join", "true")
    on = Change("on", "t.p", "s.p")
    nodes = (
        ShuffleRemedies(sort, ((hashed,),)),
        ShuffleRemedies(exchange, ((joined, on), (hashed,))),
        ShuffleRemedies(other, why="it is so"),
    )
    lines = EngineReport(plan, shuffles=nodes).lines()
    assert lines[:5] == [
        "in the engine's plan: 1 Exchange, 2 Sort",
        "  Sort (3) sorts the source for the join; removed by `k: 'false'` in conf",
        "  Exchange (2) shuffles the source for the join; removed by `storage_join: true` and ON … AND t.p = s.p, or by "
        "`k: 'false'` in conf",
        "  Sort (5) sorts the target for the join; no setting removes it: it is so",
        "the engine's plan:",
    ]
    assert "        :- Sort (3)   <-- sorts the source for the join" in lines
    assert report_as_json(EngineReport(plan, shuffles=nodes))["shuffles"][1] == {
        "node": "Exchange",
        "number": 2,
        "purpose": "join",
        "side": "source",
        "text": "shuffles the source for the join",
        "remedies": [
            [
                {"where": "config", "key": "storage_join", "value": "true"},
                {"where": "on", "key": "t.p", "value": "s.p"},
            ],
            [{"where": "conf", "key": "k", "value": "false"}],
        ],
        "why": None,
    }
    assert report_as_json(EngineReport(plan))["shuffles"] is None


JOINED = """== Physical Plan ==
WriteDelta (5)
+- AdaptiveSparkPlan (4)
   +- {join} RightOuter (3)
      :- BatchScan ice.p.t (1)
      +- BatchScan ice.p.s (2)


(1) BatchScan ice.p.t
IcebergScan(table=ice.p.t, filters=, groupedBy={grouped})
"""


def test_bounds_that_cost_a_join_without_a_shuffle():
    joined = JOINED.format(join="ShuffledHashJoin", grouped="part")
    others = (
        CASES[0]["plan"],
        JOINED.format(join="BroadcastHashJoin", grouped="part"),
        JOINED.format(join="SortMergeJoin", grouped=""),
    )
    pinned = FilterPlan((), SourcePin(Scan(("src",), Span(0, 3), False, "iceberg")))
    assert len(list(shuffled_when_bounded(FilterPlan(()), joined))) == 1
    assert [list(shuffled_when_bounded(FilterPlan(()), plan)) for plan in others] == [[], [], []]
    assert [list(shuffled_when_bounded(each, joined)) for each in (None, pinned, FilterPlan((), left_out="so"))] == [
        [],
        [],
        [],
    ]
