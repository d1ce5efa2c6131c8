"""`--log-format dbt-json`: dbt's event lines, on the fake engine."""

import json
from collections import Counter

import pytest

from merge_runner.cli.host import Host
from merge_runner.cli.main import main
from tests.fake_engine import FakeDriver, Lake, Starts
from tests.fake_engine.projects import model_files

MODELS = {
    "a": {"tests": ["unique"], "config": "meta={'owner': 'x'}"},
    "b": {"parents": ["a"]},
    "bad": {},
    "below": {"parents": ["bad"]},
}
DAYS = {"days": {"config": "event_time='times', batch_size='day', begin='2026-01-01'"}}
KEYS = {
    "MainReportVersion": {"version", "log_version"},
    "ConcurrencyLine": {"num_threads", "target_name", "node_count"},
    "LogStartLine": {"description", "index", "total", "node_info"},
    "NodeStart": {"node_info"},
    "LogModelResult": {"description", "status", "index", "total", "execution_time", "node_info"},
    "LogTestResult": {"name", "status", "index", "num_models", "execution_time", "num_failures", "node_info"},
    "SkippingDetails": {"resource_type", "schema", "node_name", "index", "total", "node_info"},
    "RunResultError": {"msg", "node_info"},
    "RunResultFailure": {"msg", "node_info"},
    "RunResultWarning": {"msg", "node_info"},
    "NodeFinished": {"node_info", "run_result"},
    "StatsLine": {"stats"},
    "CommandCompleted": {"command", "success", "elapsed"},
    "MainEncounteredError": {"msg"},
    "Note": {"msg"},
    "ListCmdOut": {"msg"},
}
"""The data of dbt-core 1.11's events of these names."""
INFO = {"name", "code", "msg", "level", "invocation_id", "pid", "thread", "ts", "extra", "category"}
NODE_INFO = {
    *("node_path", "node_name", "unique_id", "resource_type", "materialized", "node_status", "node_started_at"),
    *("node_finished_at", "meta", "node_relation", "node_checksum"),
}


@pytest.fixture
def lines(make_project, capfd, request):
    """Run a command of a project, that above by default; give the lines of standard output, and the exit status."""

    root, lake = make_project(model_files(getattr(request, "param", MODELS))), Lake()

    def run(*arguments, **driver):
        fake = FakeDriver(lake, **driver)
        with pytest.raises(SystemExit) as end:
            main([*arguments, "--log-format", "dbt-json", "--project-dir", str(root)], Host(start=Starts(fake)))
        found, err = capfd.readouterr()
        assert err == ""
        return [json.loads(line) for line in found.splitlines()], end.value.code

    return run


def of(found, name, node=None):
    return [
        each["data"]
        for each in found
        if each["info"]["name"] == name and (node is None or each["data"]["node_info"]["node_name"] == node)
    ]


def test_lines_have_the_keys_of_dbt(lines):
    found, status = lines("build", "--no-lint", faults={"bad": ["fails"]}, failures={"count(*)": 2})
    assert status == 1
    assert {name for name in KEYS if of(found, name)} >= {
        "LogModelResult",
        "LogTestResult",
        "RunResultError",
        "NodeFinished",
    }
    for each in found:
        assert set(each) == {"info", "data"}
        assert set(each["info"]) == INFO
        assert set(each["data"]) >= KEYS[each["info"]["name"]], each
        if "node_info" in each["data"]:
            assert set(each["data"]["node_info"]) >= NODE_INFO
            assert each["data"]["node_info"]["unique_id"].startswith(("model.shop.", "test.shop."))
    after = found[[each["info"]["name"] for each in found].index("MainReportVersion") :]
    assert len({each["info"]["invocation_id"] for each in after}) == 1


def test_each_node_starts_and_ends_once_with_its_status(lines):
    found, _ = lines("build", "--no-lint", faults={"bad": ["fails"]})
    ends = {each["node_info"]["node_name"]: each["node_info"]["node_status"] for each in of(found, "NodeFinished")}
    assert {name: ends[name] for name in MODELS} == {"a": "success", "b": "success", "bad": "error", "below": "skipped"}
    assert set(Counter(each["node_info"]["unique_id"] for each in of(found, "NodeFinished")).values()) == {1}
    started = {each["node_info"]["node_name"] for each in of(found, "NodeStart")}
    assert started == ends.keys() - {"below"}
    (end,) = of(found, "NodeFinished", "a")
    assert end["node_info"]["node_started_at"] < end["node_info"]["node_finished_at"]
    assert end["node_info"]["node_relation"]["relation_name"].endswith(".a")
    assert (end["node_info"]["materialized"], end["node_info"]["node_path"]) == ("merge", "a.sql")
    assert end["node_info"]["meta"] == {"owner": "x"}
    assert end["run_result"]["adapter_response"]["operation"] == "MERGE"
    assert not any(isinstance(value, (dict, list)) for value in end["run_result"]["adapter_response"].values())


def test_a_skip_below_a_failure_and_the_failure_itself_are_named(lines):
    found, _ = lines("build", "--no-lint", faults={"bad": ["fails"]})
    assert [each["node_name"] for each in of(found, "SkippingDetails")] == ["below"]
    (error,) = of(found, "RunResultError")
    assert error["node_info"]["node_name"] == "bad"
    assert "Division by zero" in error["msg"]
    assert {each["info"]["name"] for each in found if each["info"]["level"] == "error"} == {"RunResultError"}
    (stats,) = of(found, "StatsLine")
    assert stats["stats"] == {"pass": 3, "warn": 0, "error": 1, "skip": 1, "no-op": 0, "total": 5}
    (completed,) = of(found, "CommandCompleted")
    assert (completed["command"], completed["success"]) == ("build", False)


def test_what_had_nothing_to_do_ends_as_a_success(lines):
    for batch, status in ((7, "success"), (7, "no-op")):
        found, code = lines("run", "--batch-id", str(batch), "-s", "a")
        assert code == 0
        assert [each["status"] for each in of(found, "LogModelResult")] == [status]
        assert [each["node_info"]["node_status"] for each in of(found, "NodeFinished")] == ["success"]
        assert [each["run_result"]["status"] for each in of(found, "NodeFinished")] == [status]


@pytest.mark.parametrize("lines", [DAYS], indirect=True, ids=["batches"])
def test_a_model_of_which_a_batch_failed_is_an_error_with_its_own_status(lines):
    window = ("--event-time-start", "2026-01-01", "--event-time-end", "2026-01-04")
    found, code = lines("build", "--no-lint", *window, faults={"days": [None, "fails"]})
    assert code == 1
    assert [each["status"] for each in of(found, "LogModelResult")] == ["partial success"]
    (end,) = of(found, "NodeFinished")
    assert (end["node_info"]["node_status"], end["run_result"]["status"]) == ("error", "partial success")
    (error,) = of(found, "RunResultError")
    assert error["msg"].startswith("1 of 3 batches, ")
    assert of(found, "StatsLine")[0]["stats"]["error"] == 1
    assert [each["msg"].partition(":")[0] for each in of(found, "Note") if "days 2026" in each["msg"]] == [
        "days 2026-01-01/2026-01-02 success",
        "days 2026-01-02/2026-01-03 error",
        "days 2026-01-03/2026-01-04 skipped",
    ]


def test_listed_nodes_and_problems_are_lines_too(lines):
    found, status = lines("ls", "-s", "b", "--output", "json", "--output-keys", "name", "unique_id")
    assert status == 0
    assert [json.loads(each["msg"]) for each in of(found, "ListCmdOut")] == [{"name": "b", "unique_id": "model.shop.b"}]
    found, status = lines("ls", "-s", "config.nothing:1", "--selector", "nope")
    assert status == 2
    (problem,) = of(found, "MainEncounteredError")
    assert "exclude each other" in problem["msg"]


def test_quiet_lines_are_errors_and_the_end(lines):
    found, _ = lines("build", "--no-lint", "-q", faults={"bad": ["fails"]})
    assert [each["info"]["name"] for each in found] == ["RunResultError", "CommandCompleted"]
