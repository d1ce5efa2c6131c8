"""The journal: a line for each event, whole lines only."""

import json
import resource
import signal

import pytest

from merge_runner.errors import ProblemsError
from merge_runner.run.results.event_types import Message, SparkStarting
from merge_runner.run.results.events import Events
from merge_runner.run.results.journal import Journal


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_event_is_on_disk_as_soon_as_it_is_emitted(tmp_path):
    path = tmp_path / "target" / "journal.jsonl"
    with Journal(path) as journal:
        events = Events(journal)
        events.emit(SparkStarting(master="local[2]"))
        assert [(line["event"], line["master"]) for line in lines(path)] == [("spark_starting", "local[2]")]
        events.emit(Message("gone", level="error"))
    assert [line["level"] for line in lines(path)] == ["info", "error"]


def test_a_second_run_appends(tmp_path):
    path = tmp_path / "journal.jsonl"
    for name in ("first", "second"):
        with Journal(path) as journal:
            Events(journal).emit(Message(name))
    assert [line["message"] for line in lines(path)] == ["first", "second"]


def test_the_half_line_of_a_killed_run_is_ended_before_the_next_event(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text('{"event": "one"}\n{"event": "tw')
    with Journal(path) as journal:
        Events(journal).emit(Message("three"))
    assert path.read_text().splitlines()[1] == '{"event": "tw'
    assert json.loads(path.read_text().splitlines()[2])["message"] == "three"


@pytest.fixture
def room():
    """Lets files grow up to so many bytes and no further, as a full disk does; None: as far as they like."""
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, most = limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (most if size is None else size, most))
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, handler)


def test_an_event_that_finds_no_room_stops_nobody_and_spoils_no_other(tmp_path, room):
    path = tmp_path / "journal.jsonl"
    heard = []
    with Journal(path) as journal:
        events = Events(journal, lambda event: heard.append(event.message))
        events.emit(Message("one"))
        room(path.stat().st_size + 20)
        events.emit(Message("two"))
        events.emit(Message("three"))
        room(None)
        events.emit(Message("four"))
    assert heard == ["one", "two", "three", "four"]
    assert journal.failure is not None
    text = path.read_text().splitlines()
    assert [json.loads(line)["message"] for line in (text[0], text[-1])] == ["one", "four"]
    assert len(text[1]) == 20


def test_nothing_runs_where_the_journal_cannot_say_that_it_begins(make_project, room):
    from merge_runner import Project

    root = make_project({"models/m.sql": "{{ config(materialized='table') }} select 1 as n"})
    project = Project.load(root)
    room(10)
    with pytest.raises(ProblemsError, match=r"journal\.jsonl: .*: nothing has run"):
        project.build(lint=False)
    room(None)  # before pytest itself writes, maybe into a file
