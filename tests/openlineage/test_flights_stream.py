"""The recorded events of a flights build: valid, taken by a receiver through the reference client, and shown in the guide."""

import pytest

from merge_runner.openlineage.transport import ClientTransport
from tests.openlineage.flights_stream import GUIDE, events, guide
from tests.openlineage.validation import errors

EVENTS = events()


def test_each_run_begins_and_ends_once():
    runs = {}
    for event in EVENTS:
        runs.setdefault(event["run"]["runId"], []).append(event["eventType"])
    assert {tuple(states) for states in runs.values()} == {("START", "COMPLETE")}
    assert [error for event in EVENTS for error in errors(event)] == []


def test_every_column_of_an_output_of_a_model_has_its_lineage():
    for event in EVENTS:
        if event["eventType"] == "COMPLETE" and event["job"]["name"].startswith("model."):
            for output in event["outputs"]:
                columns = {field["name"] for field in output["facets"]["schema"]["fields"]}
                assert columns == output["facets"]["columnLineage"]["fields"].keys(), event["job"]["name"]


def test_the_guide_shows_them():
    text = GUIDE.read_text(encoding="utf-8")
    assert text == guide(text, EVENTS), "python -m tests.openlineage.flights_stream"


def test_the_reference_client_sends_them_all(receiver):
    pytest.importorskip("openlineage.client")
    transport = ClientTransport({"type": "http", "url": f"http://127.0.0.1:{receiver.server_port}"})
    for event in EVENTS:
        transport.send(event)
    transport.close(1.0)
    assert [found for _, _, found in receiver.seen if found] == []
    assert [_essence(event) for _, event, _ in receiver.seen] == [_essence(event) for event in EVENTS]


def _essence(event):
    """What must arrive: the run, its state, and the columns and figures of all datasets."""
    return (
        event["eventType"],
        event["run"]["runId"],
        event["run"]["facets"].keys() - {"tags"},  # the client has its own
        event["job"]["name"],
        [(each["namespace"], each["name"], each.get("facets")) for each in (*event["inputs"], *event["outputs"])],
        [each.get("outputFacets") or {} for each in event["outputs"]],
    )
