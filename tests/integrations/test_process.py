"""A process of merge-runner as an orchestrator sees it: its events, its end, and what it says of a failure."""

import json
import os

import pytest

from merge_runner.errors import ProblemsError
from merge_runner.integrations.process import Process

EVENT = json.dumps({"event": "spark_started", "at": "2026-01-01", "level": "info", "seconds": 1.5})
PROBLEM = json.dumps({"event": "message", "at": "2026-01-01", "level": "error", "message": "no such target"})
FAILED = json.dumps({"event": "invocation_failed", "at": "2026-01-01", "level": "error", "problems": ["p1", "p2"]})


@pytest.fixture
def process(tmp_path):
    def start(script):
        return Process(["sh", "-c", script], tmp_path, os.environ)

    return start


@pytest.mark.parametrize(
    ("script", "events", "status", "reason"),
    [
        (f"echo '{EVENT}'", ["spark_started"], 0, "exit status 0"),
        (f"echo '{EVENT}'; echo '{PROBLEM}' >&2; exit 2", ["spark_started", "message"], 2, "no such target"),
        (f"echo '{FAILED}'; exit 2", ["invocation_failed"], 2, "p1\np2"),
        ("echo Usage; echo '{\"a\": 1'; exit 2", ["message", "message"], 2, 'Usage\n{"a": 1'),
        ("exit 3", [], 3, "exit status 3"),
    ],
)
def test_events_and_the_reason_of_a_failure(process, script, events, status, reason):
    found = process(script)
    assert [event["event"] for event in found.events()] == events
    assert (found.returncode, found.reason()) == (status, reason)


def test_a_process_whose_events_are_not_read_to_the_end_is_interrupted(process, tmp_path):
    found = process(f"trap 'echo cancelled > ended; exit 2' INT; echo '{EVENT}'; while :; do sleep 0.05; done")
    events = found.events()
    assert next(events)["seconds"] == 1.5
    events.close()
    assert found.returncode == 2
    assert (tmp_path / "ended").read_text() == "cancelled\n"
    found.stop()


def test_an_executable_that_is_none_is_a_problem(tmp_path):
    with pytest.raises(ProblemsError, match="does not start"):
        Process([str(tmp_path / "merge-runner")], tmp_path, os.environ)
