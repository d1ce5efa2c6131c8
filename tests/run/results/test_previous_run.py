"""What the artifacts tell of the last invocation, and what is wrong with them."""

import json

import pytest

from merge_runner.errors import ProblemsError
from merge_runner.run.results.previous_run import last_invocation


def results(target, invocation, statuses, **args):
    entries = [{"unique_id": node, "status": status} for node, status in statuses.items()]
    document = {"metadata": {"invocation_id": invocation}, "results": entries, "args": {"which": "build"} | args}
    (target / "run_results.json").write_text(json.dumps(document))


def journal(target, *events, torn=""):
    lines = [json.dumps({"event": name, **data}) + "\n" for name, data in events]
    with (target / "journal.jsonl").open("a") as file:
        file.write("".join(lines) + torn)


def started(invocation, *nodes, command="run", **args):
    return "invocation_started", {"invocation_id": invocation, "command": command, "args": args, "nodes": nodes}


def begun(node):
    return "node_started", {"node": node}


def ended(node, status):
    return "node_finished", {"node": node, "result": {"status": status}}


FINISHED = ("invocation_finished", {})


def test_what_failed_or_was_skipped_is_undone(tmp_path):
    results(
        tmp_path,
        "i",
        {"a": "success", "b": "error", "c": "skipped", "d": "fail", "e": "warn", "f": "no-op", "g": "pass"},
        threads=3,
    )
    last = last_invocation(tmp_path)
    assert (last.id, last.command, last.args) == ("i", "build", {"threads": 3})
    assert last.undone == ("b", "c", "d")
    assert last.started_nodes == {"b"}
    assert last.invocations == ("i",)


def test_a_retry_of_a_retry_knows_all_invocations_before(tmp_path):
    results(tmp_path, "j", {"b": "error", "c": "skipped", "d": "success"}, retried=["i"])
    last = last_invocation(tmp_path)
    assert last.invocations == ("j", "i")
    # What the retry has not come to may have committed in the invocation before.
    assert last.started_nodes == {"b", "c"}


def test_a_killed_run_is_told_by_its_journal_and_not_by_the_results_of_the_run_before(tmp_path):
    results(tmp_path, "old", {"a": "error"})
    journal(tmp_path, started("old", "a"), begun("a"), ended("a", "error"), FINISHED)
    journal(
        tmp_path,
        started("killed", "a", "b", "c", "d", batch_id=4),
        begun("a"),
        ended("a", "success"),
        begun("b"),
        begun("c"),
        ended("c", "error"),
        torn='{"event": "node_fin',
    )
    last = last_invocation(tmp_path)
    assert (last.id, last.command, last.args) == ("killed", "run", {"batch_id": 4})
    assert last.undone == ("b", "c", "d")
    assert last.started_nodes == {"b", "c", "d"}  # what it did at last may not have come to the journal


def test_the_journal_of_a_run_that_was_killed_before_any_results_is_enough(tmp_path):
    journal(tmp_path, started("killed", "a"))
    assert last_invocation(tmp_path).undone == ("a",)


def test_an_optimize_is_retried_as_what_it_was(tmp_path):
    results(tmp_path, "i", {"a": "no-op", "b": "error"}, which="optimize", vacuum=True, retain=864_000.0)
    last = last_invocation(tmp_path)
    assert (last.command, last.undone) == ("optimize", ("b",))
    assert last.args == {"vacuum": True, "retain": 864_000.0}
    journal(tmp_path, started("j", "a", command="optimize"))
    assert (last_invocation(tmp_path).command, last_invocation(tmp_path).undone) == ("optimize", ("a",))


def test_results_that_were_written_before_the_kill_count(tmp_path):
    results(tmp_path, "late", {"a": "success"})
    journal(tmp_path, started("late", "a"), begun("a"))
    assert last_invocation(tmp_path).undone == ()


def test_a_run_that_could_not_start_leaves_the_one_before_to_be_retried(tmp_path):
    results(tmp_path, "old", {"a": "error"})
    journal(tmp_path, started("bad", "a"), ("invocation_failed", {}))
    assert last_invocation(tmp_path).id == "old"


def test_a_killed_run_is_still_the_last_after_retries_that_could_not_start(tmp_path):
    results(tmp_path, "old", {"a": "success"})
    journal(tmp_path, started("old", "a"), begun("a"), ended("a", "success"), FINISHED)
    journal(tmp_path, started("killed", "a", "b"), begun("a"), ended("a", "success"), begun("b"))
    for id in ("bad", "worse"):
        journal(tmp_path, started(id, "b", retried=["killed"]), ("invocation_failed", {}))
        assert (last_invocation(tmp_path).id, last_invocation(tmp_path).undone) == ("killed", ("b",))
    journal(tmp_path, started("good", "b", retried=["killed"]), begun("b"), ended("b", "no-op"), FINISHED)
    journal(tmp_path, started("bad", "a"), ("invocation_failed", {}))
    assert last_invocation(tmp_path).id == "old"  # here nobody has written the results of `good`


@pytest.mark.parametrize(
    "text",
    [None, "", "{", "[]", "{}", '{"metadata": {}, "results": [], "args": {"which": "build"}}', "\udcff"],
)
def test_results_that_cannot_be_read_are_a_problem(tmp_path, text):
    if text is not None:
        (tmp_path / "run_results.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ProblemsError) as raised:
        last_invocation(tmp_path)
    assert [problem.code for problem in raised.value.problems] == ["no-run-results"]
    assert "merge-runner build" in raised.value.problems[0].hint


def test_a_command_that_is_not_ours_is_a_problem(tmp_path):
    document = {"metadata": {"invocation_id": "i"}, "results": [], "args": {"which": "snapshot"}}
    (tmp_path / "run_results.json").write_text(json.dumps(document))
    with pytest.raises(ProblemsError):
        last_invocation(tmp_path)


@pytest.mark.parametrize("killed", [False, True])
def test_a_stream_goes_on_by_itself(tmp_path, killed):
    results(tmp_path, "i", {"a": "error"}, which="build" if killed else "stream")
    if killed:
        journal(tmp_path, started("j", "a", command="stream"), begun("a"))
    with pytest.raises(ProblemsError, match="the last invocation was a stream"):
        last_invocation(tmp_path)
