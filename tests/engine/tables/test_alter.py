"""Altering a table in several statements, of which one fails; a table of which less is known."""

import json
from types import SimpleNamespace

import pytest

from merge_runner.engine.spark.errors import EngineError, Kind
from merge_runner.engine.table_format.registry import table_format
from merge_runner.engine.tables.alter import resolved
from merge_runner.engine.tables.drift import Drift, constraint_drift
from merge_runner.plan.steps.table import Column, Layout
from merge_runner.relation import Relation

CHANGED = Drift("check few differs", ("drop", "add"), violating="count", undo="add old")
OTHER = Drift("property differs", ("set",))
TOLD = Drift("partitioned otherwise")


@pytest.fixture
def alter():
    """Alters what differs while some statements fail; gives what was altered, what is left, and the statements."""

    def run(*differences, rows=0, **failures):
        ran = []

        def sql(statement):
            ran.append(statement)
            if statement in failures:
                raise EngineError("CODE", "refused", kind=failures[statement])
            return SimpleNamespace(collect=lambda: [(rows,)])

        try:
            found = resolved(SimpleNamespace(sql=sql), differences)
        except EngineError as error:
            return error.kind, ran
        return found.altered, found.left, ran

    return run


def test_what_has_no_remedy_is_left_and_the_rest_altered(alter):
    altered = ("property differs", "check few differs")
    assert alter(TOLD, OTHER, CHANGED) == (altered, ("partitioned otherwise",), ["set", "count", "drop", "add"])


def test_rows_in_the_way_leave_a_check_as_it_was(alter):
    told = "check few differs: 2 rows violate it; put these rows right, or change the check: the next build adds it"
    assert alter(CHANGED, OTHER, rows=2) == (("property differs",), (told,), ["count", "set"])


def test_a_check_that_is_refused_when_the_old_one_is_gone_brings_that_back(alter):
    assert alter(CHANGED, add=Kind.USER) == ((), ("check few differs: refused",), ["count", "drop", "add", "add old"])
    assert alter(CHANGED, drop=Kind.USER) == ((), ("check few differs: refused",), ["count", "drop"])


def test_a_conflict_leaves_the_rest_to_the_next_attempt(alter):
    """It finds the check missing then, and adds it."""
    assert alter(CHANGED, OTHER, add=Kind.CONFLICT) == (Kind.CONFLICT, ["count", "drop", "add"])


def test_over_spark_connect_nothing_is_said_of_generated_columns():
    """There is no log to ask, and Spark's own schema leaves out how a Delta column is generated."""
    field = {"name": "g", "type": "integer", "nullable": True, "metadata": {}}
    schema = SimpleNamespace(json=lambda: json.dumps({"type": "struct", "fields": [field]}))
    session = SimpleNamespace(table=lambda _: SimpleNamespace(schema=schema))
    column = Column("g", "int", nullable=False, generated="generated always as (id + 1)")
    found = constraint_drift(session, Layout(Relation("t", "s"), "delta", columns=(column,)), {}, table_format("delta"))
    assert [item.words.partition(":")[0] for item in found] == ["column g takes NULL, declared NOT NULL"]
