"""What the commits of a table say about whether a model has built it."""

import json

import pytest

from merge_runner.engine.table_format.commit_metadata import of_hook, of_maintenance, stamp, written_by
from merge_runner.engine.table_format.delta.first_run import wrote_rows
from merge_runner.engine.table_format.protocol import Commit
from merge_runner.engine.tables.first_run import built_in_warehouse
from merge_runner.plan.steps.node_plan import FirstRun, NodePlan
from merge_runner.plan.steps.table import Layout
from merge_runner.relation import Relation

NODE, OTHER = "model.shop.fct", "model.shop.other"
OWN, THEIRS = stamp("i", NODE), stamp("i", OTHER)


@pytest.mark.parametrize(
    ("newest_first", "others", "built"),
    [
        (["CREATE TABLE"], (), False),
        (["ADD CONSTRAINT", "SET TBLPROPERTIES", "CREATE TABLE"], (), False),
        (["MERGE", "CREATE TABLE"], (), True),
        (["DELETE", "MERGE", "CREATE TABLE"], (), True),
        (["CREATE OR REPLACE TABLE", "MERGE", "CREATE TABLE"], (), False),
        (["CREATE OR REPLACE TABLE AS SELECT"], (), True),
        (["WRITE"], (), True),
        (["SET TBLPROPERTIES", ("WRITE", None), "CREATE TABLE"], (), True),
        ([("DELETE", of_hook(OWN, "pre_hook")), "CREATE TABLE"], (), False),
        ([("OPTIMIZE", of_maintenance(OWN, "optimize")), "MERGE", "CREATE TABLE"], (), True),
        ([("MERGE", THEIRS), "CREATE TABLE"], (OTHER,), False),
        ([("MERGE", THEIRS), ("MERGE", OWN), "CREATE TABLE"], (OTHER,), True),
        ([("MERGE", THEIRS), "CREATE TABLE"], (), True),
        ([("CREATE OR REPLACE TABLE", THEIRS), "MERGE", "CREATE TABLE"], (OTHER,), False),
    ],
)
def test_a_statement_that_writes_rows_has_built_the_table(newest_first, others, built):
    commits = [
        Commit(version, *(each if isinstance(each, tuple) else (each, OWN)), {})
        for version, each in zip(range(len(newest_first) - 1, -1, -1), newest_first, strict=True)
    ]
    assert wrote_rows(commits, others) is built


def test_commits_that_the_log_no_longer_has_may_have_built_it():
    assert wrote_rows([Commit(12, "SET TBLPROPERTIES", None, {})], ())
    assert wrote_rows([], ())


def test_texts_of_other_writers_are_no_stamps():
    for text in (None, "", "x", "1", "[]", '{"merge_runner": 1}', '{"merge_runner": {"invocation_id": "i"}}'):
        assert written_by(text) is None


def test_a_table_of_the_warehouse_is_read_without_spark(tmp_path):
    layout = Layout(Relation("fct", "shop"), "delta", tmp_path / "fct")
    plan = NodePlan(NODE, (), first_run=FirstRun(NodePlan(NODE, ()), layout))
    assert built_in_warehouse(plan) is False
    log = tmp_path / "fct" / "_delta_log"
    log.mkdir(parents=True)
    assert built_in_warehouse(plan) is False
    for version, operation in enumerate(("CREATE TABLE", "MERGE")):
        actions = [{"metaData": {}}, {"commitInfo": {"operation": operation, "userMetadata": OWN}}]
        (log / f"{version:020}.json").write_text("\n".join(map(json.dumps, actions)) + "\n")
        (log / f"{version:020}.crc").write_text("{}")
        assert built_in_warehouse(plan) is (operation == "MERGE")


@pytest.mark.parametrize("layout", [Layout(Relation("f"), "delta"), Layout(Relation("f"), "iceberg")])
def test_other_tables_cannot_be_read_without_spark(layout):
    assert built_in_warehouse(NodePlan(NODE, (), first_run=FirstRun(NodePlan(NODE, ()), layout))) is None
    assert built_in_warehouse(NodePlan(NODE, ())) is None
