"""examples/storage_join: no Exchange with it, some without, and the same rows either way."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from merge_runner import Project

EXAMPLE = Path(__file__).parents[2] / "examples" / "storage_join"
SCRIPT = """
import json, os, sys
from pathlib import Path
from merge_runner import Project
from merge_runner.engine.driver.driver_source import GivenDriver
from merge_runner.run.results.events import Events
from merge_runner.engine.startup import start_driver
from merge_runner.plan.explain.explain import explain
from merge_runner.run.explain import explain_on_spark

root = Path(sys.argv[1])


def build(target, orders):
    project = Project.load(root, target=target, vars={"orders": orders})
    results = project.build(driver=driver, lint=False)
    assert results.ok, [result.message for result in results.results]
    return results["orders"].adapter_response


def plan_that_ran():
    # Of the last MERGE into orders, which alone marks rows, as adaptive execution left it.
    driver.spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    store = driver.spark._jsparkSession.sharedState().statusStore()
    found = store.executionsList()
    plans = (found.apply(index).physicalPlanDescription() for index in reversed(range(found.size())))
    return next(plan for plan in plans if "WriteDelta" in plan).partition("== Initial Plan ==")[0]


first = Project.load(root)
driver = start_driver(first.prepared.files.profile, root, root / "spark.log", os.environ)
told = {}
try:
    for target in ("joined", "plain"):
        for orders in (400, 1000):
            build(target, orders)
        project = Project.load(root, target=target)
        ids = project.select(["orders"]).ids
        (node,) = (node for level in explain_on_spark(project.prepared, explain(project.prepared, ids), Events(), GivenDriver(driver)).levels for node in level)
        relation = project.graph.nodes["model.storage_join.orders"].relation
        rows = driver.spark.sql(f"select order_id, status, cast(updated_at as string) from {relation} order by 1")
        told[target] = {
            "relation": relation.name,
            "plan": node.engine_report.plan,
            "nodes": [f"{each.shuffle.kind} {each.shuffle.purpose}" for each in node.engine_report.shuffles],
            "ran": plan_that_ran(),
            "rows": [list(row) for row in rows.collect()],
        }
    # The same, bounded: the source is read as of one version, and ON has its values.
    model = root / "models/orders.sql"
    model.write_text(model.read_text().replace("scan='full'", "bounds=['order_id']"))
    response = build("joined", 1200)
    (statement,) = (root / "target/run").rglob("orders.sql")
    told["bounded"] = {
        "bounds": response["bounds"],
        "pins": response["pins"],
        "statement": statement.read_text(),
        "ran": plan_that_ran(),
        "inserted": response["rows_inserted"],
    }
finally:
    driver.stop()
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What the example does and how it is planned, by output; in a process of its own, since its driver has its catalog."""
    root = tmp_path_factory.mktemp("example") / "storage_join"
    shutil.copytree(EXAMPLE, root, ignore=shutil.ignore_patterns("warehouse", "target"))
    command = [sys.executable, "-c", SCRIPT, str(root)]
    process = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), timeout=300, check=False)
    assert process.returncode == 0, process.stderr
    assert (root / "warehouse" / "ice.db").is_file()
    return json.loads(process.stdout.splitlines()[-1])


@pytest.mark.spark
@pytest.mark.nightly
def test_the_tables_lie_in_the_only_catalog(told):
    assert [told[target]["relation"] for target in ("joined", "plain")] == ["ice.joined.orders", "ice.plain.orders"]


def shuffles(plan):
    """The shuffles and sorts in the tree of a plan; what it says of each node comes below."""
    return re.findall(r"^[ :+*-]*(Exchange|Sort) \(\d+\)", plan, re.MULTILINE)


@pytest.mark.spark
@pytest.mark.nightly
def test_with_it_nothing_is_shuffled_and_without_it_target_source_and_what_is_written_are(told):
    # Both tables have about as many rows, so that neither is hashed.
    assert told["joined"]["nodes"] == 2 * ["Sort join"]
    assert sorted(told["plain"]["nodes"]) == [*2 * ["Exchange join"], "Exchange write", *2 * ["Sort join"]]
    assert shuffles(told["joined"]["plan"]) == 2 * ["Sort"]
    assert len(shuffles(told["plain"]["plan"])) == 5


@pytest.mark.spark
@pytest.mark.nightly
def test_what_runs_is_what_was_explained(told):
    assert "Exchange" not in shuffles(told["joined"]["ran"])
    assert shuffles(told["plain"]["ran"]).count("Exchange") == 3


def test_lint_tells_where_it_is_missing():
    findings = {target: Project.load(EXAMPLE, target=target).lint().findings for target in ("joined", "plain")}
    assert findings["joined"] == ()
    assert [(each.code, each.model) for each in findings["plain"]] == [("K005", "orders")]


@pytest.mark.spark
@pytest.mark.nightly
def test_a_bounded_statement_shuffles_nothing_either(told):
    bounded = told["bounded"]
    assert set(bounded["bounds"]) == {"order_id"}
    assert list(bounded["pins"]) == ["ice.joined.order_event"]
    assert "VERSION AS OF" in bounded["statement"]
    assert "VERSION AS OF" not in told["joined"]["plan"]
    assert "Exchange" not in shuffles(bounded["ran"])
    assert bounded["inserted"] == 200


@pytest.mark.spark
@pytest.mark.nightly
def test_the_rows_are_the_same_either_way(told):
    assert told["joined"]["rows"] == told["plain"]["rows"]
    assert len(told["joined"]["rows"]) == 1000
