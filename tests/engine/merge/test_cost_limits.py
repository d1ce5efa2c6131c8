"""MERGEs that are predicted to cost too much do not run: on the fake engine, whose tables have 4 KiB."""

import json
from types import SimpleNamespace

import pytest

from merge_runner.api import Project
from merge_runner.engine.context import ScanBudget
from merge_runner.engine.merge.cost_limits import refuse_costly
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.table_format.protocol import TableState
from merge_runner.formats.lines import installed_line
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


FORMATS = [name for name in ("delta", "iceberg") if name in installed_line().formats]
DAYS = """
{{{{ config(partition_by=['day'], bounds='off'{config}) }}}}
merge into {{{{ this }}}} as t
using (select id, cast(id % 3 as int) as day, {{{{ var('n', 0) }}}} as n from range(6)) as s
on t.day = s.day and t.id = s.id{restricted}
when matched then update set n = s.n when not matched then insert *
"""


@pytest.mark.spark
@pytest.mark.parametrize("table_format", FORMATS)
def test_real_tables_keep_their_rows_where_a_limit_is_exceeded(make_project, driver, table_format):
    models = {
        "read": DAYS.format(config=", expect_merge={'max_scanned': 1}", restricted=""),
        "rewritten": DAYS.format(config=", expect_merge={'max_rewritten': 1}", restricted=""),
        "restricted": DAYS.format(config=", expect_merge={'max_scanned': '1 GB'}", restricted=" and t.day = 1"),
        "plain": DAYS.format(config="", restricted=""),
    }
    files = {f"models/{name}.sql": text for name, text in models.items()}
    root = make_project(files, table_format=table_format)
    project = Project.load(root)
    assert project.build(driver=driver, lint=False).ok  # a first run has nothing to read
    results = Project.load(root, vars={"n": 1}).build(driver=driver, lint=False, reuse="off")
    assert {name: results[name].status for name in models} == {
        **dict.fromkeys(("read", "rewritten"), "error"),
        **dict.fromkeys(("restricted", "plain"), "success"),
    }
    third = results["plain"].adapter_response["predicted"]["bytes"] // 3
    assert results["restricted"].adapter_response["predicted"]["bytes"] == pytest.approx(third, rel=0.1)
    again = Project.load(root, vars={"n": 2}).build(
        "plain",
        driver=driver,
        lint=False,
        reuse="off",
        max_scanned=results["plain"].adapter_response["bytes_scanned"] - 1,
    )
    assert "[scan-budget]" in again["plain"].message
    with driver.session() as session:
        values = {
            name: {
                row[0]
                for row in session.sql(f"select n from {project.graph.nodes[f'model.shop.{name}'].relation}").collect()
            }
            for name in models
        }
    assert values == {"read": {0}, "rewritten": {0}, "restricted": {0, 1}, "plain": {1}}
