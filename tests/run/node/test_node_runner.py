"""How one node runs: its session, confs, failures, timeout and cancellation, on a driver without Spark."""

import threading
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import pytest

from merge_runner import Project
from merge_runner.engine.driver.driver import Waits
from merge_runner.engine.spark.errors import EngineError
from merge_runner.formats.failures import Kind
from merge_runner.plan.steps.inputs import AttachInputs
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.execution.dag_run import NodeRun
from merge_runner.run.node.run_context import Nodes
from merge_runner.run.results.events import Events
from merge_runner.run.settings import RunSettings


class Driver:
    """Has sessions with confs, and notes what is cancelled; `gone`: it has none any longer."""

    fate = staticmethod(lambda: "out of memory")
    waits = Waits()

    def __init__(self):
        self.confs, self.groups, self.cancelled, self.gone = {}, [], threading.Event(), False

    @contextmanager
    def session(self):
        if self.gone:
            raise OSError("connection refused")
        yield SimpleNamespace(conf=SimpleNamespace(set=self.confs.__setitem__))

    def job_group(self, _session, group, description):
        self.groups.append((group, description))
        return nullcontext()

    def cancel(self, _group):
        self.cancelled.set()

    def settled(self, _session):
        return not self.gone

    def pulse(self):
        return lambda: None


@pytest.fixture
def running(make_project):
    """Runs `m`, then `below`, with a function as the one step of `m`; gives the run, its driver and its events."""

    def run(work, config="", **settings):
        head = f"{{{{ config(materialized='view'{config}) }}}}"
        files = {"models/m.sql": f"{head} select 1 as n", "models/below.sql": "select * from {{ ref('m') }}"}
        prepared = Project.load(make_project(files)).prepared
        plans = {
            "model.shop.m": NodePlan("model.shop.m", (AttachInputs(("m",)),)),
            "model.shop.below": NodePlan("model.shop.below", (AttachInputs(()),)),
        }
        driver, told = Driver(), []
        catalog = SimpleNamespace(
            attach=lambda session, _: work(driver), table_format=None, recreated_tables=frozenset()
        )
        node_run = NodeRun(prepared, Nodes(plans), RunSettings(threads=1, **settings), "run-1", Events(told.append))
        left = node_run.run_open(driver, catalog)
        return SimpleNamespace(left=left, run=node_run, driver=driver, events=told)

    return run


def found(ran):
    return {result.unique_id.rpartition(".")[2]: (result.status, result.message) for result in ran.run.results}


def raises(code, kind, **options):
    def work(_driver):
        raise EngineError(code, "it went wrong", kind=kind, **options)

    return work


def test_a_node_has_a_session_a_group_and_the_confs_that_were_asked_for(running):
    ran = running(lambda _: None, ", conf={'spark.sql.shuffle.partitions': '7'}")
    assert found(ran) == {"m": ("success", ""), "below": ("success", "")}
    assert ran.driver.confs["spark.sql.shuffle.partitions"] == "7"
    assert ran.driver.groups[0] == ("run-1/model.shop.m", "m [run-1] dev")
    assert [event.event for event in ran.events] == ["node_started", "node_finished"] * 2
    assert [result.plan.unique_id for result in ran.run.results] == ["model.shop.m", "model.shop.below"]


def test_a_failure_is_a_result_and_children_are_skipped(running):
    ran = running(raises("CODE", Kind.USER))
    assert found(ran) == {
        "m": ("error", "models/m.sql: it went wrong [CODE]"),
        "below": ("skipped", "skipped because m failed"),
    }


@pytest.mark.parametrize(("config", "settings"), [(", on_error='continue'", {}), ("", {"independent": True})])
def test_children_run_where_a_failure_does_not_matter_to_them(running, config, settings):
    assert [status for status, _ in found(running(raises("CODE", Kind.USER), config, **settings)).values()] == [
        "error",
        "success",
    ]


def test_a_node_that_is_stopped_at_its_timeout_says_so(running):
    def work(driver):
        assert driver.cancelled.wait(10)
        raise EngineError("CANCELLED", "the job was cancelled", kind=Kind.CANCELLED)

    message = "stopped after its timeout of 1.0 s; nothing was committed [timeout]"
    assert found(running(work, ", timeout=1"))["m"] == ("error", message)


def test_what_has_begun_on_a_lost_driver_has_failed_and_what_has_not_is_left(running):
    def work(driver):
        driver.gone = True
        raise EngineError("LOST", "the connection broke", kind=Kind.LOST)

    ran = running(work, ", on_error='continue'")
    assert ran.left == 1
    status, message = found(ran)["m"]
    assert (status, message.partition(" [")[0]) == ("error", "the Spark driver is lost: out of memory")
    ran.run.give_up()
    assert found(ran)["below"][0] == "error"


def test_an_internal_error_is_a_result_and_is_raised(running):
    def work(_driver):
        raise ZeroDivisionError("a bug")

    with pytest.raises(ZeroDivisionError):
        running(work)
