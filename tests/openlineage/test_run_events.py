"""Runs of OpenLineage made of the events of an invocation: each starts once and ends once, whatever the invocation does."""

import pytest

from merge_runner import Project
from merge_runner.openlineage.node_facts import ProjectFacts
from merge_runner.openlineage.run_events import RunEvents
from merge_runner.openlineage.settings import LineageSettings
from merge_runner.run.results.event_types import InvocationFinished, InvocationStarted, NodeFinished, NodeStarted
from tests.openlineage.validation import errors

FILES = {
    "models/m.sql": "merge into {{ this }} as t using (select 1 as id) as s on t.id = s.id when not matched then insert *",
}
RESULT = {"status": "success", "message": None, "adapter_response": {}, "compiled_code": "", "failures": None}


@pytest.fixture
def made(make_project):
    """Gives the events that OpenLineage gets for some of an invocation, of a stream or not."""

    def make(*events, streams=False):
        prepared = Project.load(make_project(FILES)).prepared
        (model,) = [key for key in prepared.graph.nodes if key.startswith("model.")]
        facts = ProjectFacts(prepared, [model], streams=streams)
        events_of = RunEvents(prepared, LineageSettings(), facts, None)
        began = InvocationStarted(
            invocation_id="9b7e7a0c-0000-4000-8000-000000000001", command="build", args={}, nodes=[model]
        )
        found = [each for event in (began, *(make(model) for make in events)) for each in events_of.of(event)]
        assert [error for event in found for error in errors(event)] == []
        return found

    return make


def started(group):
    return lambda node: NodeStarted(node=node, name="m", label="m", group=group, expected=None)


def finished(node):
    return NodeFinished(node=node, name="m", label="m", result=RESULT)


def stopped(_):
    return InvocationFinished(counts={}, ok=False, stopped=True)


def ended(_):
    return InvocationFinished(counts={}, ok=True)


def states(events):
    return [(event["job"]["name"].rpartition(".")[2], event["eventType"]) for event in events]


def test_each_batch_of_a_stream_is_a_run(made):
    found = made(started("batch 0"), finished, started("batch 1"), finished, ended, streams=True)
    assert states(found)[1:-1] == [("m", "START"), ("m", "COMPLETE")] * 2
    first, same, second, again = [event["run"]["runId"] for event in found[1:-1]]
    assert first == same != second == again
    assert {event["job"]["facets"]["jobType"]["processingType"] for event in found[1:-1]} == {"STREAMING"}


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("success", "COMPLETE"),
        ("no-op", "COMPLETE"),
        ("error", "FAIL"),
        ("partial success", "FAIL"),
        ("skipped", "ABORT"),
    ],
)
def test_a_node_ends_by_its_status(made, status, state):
    result = {**RESULT, "status": status, "message": "2 of 3 batches"}
    found = made(started("a"), lambda node: NodeFinished(node=node, name="m", label="m", result=result), ended)
    assert states(found)[2] == ("m", state)
    assert ("errorMessage" in found[2]["run"]["facets"]) == (state != "COMPLETE")


def test_a_node_that_still_ran_at_the_end_is_aborted(made):
    found = made(started("a"), stopped)
    assert states(found) == [("build", "START"), ("m", "START"), ("m", "ABORT"), ("build", "ABORT")]
    assert found[1]["run"]["runId"] == found[2]["run"]["runId"]


def test_what_ends_after_the_invocation_is_left_out(made):
    assert states(made(started("a"), stopped, finished))[-1] == ("build", "ABORT")
