"""Shows a run while it goes on: a live table on a terminal, plain lines elsewhere, JSON lines on request."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from merge_runner.cli.display.announcer import Announcer
from merge_runner.cli.display.merge_table import summary_lines
from merge_runner.cli.display.messages import coloured, counted, fitted, printable, say, styled, terminal_columns
from merge_runner.run.results.events import Event
from merge_runner.run.results.test_message import rows_and_query

if TYPE_CHECKING:
    from rich.live import Live

    from merge_runner.engine.driver.driver import Driver

_MARKS = {
    "success": ("OK", "green"),
    "pass": ("PASS", "green"),
    "no-op": ("NO-OP", "cyan"),
    "warn": ("WARN", "yellow"),
    "skipped": ("SKIP", "yellow"),
    "fail": ("FAIL", "red"),
    "error": ("ERROR", "red"),
}
_RETRIED = {
    "conflict": "another writer was first",
    "transient": "what it ran on was lost, and nothing was committed",
    "commit_unknown": "its commit was not answered, and is not in the table",
    "lost": "the connection to Spark broke, and nothing was committed",
}
_DIFF = {"-": "red", "+": "green", "~": "yellow"}
"""What precedes a row that is missing, one that is not expected, and one that differs."""
_ENDS = ("invocation_finished", "freshness_finished")
_REFRESH_SECONDS = 0.25
_HANGING = 8
"""How far the later lines of a node's message are indented."""


class JsonDisplay:
    """Every event as one JSON line on standard error."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet

    def __call__(self, event: Event) -> None:
        if not self._quiet or event.level in ("warn", "error") or event.name in _ENDS:
            sys.stderr.write(json.dumps(event.as_json(), default=str) + "\n")
            sys.stderr.flush()

    def observe(self, driver: Driver) -> None:
        """Nothing to show of a driver."""

    def close(self) -> None:
        """Nothing to close."""


class TextDisplay:
    """A line when a node ends, and on a terminal a live view of what runs below them."""

    def __init__(self, quiet: bool, debug: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._quiet = quiet
        self._debug = debug
        self.announcer = Announcer(self._announce, clock)
        """Announces what takes long where there is no live view."""
        self._total = 0
        self._done = 0
        self._running: dict[str, tuple[str, float, str]] = {}
        self._driver: Driver | None = None
        self._live: Live | None = None
        self._lock = threading.Lock()
        self._handlers: dict[str, Callable[[dict[str, Any]], None]] = {
            "spark_starting": lambda data: self._line(f"starting Spark on {data['master']}"),
            "spark_started": lambda data: self._line(f"Spark is up after {data['seconds']:.1f} s"),
            "message": lambda data: self._line(data["message"]),
            "running": self._on_running,
            "batch_started": self._on_batch,
            "batch_finished": self._on_batch_end,
            "stream_finished": self._on_stream_end,
            "node_started": self._on_started,
            "node_finished": self._on_finished,
            "node_waiting": lambda data: self._line(data["message"], "yellow"),
            "node_retried": self._on_retried,
            "audit_failed": lambda data: self._say(f"{styled('warning', fg='yellow')}: {data['message']}"),
            "merges_summarised": self._on_summary,
            "invocation_finished": self._on_end,
            "freshness_finished": self._on_end,
            "table_published": self._on_published,
            "branch_dropped": lambda data: self._line(f"dropped `{data['branch']}` of {data['table']}"),
            "publish_refused": lambda data: self._say(f"{styled('error', fg='red')}: {data['message']}"),
            "publish_finished": self._on_publish_end,
        }

    def __call__(self, event: Event) -> None:
        handler = self._handlers.get(event.name)
        if handler is not None:
            handler(dict(event.data))
        if self._debug:
            self._line(json.dumps(event.as_json(), default=str))

    def observe(self, driver: Driver) -> None:
        """The driver whose tasks the live view counts."""
        self._driver = driver
        if self._quiet or self._live is not None:
            return
        if coloured() and sys.stderr.isatty():
            self._start_live()
        else:
            self.announcer.start()

    def close(self) -> None:
        """Ends the live view, and announces nothing more."""
        self.announcer.stop()
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _on_running(self, data: dict[str, Any]) -> None:
        self._total = nodes = data["nodes"]
        self._line(f"running {counted(nodes, 'node')}, {data['threads']} at a time")

    def _on_batch(self, data: dict[str, Any]) -> None:
        self._total, self._done = data["nodes"], 0
        words = f"{data['stream']}, batch {data['batch_id']}: {counted(data['rows'], 'row')}"
        if data["nodes"]:
            words += f" into {counted(data['nodes'], 'model')}, {data['threads']} at a time"
        self._line(words)

    def _on_batch_end(self, data: dict[str, Any]) -> None:
        if not data["ok"]:
            what = f"{data['stream']}, batch {data['batch_id']} has failed: it comes again with the next start"
            self._say(styled(what, fg="red"))
        else:
            self._line(f"{data['stream']}, batch {data['batch_id']} is done after {data['seconds']:.2f} s")

    def _on_stream_end(self, data: dict[str, Any]) -> None:
        words = f"{data['stream']}: {data['batches']:,} batches, {counted(data['rows'], 'row')}"
        if data["p50"] is not None:
            words += f"; a batch took {data['p50']:.2f} s (median), {data['p99']:.2f} s (99th percentile)"
        self._line(words)

    def _on_started(self, data: dict[str, Any]) -> None:
        with self._lock:
            self._running[data["node"]] = (data["label"], time.monotonic(), data["group"])
        self.announcer.started(data["node"], data["label"], data.get("expected"))

    def _announce(self, name: str, seconds: float) -> None:
        if self._live is not None or self._quiet:
            return
        margin = " " * (2 * len(str(self._total)) + 1)
        mark, shown = ("RUN", f"{seconds:6.0f} s") if seconds >= 1 else ("START", " " * 8)
        self._say(f"{margin} {mark:<5} {shown}  {name}")

    def _on_finished(self, data: dict[str, Any]) -> None:
        with self._lock:
            self._running.pop(data["node"], None)
        self.announcer.finished(data["node"])
        self._done += 1
        result = data["result"]
        mark, colour = _MARKS[result["status"]]
        bad = result["status"] in ("error", "fail", "skipped", "warn")
        if self._quiet and not bad:
            return
        seconds = f"{result['execution_time']:6.2f} s" if result["timing"] else " " * 8
        width = len(str(self._total))
        message = _message(result)
        parts = [
            f"{self._done:{width}}/{self._total}",
            styled(f"{mark:<5}", fg=colour),
            f"{seconds} ",
            styled(data["label"], bold=True),
            f" {_indented(message, differs='differences' in result.get('adapter_response', {}))}" if message else "",
        ]
        self._say(" ".join(parts).rstrip(), _HANGING)
        for warning in result["warnings"]:
            self._say(f"    {styled('warning', fg='yellow')}: {warning}")

    def _on_retried(self, data: dict[str, Any]) -> None:
        reason = _RETRIED[data["kind"]]
        self._line(f"{data['label']}: {reason} ({data['code']}); again in {data['pause']:.1f} s", "yellow")

    def _on_summary(self, data: dict[str, Any]) -> None:
        if self._quiet:
            return
        self.close()
        say("")
        for line in summary_lines(data["merges"], data["hidden"], data["hidden_hints"]):
            say(line)
        say("")

    def _on_end(self, data: dict[str, Any]) -> None:
        self.close()
        words = [f"{count} {status}" for status, count in data["counts"].items()]
        say(styled(", ".join(words) or "nothing to do", fg="green" if data["ok"] else "red", bold=True))

    def _on_published(self, data: dict[str, Any]) -> None:
        before = "" if data["before"] is None else f", was at {data['before']}"
        self._line(f"published {data['table']}: main is at {data['snapshot']}{before}")

    def _on_publish_end(self, data: dict[str, Any]) -> None:
        said = (("published", "published"), ("already", "already published"), ("dropped", "branches dropped"))
        words = [f"{len(data[key])} {what}" for key, what in said if data[key]]
        say(styled(", ".join(words) or "nothing done", fg="green" if data["ok"] else "red", bold=True))

    def _line(self, text: str, colour: str | None = None) -> None:
        if not self._quiet:
            self._say(styled(text, fg=colour) if colour else text)

    def _say(self, text: str, hanging: int = 4) -> None:
        if self._live is not None:
            from rich.text import Text

            fitting = fitted(printable(text), terminal_columns(sys.stderr), hanging)
            self._live.console.print(Text.from_ansi(fitting), soft_wrap=True)
        else:
            say(text, hanging=hanging)

    def _start_live(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._live = Live(
            console=Console(stderr=True),
            get_renderable=self._view,
            refresh_per_second=1 / _REFRESH_SECONDS,
            transient=True,
        )
        self._live.start()

    def _view(self) -> Any:
        from rich.spinner import Spinner
        from rich.table import Table

        table = Table.grid(padding=(0, 2))
        with self._lock:
            running = list(self._running.values())
        for name, since, group in running:
            done, known, phase = self._progress(group)
            tasks = f"{done}/{known} tasks" if known else ""
            table.add_row(Spinner("dots"), name, phase, tasks, f"{time.monotonic() - since:.0f} s")
        return table

    def _progress(self, group: str) -> tuple[int, int, str]:
        """Tasks done and known, and the phase of a MERGE that the latest job belongs to."""
        if self._driver is None:
            return 0, 0, ""
        try:
            return (*self._driver.tasks(group), self._driver.phase(group) or "")
        except Exception:  # the driver may be gone, which the results will report
            return 0, 0, ""


def _message(result: dict[str, Any]) -> str:
    """The message of a result; the table in that of a data test as wide as the terminal."""
    message: str = result["message"] or ""
    response = result.get("adapter_response", {})
    columns = terminal_columns(sys.stderr)
    if "failing_rows" not in response or columns is None:
        return message
    shown = (response["failing_rows"], response["more_failing_rows"], response["compiled_path"])
    return "\n".join((message.partition("\n")[0], *rows_and_query(*shown, columns - _HANGING)))


def _indented(message: str, differs: bool) -> str:
    """A message of several lines, the later ones under the first; those of a difference in the colours of a diff."""
    first, *others = message.split("\n")
    if differs:
        others = [styled(line, fg=_DIFF.get(line.strip()[:1])) for line in others]
    return f"\n{' ' * _HANGING}".join((first, *others))
