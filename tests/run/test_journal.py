"""The journal: a line for each event, whole lines only."""

import json

from merge_runner.run.events import Events
from merge_runner.run.journal import Journal


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_event_is_on_disk_as_soon_as_it_is_emitted(tmp_path):
    path = tmp_path / "target" / "journal.jsonl"
    with Journal(path) as journal:
        events = Events(journal)
        events.emit("node_started", node="model.p.a")
        assert [(line["event"], line["node"]) for line in lines(path)] == [("node_started", "model.p.a")]
        events.emit("node_finished", "error", node="model.p.a")
    assert [line["level"] for line in lines(path)] == ["info", "error"]


def test_a_second_run_appends(tmp_path):
    path = tmp_path / "journal.jsonl"
    for name in ("first", "second"):
        with Journal(path) as journal:
            Events(journal).emit(name)
    assert [line["event"] for line in lines(path)] == ["first", "second"]


def test_the_half_line_of_a_killed_run_is_ended_before_the_next_event(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text('{"event": "one"}\n{"event": "tw')
    with Journal(path) as journal:
        Events(journal).emit("three")
    assert path.read_text().splitlines()[1] == '{"event": "tw'
    assert json.loads(path.read_text().splitlines()[2])["event"] == "three"
