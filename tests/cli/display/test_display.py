"""What a run looks like: lines off a terminal, JSON on request, a live view on a terminal."""

import json
import os
import pty
import re
import select
import sys
import threading

import pytest

from merge_runner.cli.display.display import JsonDisplay, TextDisplay
from merge_runner.columns import width
from merge_runner.run.results.event_types import (
    BatchStarted,
    InvocationFinished,
    MergesSummarised,
    NodeFinished,
    NodeRetried,
    NodeStarted,
    NodeWaiting,
    Running,
    SparkStarted,
    SparkStarting,
)
from merge_runner.run.results.events import Events


def result(status="success", message="", seconds=1.25):
    return {
        "status": status,
        "message": message,
        "execution_time": seconds,
        "timing": [] if status == "skipped" else [{}],
    }


def play(display):
    """The events of a small run."""
    events = Events(display)
    events.emit(SparkStarting(master="local[2]"))
    events.emit(SparkStarted(seconds=3.2))
    events.emit(Running(nodes=3, threads=2))
    events.emit(NodeStarted(node="model.p.a", name="a", label="a", group="g/a", expected=None))
    events.emit(
        NodeFinished(node="model.p.a", name="a", label="a", result=result(message="2 inserted"), warnings=["t: drift"])
    )
    events.emit(NodeStarted(node="model.p.b", name="b", label="b", group="g/b", expected=None))
    events.emit(NodeWaiting(node="model.p.b", message="t is being written by process 7: waiting for it"))
    events.emit(
        NodeFinished(
            node="model.p.b",
            name="b",
            label="b",
            result=result("error", "models/b.sql:1:2: no\n    try"),
            level="error",
        )
    )
    events.emit(
        NodeFinished(node="model.p.c", name="c", label="c", result=result("skipped", "skipped because b failed"))
    )
    events.emit(InvocationFinished(counts={"success": 1, "error": 1, "skipped": 1}, ok=False))
    display.close()


def test_off_a_terminal_each_node_is_a_line(capfd):
    play(TextDisplay(quiet=False, debug=False))
    out, err = capfd.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "starting Spark on local[2]",
        "Spark is up after 3.2 s",
        "running 3 nodes, 2 at a time",
        "1/3 OK      1.25 s  a  2 inserted",
        "    warning: t: drift",
        "t is being written by process 7: waiting for it",
        "2/3 ERROR   1.25 s  b  models/b.sql:1:2: no",
        "            try",
        "3/3 SKIP            c  skipped because b failed",
        "1 success, 1 error, 1 skipped",
    ]


def test_a_batch_tells_how_many_models_it_feeds_and_how_many_of_them_at_once(capfd):
    events = Events(TextDisplay(quiet=False, debug=False))
    for nodes, rows in ((7, 1200), (1, 1), (0, 0)):
        events.emit(BatchStarted(stream="crm.changes", batch_id=nodes, rows=rows, nodes=nodes, threads=2))
    assert capfd.readouterr().err.splitlines() == [
        "crm.changes, batch 7: 1,200 rows into 7 models, 2 at a time",
        "crm.changes, batch 1: 1 row into 1 model, 2 at a time",
        "crm.changes, batch 0: 0 rows",
    ]


def test_quiet_shows_what_went_wrong_and_the_count(capfd):
    play(TextDisplay(quiet=True, debug=False))
    assert [line.split()[1] for line in capfd.readouterr().err.splitlines() if line[0].isdigit()] == [
        "ERROR",
        "SKIP",
        "success,",
    ]


def test_json_is_one_event_a_line(capfd):
    play(JsonDisplay(quiet=False))
    events = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [event["event"] for event in events][:3] == ["spark_starting", "spark_started", "running"]
    assert events[-1]["counts"] == {"success": 1, "error": 1, "skipped": 1}
    assert {"level", "at"} <= events[0].keys()


class FakeDriver:
    """Has tasks to tell of the first six times it is asked, and is gone afterwards."""

    def __init__(self):
        self.asked = 0
        self.gone = threading.Event()

    def tasks(self, group):
        assert group == "g/a"
        self.asked += 1
        if self.asked > 6:
            self.gone.set()
            raise ConnectionError
        return 3, 8

    def phase(self, group):
        return "rewrite"


@pytest.fixture
def terminal(monkeypatch):
    """Makes standard error a pseudo terminal when it is called; gives a function that returns what was written to it."""
    leader, follower = pty.openpty()
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    with os.fdopen(follower, "w", encoding="utf-8") as stream:

        def written():
            stream.flush()
            text = b""
            while select.select([leader], [], [], 0.2)[0]:  # a terminal gives what it has in pieces
                text += os.read(leader, 1 << 16)
            return text.decode()

        def attach():
            monkeypatch.setattr(sys, "stderr", stream)
            return written

        yield attach
    os.close(leader)


def test_on_a_terminal_what_runs_is_shown_with_tasks_and_time(terminal):
    written = terminal()
    driver = FakeDriver()
    display = TextDisplay(quiet=False, debug=False)
    events = Events(display)
    events.emit(Running(nodes=1, threads=2))
    events.emit(NodeStarted(node="model.p.a", name="a", label="a", group="g/a", expected=None))
    display.observe(driver)
    assert driver.gone.wait(10)
    events.emit(NodeFinished(node="model.p.a", name="a", label="a", result=result()))
    events.emit(InvocationFinished(counts={"success": 1}, ok=True))
    text = written()
    assert "3/8 tasks" in text
    assert "rewrite" in text
    assert "\x1b[1ma\x1b[0m" in text
    assert "1 success" in text


MERGE = {
    "name": "fct",
    "seconds": 2.5,
    **{"files_scanned": 30, "files_total": 30},
    **{"rows_inserted": 1, "rows_updated": 2, "rows_deleted": 0, "rows_copied": 10, "copied_per_change": 5.0},
    "hints": ["all 30 files were scanned"],
}
TABLE = [
    "",
    "merge  seconds  files scanned  inserted  updated  deleted  copied",
    "fct        2.5       30 of 30         1        2        0    5.0x",
    "    hint: all 30 files were scanned",
    "",
]


def finish(display):
    events = Events(display)
    events.emit(MergesSummarised(merges=[MERGE], hidden=0, hidden_hints=0))
    events.emit(InvocationFinished(counts={"success": 1}, ok=True))
    display.close()


def test_the_merges_are_told_before_the_count(capfd):
    finish(TextDisplay(quiet=False, debug=False))
    assert capfd.readouterr().err.splitlines() == [*TABLE, "1 success"]
    finish(TextDisplay(quiet=True, debug=False))
    assert capfd.readouterr().err.splitlines() == ["1 success"]
    finish(JsonDisplay(quiet=False))
    assert json.loads(capfd.readouterr().err.splitlines()[0])["merges"] == [MERGE]


def test_on_a_terminal_the_table_follows_the_live_view(terminal):
    written = terminal()
    display = TextDisplay(quiet=False, debug=False)
    events = Events(display)
    events.emit(NodeStarted(node="model.p.fct", name="fct", label="fct", group="g/a", expected=None))
    display.observe(FakeDriver())
    events.emit(NodeFinished(node="model.p.fct", name="fct", label="fct", result=result()))
    finish(display)
    text = written()
    assert f"\x1b[1m{TABLE[1]}\x1b[0m" in text
    assert "\x1b[33mhint\x1b[0m: all 30 files were scanned" in text
    assert text.index("5.0x") < text.index("1 success")


@pytest.mark.parametrize("columns", [60, 80, 100])
@pytest.mark.parametrize("live", [True, False])
def test_on_a_terminal_lines_end_between_words(terminal, monkeypatch, columns, live):
    monkeypatch.setenv("COLUMNS", str(columns))
    message = "models/facts/fct_flight.sql:33:18: s.updatd_at cannot be resolved in UPDATE condition, 漢字 漢字 漢字 漢字 漢字"
    warning = "the column channel is in the table and is not declared: declare it, or drop it with ALTER TABLE"
    written = terminal()
    display = TextDisplay(quiet=False, debug=False)
    if live:
        display.observe(FakeDriver())
    event = result("error", f"{message}\n    {warning}")
    named = {"node": "model.p.a", "name": "fct_flight", "label": "fct_flight"}
    Events(display).emit(NodeFinished(**named, result=event, warnings=[warning], level="error"))
    display.close()
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line).rstrip() for line in re.split(r"[\r\n]+", written())]
    assert max(map(width, lines)) <= columns
    words = " ".join(lines).split()
    assert words == f"1/0 ERROR 1.25 s fct_flight {message} {warning} warning: {warning}".split()


ROW = {"order_id": 1, "status": "open", "note": "x" * 30}
FAILED = {
    **result("fail", "models/m.yml:7:13: 2 failures\n| drawn for artifacts |\nquery: target/compiled/q.sql"),
    "adapter_response": {
        "failing_rows": [ROW, ROW],
        "more_failing_rows": True,
        "compiled_path": "target/compiled/q.sql",
    },
}


def test_failing_rows_are_as_wide_as_the_terminal(terminal, monkeypatch, capfd):
    monkeypatch.setenv("COLUMNS", "60")
    written = terminal()
    TextDisplay(quiet=False, debug=False)(NodeFinished(node="t", name="t", label="t", result=FAILED, level="error"))
    lines = [line.rstrip() for line in written().splitlines()]
    assert lines[-7:] == [
        "        | order_id | status |",
        "        | -------- | ------ |",
        "        |        1 | open   |",
        "        |        1 | open   |",
        "        … 1 more column",
        "        … only 2 rows are shown",
        "        query: target/compiled/q.sql",
    ]


def test_off_a_terminal_failing_rows_are_those_of_the_artifacts(capfd):
    TextDisplay(quiet=False, debug=False)(NodeFinished(node="t", name="t", label="t", result=FAILED, level="error"))
    assert "        | drawn for artifacts |" in capfd.readouterr().err.splitlines()


def test_a_statement_that_runs_again_says_why(capsys):
    from merge_runner.formats.failures import MOST_RETRIES

    display = TextDisplay(quiet=False, debug=False)
    events = Events(display)
    kinds = [kind.value for kind, most in MOST_RETRIES.items() if most]
    for kind in kinds:
        events.emit(
            NodeRetried(
                node="m", name="fct", label="fct", code="CODE", kind=kind, attempt=1, pause=0.5, message="it failed"
            )
        )
    told = capsys.readouterr().err.splitlines()
    assert [line.endswith("(CODE); again in 0.5 s") for line in told] == [True] * len(kinds)
    assert told[0].startswith("fct: another writer was first")


def test_what_comes_from_data_moves_no_cursor_and_sets_no_title():
    from merge_runner.cli.display.messages import styled
    from merge_runner.columns import printable

    told = f"{styled('error', fg='red')}: \x1b]0;title\x07 \x1b[2J\x1b[31mred\x1b[0m\r\nnext\tline\x9b1A\x00"
    assert (
        printable(told, colours=True)
        == f"{styled('error', fg='red')}: \\x1b]0;title\\x07 \\x1b[2J\x1b[31mred\x1b[0m\nnext\tline\\x9b1A\\x00"
    )
