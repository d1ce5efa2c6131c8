"""Altering a table in several statements, of which one fails."""

import pytest

from merge_runner.engine import altering
from merge_runner.engine.difference import Drift
from merge_runner.engine.failures import EngineError, Kind

CHANGED = Drift("check few differs", ("drop", "add"), violating="count", undo="add old")
OTHER = Drift("property differs", ("set",))
TOLD = Drift("partitioned otherwise")


@pytest.fixture
def alter(monkeypatch):
    """Alters what differs while some statements fail; gives what was altered, what is left, and the statements."""

    def run(*differences, rows=0, **failures):
        ran = []

        def run_statement(_session, statement):
            ran.append(statement)
            if statement in failures:
                raise EngineError("CODE", "refused", kind=failures[statement])
            return [(rows,)]

        monkeypatch.setattr(altering, "drift", lambda *_: differences)
        monkeypatch.setattr(altering, "run_statement", run_statement)
        try:
            return (*altering.alter(None, None), ran)
        except EngineError as error:
            return error.kind, ran

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
