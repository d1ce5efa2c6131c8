"""MERGEs that are predicted to cost too much do not run: on the fake engine, whose tables have 4 KiB."""

import json
from types import SimpleNamespace

import pytest

from merge_runner.api import Project
from merge_runner.engine.context import ScanBudget
from merge_runner.engine.merge.cost_limits import refuse_costly
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.table_format.protocol import TableState
from merge_runner.plan.steps.guardrails import CostLimits
from merge_runner.plan.steps.prediction import Prediction
from tests.engine.merge.test_pipeline import ANSWERS, COLUMNS, SOURCE
from tests.fake_engine import FakeDriver, Lake

NAMES = ("a", "b", "c")
UPSERT = "when matched then update set times = s.times when not matched then insert *"
INSERT = "when not matched then insert *"
READ = "restrict the target in ON, so that fewer files are read (lint says what prunes)"


@pytest.fixture
def build(make_project):
    """Builds three merges into tables that have rows; gives the results and the merges that were sent."""

    def run(config="", clauses=UPSERT, **options):
        merge = f"{{{{ config({config}) }}}}\nmerge into {{{{ this }}}} as t using {SOURCE} as s on t.id = s.id\n{clauses}\n"
        described = {"models": [{"name": name, "columns": COLUMNS} for name in NAMES]}
        root = make_project({**{f"models/{name}.sql": merge for name in NAMES}, "models/m.yml": json.dumps(described)})
        lake, settings = Lake(), {"lint": False, "threads": 1, "reuse": "off"}
        assert Project.load(root).build(driver=FakeDriver(lake, {}, answers=ANSWERS), **settings).ok
        driver = FakeDriver(lake, {}, answers=ANSWERS)
        results = Project.load(root).build(driver=driver, **settings, **options)
        return results, [text for text in driver.statements if text.casefold().lstrip().startswith("merge into")]

    return run


@pytest.mark.parametrize(
    ("limits", "clauses", "exceeded"),
    [
        ({"max_scanned": "4 KiB"}, UPSERT, None),
        ({"max_scanned": "4 kB"}, UPSERT, "4.0 KiB read (`max_scanned: 3.9 KiB`)"),
        ({"max_rewritten": 4095}, UPSERT, "4.0 KiB rewritten at most (`max_rewritten: 4.0 KiB`)"),
        ({"max_rewritten": 0}, INSERT, None),
        ({"max_seconds": "0.001s"}, UPSERT, None),  # no earlier run is known
    ],
)
def test_a_limit_of_the_model(build, limits, clauses, exceeded):
    results, sent = build(f"expect_merge={limits}", clauses)
    message = results["a"].message
    assert results["a"].adapter_response["predicted"]["bytes"] == 4096
    if exceeded is None:
        assert (results.ok, len(sent)) == (True, 3), message
    else:
        assert message == (
            f"models/a.sql: the MERGE is predicted to go beyond `expect_merge`, and did not run: {exceeded} [expect-merge]\n"
            f"    {READ}; where this is meant, raise the limit in the model's `expect_merge`"
        )
        assert sent == []


@pytest.mark.parametrize(("most", "count"), [("12 KiB", 3), (12287, 2), ("4 KiB", 1), (0, 0)])
def test_the_budget_of_a_build(build, most, count):
    results, sent = build(max_scanned=most)
    refused = [result for result in results.results if result.status == "error"]
    assert (len(sent), len(refused)) == (count, 3 - count)
    for result in refused:
        assert (
            "the MERGE is predicted to read 4.0 KiB of its target, and did not run: with the merges" in result.message
        )
        assert f"[scan-budget]\n    {READ}; where this is meant, give a larger `--max-scanned`" in result.message


@pytest.mark.parametrize(
    ("limits", "most", "code"),
    [
        (CostLimits(4096, 4096, 1.0), 4096, None),
        (CostLimits(4095, None, None), None, "expect-merge"),
        (CostLimits(None, 4095, None), None, "expect-merge"),
        (None, 4095, "scan-budget"),
    ],
)
def test_what_is_not_known_counts_as_the_whole_target(limits, most, code):
    table_format = SimpleNamespace(state=lambda _session, _table: TableState(1, 4, 4096))
    step = SimpleNamespace(
        cost_limits=limits, target=None, judged=SimpleNamespace(layout=SimpleNamespace(format="delta"))
    )
    budget = ScanBudget(most) if most is not None else None
    context = SimpleNamespace(session=None, node="m", scan_budget=budget, table_format=lambda _name: table_format)
    unknown = Prediction(None, None, None, None)
    if code is None:
        refuse_costly(step, unknown, context)
        return
    with pytest.raises(EngineError, match="what it reads is not known, so that the whole target counts") as raised:
        refuse_costly(step, unknown, context)
    assert raised.value.code == code
