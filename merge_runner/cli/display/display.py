"""Shows a run while it goes on: a live table on a terminal, plain lines elsewhere, JSON lines on request."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from merge_runner.cli.display.announcer import Announcer
from merge_runner.cli.display.merge_table import summary_lines
from merge_runner.cli.display.messages import coloured, counted, fitted, say, styled, terminal_columns
from merge_runner.columns import printable, printable_json
from merge_runner.run.results.event_types import (
    AuditFailed,
    BatchFinished,
    BatchStarted,
    BranchDropped,
    FreshnessFinished,
    HookFinished,
    InvocationFinished,
    MergesSummarised,
    Message,
    NodeBatchFinished,
    NodeFinished,
    NodeRetried,
    NodeStarted,
    NodeWaiting,
    NotificationFailed,
    PublishFinished,
    PublishRefused,
    ReportWritten,
    Running,
    SparkStarted,
    SparkStarting,
    StreamFinished,
    TableCompared,
    TablePublished,
)
from merge_runner.run.results.events import Event
from merge_runner.run.results.test_message import rows_and_query

if TYPE_CHECKING:
    from rich.live import Live

    from merge_runner.api import Driver

_MARKS = {
    "success": ("OK", "green"),
    "pass": ("PASS", "green"),
    "no-op": ("NO-OP", "cyan"),
    "warn": ("WARN", "yellow"),
    "skipped": ("SKIP", "yellow"),
    "fail": ("FAIL", "red"),
    "error": ("ERROR", "red"),
    "partial success": ("PART", "red"),
}
_RETRIED = {
    "conflict": "another writer was first",
    "transient": "what it ran on was lost, and nothing was committed",
    "commit_unknown": "its commit was not answered, and is not in the table",
    "lost": "the connection to Spark broke, and nothing was committed",
}
_DIFF = {"-": "red", "+": "green", "~": "yellow"}
"""What precedes a row that is missing, one that is not expected, and one that differs."""
_ENDS = (InvocationFinished, FreshnessFinished)
_REFRESH_SECONDS = 0.25
_HANGING = 8
"""How far the later lines of a node's message are indented."""


class Display(Protocol):
    """Shows the events of a run."""

    def __call__(self, event: Event) -> None:
        """Show an event."""

    def observe(self, driver: Driver) -> None:
        """The driver that runs."""

    def close(self) -> None:
        """Nothing more will be shown."""


class JsonDisplay:
    """Every event as one JSON line on standard error."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet

    def __call__(self, event: Event) -> None:
        if not self._quiet or event.level in ("warn", "error") or isinstance(event, _ENDS):
            sys.stderr.write(printable_json(json.dumps(event.as_json(), default=str)) + "\n")
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
        self._handlers: dict[type[Event], Callable[[Any], None]] = {
            SparkStarting: lambda event: self._line(f"starting Spark on {event.master}"),
            SparkStarted: lambda event: self._line(f"Spark is up after {event.seconds:.1f} s"),
            Message: lambda event: self._line(event.message),
            Running: self._on_running,
            BatchStarted: self._on_batch,
            BatchFinished: self._on_batch_end,
            StreamFinished: self._on_stream_end,
            NodeStarted: self._on_started,
            NodeBatchFinished: self._on_node_batch,
            NodeFinished: self._on_finished,
            NodeWaiting: lambda event: self._line(event.message, "yellow"),
            NodeRetried: self._on_retried,
            HookFinished: self._on_hook,
            AuditFailed: self._on_warning,
            NotificationFailed: self._on_warning,
            MergesSummarised: self._on_summary,
            TableCompared: lambda event: self._line(event.message),
            ReportWritten: lambda event: self._line(f"page of the run: {shown_path(event.path)}"),
            InvocationFinished: self._on_end,
            FreshnessFinished: self._on_end,
            TablePublished: self._on_published,
            BranchDropped: lambda event: self._line(f"dropped `{event.branch}` of {event.table}"),
            PublishRefused: lambda event: self._say(f"{styled('error', fg='red')}: {event.message}"),
            PublishFinished: self._on_publish_end,
        }

    def __call__(self, event: Event) -> None:
        handler = self._handlers.get(type(event))
        if handler is not None:
            handler(event)
        if self._debug:
            self._line(printable_json(json.dumps(event.as_json(), default=str)))

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

    def _on_running(self, event: Running) -> None:
        self._total = nodes = event.nodes
        if event.threads:
            self._line(f"running {counted(nodes, 'node')}, {event.threads} at a time")
        else:
            self._line(f"nothing has changed for {counted(nodes, 'node')}: Spark is not started")

    def _on_batch(self, event: BatchStarted) -> None:
        self._total, self._done = event.nodes, 0
        words = f"{event.stream}, batch {event.batch_id}: {counted(event.rows, 'row')}"
        if event.nodes:
            words += f" into {counted(event.nodes, 'model')}, {event.threads} at a time"
        self._line(words)

    def _on_batch_end(self, event: BatchFinished) -> None:
        if not event.ok:
            what = f"{event.stream}, batch {event.batch_id} has failed: it comes again with the next start"
            self._say(styled(what, fg="red"))
        else:
            self._line(f"{event.stream}, batch {event.batch_id} is done after {event.seconds:.2f} s")

    def _on_stream_end(self, event: StreamFinished) -> None:
        words = f"{event.stream}: {event.batches:,} batches, {counted(event.rows, 'row')}"
        if event.p50 is not None:
            words += f"; a batch took {event.p50:.2f} s (median), {event.p99:.2f} s (99th percentile)"
        self._line(words)

    def _on_started(self, event: NodeStarted) -> None:
        with self._lock:
            self._running[event.node] = (event.label, time.monotonic(), event.group)
        self.announcer.started(event.node, event.label, event.expected)

    def _announce(self, name: str, seconds: float) -> None:
        if self._live is not None or self._quiet:
            return
        margin = " " * (2 * len(str(self._total)) + 1)
        mark, time_shown = ("RUN", f"{seconds:6.0f} s") if seconds >= 1 else ("START", " " * 8)
        self._say(f"{margin} {mark:<5} {time_shown}  {name}")

    def _on_node_batch(self, event: NodeBatchFinished) -> None:
        batch = event.batch
        mark, colour = _MARKS[batch["status"]]
        seconds = f"{batch['seconds']:6.2f} s" if batch["status"] != "skipped" else " " * 8
        words = f"{event.label} {batch['start']}/{batch['end']}  {batch['message'] or ''}".rstrip()
        self._line(f"{' ' * (2 * len(str(self._total)) + 1)} {styled(f'{mark:<5}', fg=colour)} {seconds}  {words}")

    def _on_finished(self, event: NodeFinished) -> None:
        with self._lock:
            self._running.pop(event.node, None)
        self.announcer.finished(event.node)
        self._done += 1
        result = event.result
        mark, colour = _MARKS[result["status"]]
        bad = result["status"] in ("error", "fail", "partial success", "skipped", "warn")
        if self._quiet and not bad:
            return
        seconds = f"{result['execution_time']:6.2f} s" if result["timing"] else " " * 8
        width = len(str(self._total))
        message = _message(result)
        parts = [
            f"{self._done:{width}}/{self._total}",
            styled(f"{mark:<5}", fg=colour),
            f"{seconds} ",
            styled(event.label, bold=True),
            f" {_indented(message, differs='differences' in result.get('adapter_response', {}))}" if message else "",
        ]
        self._say(" ".join(parts).rstrip(), _HANGING)
        for warning in event.warnings:
            self._say(f"    {styled('warning', fg='yellow')}: {warning}")

    def _on_retried(self, event: NodeRetried) -> None:
        reason = _RETRIED[event.kind]
        self._line(f"{event.label}: {reason} ({event.code}); again in {event.pause:.1f} s", "yellow")

    def _on_summary(self, event: MergesSummarised) -> None:
        if self._quiet:
            return
        self.close()
        say("")
        for line in summary_lines(event.merges, event.hidden, event.hidden_hints):
            say(line)
        say("")

    def _on_end(self, event: InvocationFinished | FreshnessFinished) -> None:
        self.close()
        words = [f"{count} {status}" for status, count in event.counts.items()]
        say(styled(", ".join(words) or "nothing to do", fg="green" if event.ok else "red", bold=True))

    def _on_warning(self, event: AuditFailed | NotificationFailed) -> None:
        self._say(f"{styled('warning', fg='yellow')}: {event.message}")

    def _on_hook(self, event: HookFinished) -> None:
        if event.level == "error":
            self._say(f"{styled('error', fg='red')}: {event.message}")
        else:
            self._line(event.message)

    def _on_published(self, event: TablePublished) -> None:
        before = "" if event.before is None else f", was at {event.before}"
        self._line(f"published {event.table}: main is at {event.snapshot}{before}")

    def _on_publish_end(self, event: PublishFinished) -> None:
        outcomes = (
            (event.published, "published"),
            (event.already, "already published"),
            (event.dropped, "branches dropped"),
        )
        words = [f"{len(tables)} {what}" for tables, what in outcomes if tables]
        say(styled(", ".join(words) or "nothing done", fg="green" if event.ok else "red", bold=True))

    def _line(self, text: str, colour: str | None = None) -> None:
        if not self._quiet:
            self._say(styled(text, fg=colour) if colour else text)

    def _say(self, text: str, hanging: int = 4) -> None:
        if self._live is not None:
            from rich.text import Text

            fitting = fitted(printable(text, colours=coloured()), terminal_columns(sys.stderr), hanging)
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
            done, total, phase = self._progress(group)
            tasks = f"{done}/{total} tasks" if total else ""
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


def shown_path(path: str) -> str:
    """Return a path relative to the working directory where it is below it."""
    full_path, here = Path(path), Path.cwd()
    return str(full_path.relative_to(here)) if full_path.is_relative_to(here) else path


def _message(result: Mapping[str, Any]) -> str:
    """The message of a result; the table in that of a data test as wide as the terminal."""
    message: str = result["message"] or ""
    response = result.get("adapter_response", {})
    columns = terminal_columns(sys.stderr)
    if "failing_rows" not in response or columns is None:
        return message
    row_arguments = (response["failing_rows"], response["more_failing_rows"], response["compiled_path"])
    return "\n".join((message.partition("\n")[0], *rows_and_query(*row_arguments, columns - _HANGING)))


def _indented(message: str, differs: bool) -> str:
    """A message of several lines, the later ones under the first; those of a difference in the colours of a diff."""
    first, *others = message.split("\n")
    if differs:
        others = [styled(line, fg=_DIFF.get(line.strip()[:1])) for line in others]
    return f"\n{' ' * _HANGING}".join((first, *others))
