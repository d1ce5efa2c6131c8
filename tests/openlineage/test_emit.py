"""The events of whole runs, on the engine in memory: which there are, what they say, and that the schemas allow them."""

import json

import pytest

from merge_runner import Project
from merge_runner.errors import ProblemsError
from merge_runner.openlineage.node_facts import ProjectFacts
from merge_runner.run.results.event_types import Message
from tests.fake_engine import FakeDriver, Lake
from tests.openlineage.validation import errors

PROFILE = "shop: {{outputs: {{dev: {{schema: shop, openlineage: {0}}}}}}}\n"
FILES = {
    "profiles.yml": PROFILE.format("{transport: file, namespace: test}"),
    "models/schema.yml": """
        version: 2
        models:
          - name: raw
            columns: [{name: id, data_type: bigint}, {name: amount, data_type: int, description: in cents}]
          - name: orders
            description: Orders, one row each
            columns:
              - {name: id, data_type: bigint, data_tests: [not_null]}
              - {name: amount, data_type: int}
        """,
    "models/raw.sql": "{{ config(materialized='table') }} select 1L as id, 2 as amount",
    "models/orders.sql": """
        merge into {{ this }} as t using (select id, amount * 2 as amount from {{ ref('raw') }}) as s
        on t.id = s.id
        when matched and s.amount > t.amount then update set t.amount = s.amount
        when not matched then insert (id, amount) values (s.id, s.amount)
        """,
    "models/below.sql": "{{ config(materialized='table') }} select sum(amount) as total from {{ ref('orders') }}",
}


@pytest.fixture
def run(make_project):
    """Builds a project with these files; gives the events of its file, and the messages of the run."""

    def build(files=None, *, faults=None, env=None, failures=None, **options):
        root = make_project({**FILES, **(files or {})})
        messages = []
        driver = FakeDriver(Lake(), faults or {}, failures=failures, answers={"SELECT to_json": []})
        project = Project.load(root, env=env or {})
        project.build(
            lint=False,
            driver=driver,
            on_event=lambda event: isinstance(event, Message) and messages.append(event),
            **options,
        )
        file = root / "target/openlineage.jsonl"
        events = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return root, events, [message.message for message in messages]

    return build


def _states(events):
    return [(event["job"]["name"], event["eventType"]) for event in events]


def _one(events, name, state="COMPLETE"):
    (found,) = [each for each in events if each["job"]["name"].split(".", 2)[-1] == name and each["eventType"] == state]
    return found


def test_a_build_is_a_run_with_a_run_for_each_node(run):
    _, events, _ = run()
    states = _states(events)
    assert states[0] == ("shop.build", "START")
    assert states[-1] == ("shop.build", "COMPLETE")
    assert states.index(("model.shop.orders", "COMPLETE")) < states.index(("model.shop.below", "START"))
    assert [error for event in events for error in errors(event)] == []
    ids = {event["run"]["runId"] for event in events}
    assert len(ids) * 2 == len(events), "each run starts once and ends once"
    parents = {event["run"]["facets"]["parent"]["run"]["runId"] for event in events[1:-1]}
    assert parents == {events[0]["run"]["runId"]}
    assert {event["job"]["namespace"] for event in events} == {"test"}


def test_a_merge_has_its_columns_datasets_and_figures(run):
    root, events, _ = run()
    event = _one(events, "orders")
    warehouse = root / "warehouse"
    table, files = str(warehouse / "shop/orders"), str(warehouse / "shop/raw")
    assert [(each["namespace"], each["name"]) for each in event["inputs"]] == [("file", files), ("file", table)]
    (output,) = event["outputs"]
    assert (output["namespace"], output["name"]) == ("file", table)
    assert output["facets"]["symlinks"]["identifiers"] == [
        {"namespace": f"file:{warehouse}", "name": "shop.orders", "type": "TABLE"}
    ]
    assert [each["name"] for each in output["facets"]["schema"]["fields"]] == ["id", "amount"]
    lineage = output["facets"]["columnLineage"]

    def edges(fields):
        return {
            (each["name"].rpartition("/")[2] + "." + each["field"], part["type"], part["subtype"])
            for each in fields
            for part in each["transformations"]
            if each["namespace"] == "file" and each["name"] in (table, files)
        }

    amount = edges(lineage["fields"]["amount"]["inputFields"])
    assert ("raw.amount", "DIRECT", "TRANSFORMATION") in amount
    assert ("raw.amount", "INDIRECT", "CONDITIONAL") in amount
    assert ("orders.amount", "INDIRECT", "CONDITIONAL") in amount
    assert edges(lineage["fields"]["id"]["inputFields"]) >= {("raw.id", "DIRECT", "IDENTITY")}
    assert {("orders.id", "INDIRECT", "JOIN"), ("raw.id", "INDIRECT", "JOIN")} <= edges(lineage["dataset"])
    assert "merge into" in event["job"]["facets"]["sql"]["query"]
    assert event["job"]["facets"]["jobType"]["jobType"] == "MERGE"
    assert event["job"]["facets"]["documentation"]["description"] == "Orders, one row each"
    assert event["run"]["facets"]["mergeRunner_merge"]["operation"] == "MERGE"
    assert output["outputFacets"]["outputStatistics"]["rowCount"] == 1
    source = event["inputs"][0]["facets"]["schema"]["fields"]
    assert source[1] == {"name": "amount", "type": "int", "description": "in cents"}


def test_a_failure_and_what_is_skipped_below_it(run):
    _, events, _ = run(faults={"orders": ["fails"]})
    failed = _one(events, "orders", "FAIL")
    assert failed["run"]["facets"]["errorMessage"]["message"]
    assert [state for name, state in _states(events) if name == "model.shop.below"] == ["START", "ABORT"]
    assert _states(events)[-1] == ("shop.build", "FAIL")
    assert [error for event in events for error in errors(event)] == []


@pytest.mark.parametrize(("failures", "success", "state"), [({}, True, "COMPLETE"), ({"IS NULL": 3}, False, "FAIL")])
def test_a_data_test_is_an_assertion_on_the_tested_table(run, failures, success, state):
    root, events, _ = run(failures=failures)
    (event,) = [each for each in events if each["job"]["name"].startswith("test.") and each["eventType"] == state]
    (dataset,) = event["inputs"]
    assert dataset["name"] == str(root / "warehouse/shop/orders")
    (assertion,) = dataset["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert (assertion["assertion"], assertion["column"], assertion["success"]) == ("not_null", "id", success)
    assert event["outputs"] == []
    assert errors(event) == []


def test_a_model_reads_every_topic_of_its_stream(make_project):
    files = {
        "models/schema.yml": """
            sources:
              - name: raw
                tables:
                  - name: events
                    columns: [{name: value, data_type: binary}]
                    stream: {format: kafka, options: {kafka.bootstrap.servers: "one:9092", subscribe: "a,b"}}
            """,
        "models/m.sql": """
            merge into {{ this }} as t using (select value as id from {{ source('raw', 'events') }}) as s on t.id = s.id
            when not matched then insert (id) values (s.id)
            """,
    }
    project = Project.load(make_project(files))
    (model,) = [key for key in project.graph.nodes if key.startswith("model.")]
    facts = ProjectFacts(project.prepared, [model], streams=True).of(model)
    topics = [("kafka://one:9092", "a"), ("kafka://one:9092", "b")]
    assert [(each["namespace"], each["name"]) for each in facts.inputs][:2] == topics
    fields = facts.output["facets"]["columnLineage"]["fields"]["id"]["inputFields"]
    assert [(each["namespace"], each["name"], each["field"]) for each in fields] == [
        (*each, "value") for each in topics
    ]


def test_no_secret_is_in_an_event(run):
    files = {
        "models/orders.sql": FILES["models/orders.sql"].replace("amount * 2", "amount * {{ env_var('API_TOKEN') }}")
    }
    root, events, _ = run(files, env={"API_TOKEN": "271828"})
    assert _one(events, "orders")["job"]["facets"]["sql"]["query"].count("***") >= 1
    assert "271828" not in (root / "target/openlineage.jsonl").read_text()


def test_an_orchestrator_is_the_parent(run):
    parent = {
        "run": {"runId": "0197c2ee-0000-7000-8000-000000000001"},
        "job": {"namespace": "airflow", "name": "dag.task"},
    }
    _, events, _ = run(env={"OPENLINEAGE_CONTEXT": json.dumps({"parent": parent})})
    assert events[0]["run"]["facets"]["parent"]["job"] == parent["job"]
    assert events[1]["run"]["facets"]["parent"]["root"] == parent
    assert events[1]["run"]["facets"]["parent"]["run"] == {"runId": events[0]["run"]["runId"]}
    assert [error for event in events for error in errors(event)] == []


def test_the_environment_can_turn_it_off(run):
    assert run(env={"OPENLINEAGE_DISABLED": "true"})[1] == []


def test_a_file_that_cannot_be_written_is_a_warning(run):
    files = {"profiles.yml": PROFILE.format("{transport: file, path: pyproject.toml/events.jsonl}")}
    _, events, messages = run(files)
    assert events == []
    assert [message for message in messages if message.startswith("OpenLineage: ")]


def test_a_transport_needs_a_name(make_project):
    root = make_project({**FILES, "profiles.yml": PROFILE.format("{url: 'http://localhost:5000'}")})
    with pytest.raises(ProblemsError, match='"openlineage" needs a transport'):
        Project.load(root)


def test_the_http_transport_of_the_client(run, receiver):
    url = f"http://127.0.0.1:{receiver.server_port}"
    _, _, messages = run({"profiles.yml": PROFILE.format(f"{{transport: http, url: '{url}'}}")})
    assert {path for path, _, _ in receiver.seen} == {"/api/v1/lineage"}
    assert [found for _, _, found in receiver.seen if found] == []
    names = [event["job"]["name"] for _, event, _ in receiver.seen]
    assert names[0] == names[-1] == "shop.build"
    assert names.count("model.shop.orders") == 2
    merge = [event for _, event, _ in receiver.seen if event["job"]["name"] == "model.shop.orders"][1]
    assert merge["outputs"][0]["facets"]["columnLineage"]["fields"]["amount"]["inputFields"]
    assert not [message for message in messages if "OpenLineage" in message]


def test_a_server_that_is_not_there_is_a_warning(run):
    transport = "{transport: http, url: 'http://127.0.0.1:9', retry: {total: 0}}"
    _, _, messages = run({"profiles.yml": PROFILE.format(transport)})
    found = [message for message in messages if message.startswith("OpenLineage: ")]
    assert len(found) == 2, "one for the first failure, one for what was not sent"
    assert "could not be sent" in found[1]
