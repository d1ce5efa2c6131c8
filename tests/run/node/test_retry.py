"""`retry`: its arguments, what a kill leaves, and a full refresh that goes on; tests/run/node/faults.yml has what runs again."""

import json

import pytest

from merge_runner.cli.host import Host
from merge_runner.cli.main import main
from tests.fake_engine import FakeDriver, Lake, Starts
from tests.fake_engine.projects import model_files


@pytest.fixture
def lake():
    return Lake()


@pytest.fixture
def call(lake):
    """Runs a command on a driver with these faults; gives its exit status."""

    def run(root, *words, faults=None):
        with pytest.raises(SystemExit) as end:
            main(
                [*words, "--project-dir", str(root)],
                Host(start=Starts(FakeDriver(lake, faults, answers={"call tidy": []}))),
            )
        return end.value.code

    return run


def results(root):
    document = json.loads((root / "target/run_results.json").read_text())
    return document["args"], {each["unique_id"].split(".")[2]: each["status"] for each in document["results"]}


def test_retry_has_the_arguments_of_before(make_project, call, capsys):
    models = {"good": {}, "hooked": {"config": "post_hook='call tidy()'"}, "below": {"parents": ["hooked"]}}
    root = make_project(model_files(models))
    words = ("build", "--no-lint", "--threads", "1", "--vars", "{a: 1}")
    assert call(root, *words, faults={"call tidy": ["fails"]}) == 1
    assert results(root)[1] == {"good": "success", "hooked": "error", "below": "skipped"}

    assert call(root, "retry", "--threads", "2") == 0
    args, statuses = results(root)
    assert statuses == {"hooked": "no-op", "below": "success"}
    assert (args["which"], args["threads"], args["vars_text"], args["no_lint"]) == ("build", 2, "{a: 1}", True)
    assert len(args["retried"]) == 1

    capsys.readouterr()
    assert call(root, "retry") == 0
    assert "nothing to retry of the last build" in capsys.readouterr().err
    assert results(root)[1] == {"hooked": "no-op", "below": "success"}  # they are still those of the last run


def test_retry_after_a_kill_knows_what_was_done_and_names_what_is_gone(make_project, call, lake, capsys):
    root = make_project(model_files({"good": {}}))
    assert call(root, "run") == 0
    committed = json.loads((root / "target/run_results.json").read_text())["metadata"]["invocation_id"]
    # What a process leaves that was killed when the MERGE had just committed: no results, no end in its journal.
    (root / "target/run_results.json").unlink()
    journal = root / "target/journal.jsonl"
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    events = [event for event in events if event["event"] not in ("node_finished", "invocation_finished")]
    events[0]["nodes"].append("model.shop.gone")
    journal.write_text("".join(json.dumps(event) + "\n" for event in events))

    capsys.readouterr()
    assert call(root, "retry") == 0
    assert "model.shop.gone is not in the project any more" in capsys.readouterr().err
    args, statuses = results(root)
    assert (statuses, args["retried"], args["which"]) == ({"good": "no-op"}, [committed], "run")
    assert lake.operations("good") == ["CREATE TABLE", "MERGE"]


def test_a_retry_that_is_killed_passes_on_what_had_committed_in_the_build_before(make_project, call, lake):
    root = make_project(model_files({"hooked": {"config": "post_hook='call tidy()'"}}))
    assert call(root, "build", "--no-lint", faults={"call tidy": ["fails"]}) == 1
    journal = root / "target/journal.jsonl"
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    built = next(event for event in reversed(events) if event["event"] == "invocation_started")
    killed = built | {"invocation_id": "killed", "args": built["args"] | {"retried": [built["invocation_id"]]}}
    with journal.open("a") as file:
        file.write(json.dumps(killed) + "\n")
    assert call(root, "retry") == 0
    assert results(root)[1] == {"hooked": "no-op"}
    assert lake.operations("hooked") == ["CREATE TABLE", "MERGE"]


def test_a_full_refresh_that_goes_on_keeps_what_others_have_merged_into_the_table(make_project, call, lake):
    models = {"first": {"config": "alias='both'"}, "second": {"config": "alias='both'", "parents": ["first"]}}
    root = make_project(model_files(models))
    faults = {"both": [None, "fails"]}
    assert call(root, "build", "--no-lint", "--full-refresh", faults=faults) == 1
    assert call(root, "retry") == 0
    assert results(root)[1] == {"second": "success"}
    assert lake.operations("both") == ["CREATE TABLE", "MERGE", "MERGE"]
