"""What is done after a failure of each kind, without Spark."""

import threading
import time
from dataclasses import replace

import pytest

from merge_runner.engine.context import NodeOutput
from merge_runner.engine.spark.errors import EngineError
from merge_runner.formats.failures import MOST_RETRIES, Kind
from merge_runner.plan.steps.maintenance import OptimizeTable
from merge_runner.plan.steps.merge import RunHook
from merge_runner.plan.steps.model_tests import RunTest
from merge_runner.plan.steps.table import CreateTarget, Layout, ReplaceTable
from merge_runner.relation import Relation
from merge_runner.run.node import retry
from merge_runner.run.node.retry import Attempts

TABLE = Relation("t", "s")
WRITE = ReplaceTable(Layout(TABLE, "delta"), "select 1")


class Place:
    def __init__(self):
        self.output = NodeOutput()


def failure(kind, most=None):
    return EngineError("CODE", "went wrong", kind=kind, most_retries=MOST_RETRIES[kind] if most is None else most)


@pytest.fixture
def tried(monkeypatch):
    """Performs a step that fails as told, one entry an attempt (None: it works); gives attempts and what was raised."""
    monkeypatch.setattr(retry, "FIRST_PAUSE", 0.0)

    def run(step, failures, retries=3, committed=lambda: None, stopping=None, deadline=None, settled=lambda: True):
        left = list(failures)

        def perform(_step, _place):
            error = left.pop(0)
            if callable(error):
                error = error()
            if error is not None:
                raise error

        monkeypatch.setattr(retry, "perform", perform)
        told = []
        one = Attempts(
            *(Place(), retries, committed, stopping or threading.Event(), lambda *what: told.append(what), deadline),
            settled=settled,
        )
        try:
            one.perform(step)
        except (EngineError, InterruptedError) as error:
            return one, told, error
        return one, told, None

    return run


@pytest.mark.parametrize("kind", [Kind.CONFLICT, Kind.TRANSIENT, Kind.COMMIT_UNKNOWN, Kind.LOST])
def test_a_statement_that_has_not_committed_runs_again(tried, kind):
    one, told, error = tried(WRITE, [failure(kind), None])
    assert error is None
    assert one.tries == 2
    assert [(each.kind, number) for each, number, _ in told] == [(kind, 1)]


@pytest.mark.parametrize("kind", [Kind.USER, Kind.CANCELLED])
def test_a_mistake_and_a_cancellation_are_final(tried, kind):
    one, told, error = tried(WRITE, [failure(kind)])
    assert (one.tries, told, error.kind) == (1, [], kind)


@pytest.mark.parametrize("kind", [Kind.TRANSIENT, Kind.COMMIT_UNKNOWN, Kind.LOST])
@pytest.mark.parametrize("retries", [0, 3])
def test_what_has_committed_is_a_success_and_never_runs_again(tried, kind, retries):
    one, told, error = tried(WRITE, [failure(kind)], retries, committed=lambda: 7)
    assert (error, told, one.tries) == (None, [], 1)
    assert one.context.output.response.table_version == 7
    assert "has committed: 7" in one.context.output.warnings[0]


def test_a_table_that_cannot_be_asked_leaves_the_fate_open_and_nothing_runs_again(tried):
    def committed():
        raise EngineError("GONE", "no answer")

    one, told, error = tried(WRITE, [failure(Kind.COMMIT_UNKNOWN)], committed=committed)
    assert (one.tries, told) == (1, [])
    assert error.message == "went wrong; commit status unknown: reading the table failed: no answer"


def test_a_conflict_is_not_asked_about_since_nothing_of_it_was_committed(tried):
    _, _, error = tried(WRITE, [failure(Kind.CONFLICT), None], committed=lambda: pytest.fail("asked"))
    assert error is None


@pytest.mark.parametrize(
    ("failures", "retries", "tries"),
    [
        ([failure(Kind.CONFLICT)] * 9, 5, 6),
        ([failure(Kind.CONFLICT)] * 9, 0, 1),
        ([failure(Kind.TRANSIENT)] * 9, 50, 1 + MOST_RETRIES[Kind.TRANSIENT]),
        ([failure(Kind.COMMIT_UNKNOWN)] * 9, 50, 2),
        ([failure(Kind.CONFLICT, most=1)] * 9, 50, 2),
        ([failure(Kind.COMMIT_UNKNOWN), failure(Kind.CONFLICT), failure(Kind.USER)], 50, 3),
    ],
)
def test_how_often_is_limited_by_the_model_and_by_the_kind(tried, failures, retries, tries):
    one, _, error = tried(WRITE, failures, retries)
    assert one.tries == tries
    assert error is failures[tries - 1]


@pytest.mark.parametrize(
    ("step", "kind", "again"),
    [
        (RunHook("insert into t values (1)", "pre_hook"), Kind.CONFLICT, True),
        (RunHook("insert into t values (1)", "pre_hook"), Kind.TRANSIENT, False),
        (CreateTarget(Layout(TABLE, "delta", checks={"c": "a > 1"}), None), Kind.CONFLICT, True),
        (RunTest("select 1", "error"), Kind.TRANSIENT, True),
    ],
)
def test_other_steps_run_again_where_that_cannot_do_anything_twice(tried, step, kind, again):
    one, told, error = tried(step, [failure(kind), None])
    assert (error is None) is again
    assert len(told) == again
    assert one.tries == 0  # it is not the node's own statement


OPTIMIZE = OptimizeTable(Layout(TABLE, "delta"))


def test_an_optimize_runs_again_whatever_it_has_committed(tried):
    one, told, error = tried(OPTIMIZE, [failure(Kind.COMMIT_UNKNOWN), None], committed=lambda: pytest.fail("asked"))
    assert (error, len(told), one.tries) == (None, 1, 2)


@pytest.mark.parametrize("kind", [Kind.USER, Kind.CONFLICT, Kind.CANCELLED])
def test_one_that_follows_a_merge_is_a_warning_where_it_fails(tried, kind):
    after = replace(OPTIMIZE, after=1)
    one, _, error = tried(after, [failure(kind)], retries=0)
    assert (error, one.tries) == (None, 0)
    assert one.context.output.warnings == ["the table is merged, and was not optimized: went wrong [CODE]"]
    assert tried(OPTIMIZE, [failure(kind)], retries=0)[2] is not None

    stopping = threading.Event()

    def stopped():
        stopping.set()
        return failure(Kind.CANCELLED)

    assert tried(after, [stopped], retries=0, stopping=stopping)[2].kind is Kind.CANCELLED


def test_a_stopped_run_ends_the_pause_at_once(tried, monkeypatch):
    monkeypatch.setattr(retry, "FIRST_PAUSE", 600.0)
    monkeypatch.setattr(retry, "LONGEST_PAUSE", 600.0)
    stopping = threading.Event()
    threading.Timer(0.05, stopping.set).start()
    _, _, error = tried(WRITE, [failure(Kind.CONFLICT), None], stopping=stopping)
    assert isinstance(error, InterruptedError)


def test_no_pause_goes_beyond_the_models_timeout(tried, monkeypatch):
    monkeypatch.setattr(retry, "FIRST_PAUSE", 600.0)
    monkeypatch.setattr(retry, "LONGEST_PAUSE", 600.0)
    _, told, error = tried(WRITE, [failure(Kind.CONFLICT), None], deadline=time.monotonic() + 0.05)
    assert error is None
    assert 0 <= told[0][2] <= 0.05


def test_pauses_double_up_to_the_longest_and_are_spread(tried, monkeypatch):
    monkeypatch.setattr(retry, "FIRST_PAUSE", 1e-4)
    monkeypatch.setattr(retry, "LONGEST_PAUSE", 4e-4)
    _, told, _ = tried(WRITE, [failure(Kind.CONFLICT)] * 5, retries=4)
    for (_, _, pause), longest in zip(told, [1e-4, 2e-4, 4e-4, 4e-4], strict=True):
        assert longest / 2 <= pause <= longest


@pytest.mark.parametrize(("step", "uncertain"), [(WRITE, True), (RunHook("delete from t", "pre_hook"), False)])
def test_nothing_is_asked_or_done_beside_an_engine_that_may_go_on(tried, step, uncertain):
    one, told, error = tried(step, [failure(Kind.LOST)], committed=lambda: pytest.fail("asked"), settled=lambda: False)
    assert (error.kind, told, one.uncertain) == (Kind.LOST, [], uncertain)
