"""The options of commands that run nodes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from merge_runner.formats.branches import branch_name
from merge_runner.options.declaration import flag, option
from merge_runner.options.project import Defer, FullRefresh, ProjectOptions, Selection
from merge_runner.plan.load.sample import read_sample
from merge_runner.project.syntax.duration import seconds
from merge_runner.project.syntax.point_in_time import read_time
from merge_runner.project.syntax.size import byte_count

LARGEST_BATCH = 2**63 - 1
"""Delta keeps the version of an application's transactions as a Java long."""


def read_branch(text: str) -> str:
    """Return the name of a branch. Raises ValueError where it is none."""
    return branch_name(text)


def _duration(text: str) -> float:
    """Seconds of a text such as `90`, `36h` or `7d`."""
    try:
        return seconds(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not {error}.") from None


def _size(text: str) -> int:
    """Bytes of a text such as `50 GiB`."""
    try:
        return byte_count(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not {error}.") from None


def _time(text: str) -> str:
    """Return a point in time as it is given. Raises ValueError where it is none."""
    read_time(text)
    return text


def _window(text: str) -> str:
    """Return a window of `--sample` as it is given. Raises ValueError where it is none."""
    read_sample(text, datetime.now(timezone.utc))
    return text


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Linting(ProjectOptions):
    """For `build`."""

    no_lint: bool = flag("--no-lint", recorded=True, help="Do not lint first; errors of lint stop a build.")


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Running(ProjectOptions):
    """For commands that run models."""

    threads: int | None = option(
        "--threads", least=1, recorded=True, help="Models to run in parallel; default: the profile's."
    )
    fail_fast: bool = flag("-x", "--fail-fast", recorded=True, help="Stop, and cancel what runs, at the first failure.")


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Batch(ProjectOptions):
    """For commands that run merges."""

    batch_id: int | None = option(
        "--batch-id",
        least=0,
        most=LARGEST_BATCH,
        recorded=True,
        help="A whole number that grows; a merge that has committed for it, or a later one, is not run again.",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Windows(ProjectOptions):
    """For commands that run models with batches."""

    event_time_start: str | None = option(
        "--event-time-start",
        metavar="TIME",
        parse=_time,
        recorded=True,
        help="Run the batches from this time on (UTC), due or not, e.g. 2026-01-31 or '2026-01-31 18:00:00'.",
    )
    event_time_end: str | None = option(
        "--event-time-end",
        metavar="TIME",
        parse=_time,
        recorded=True,
        help="With --event-time-start: run the batches that begin before this time (UTC). Default: now.",
    )
    partial: bool = flag(
        "--partial", recorded=True, help="Run the children of a model where only some of its batches succeeded."
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Branch(ProjectOptions):
    """For commands that run nodes."""

    branch: str | None = option(
        "--branch",
        metavar="NAME",
        parse=read_branch,
        recorded=True,
        help="Write this branch of every Iceberg table instead of main, and read it; `publish` moves main to it.",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Reusing(ProjectOptions):
    """For commands that build models."""

    no_reuse: bool = flag("--no-reuse", recorded=True, help="Run every node, though its inputs may not have changed.")
    fresh: bool = flag(
        "--fresh", recorded=True, help="The same, and let the next build leave out what has not changed."
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Budget(ProjectOptions):
    """For commands that build models."""

    max_scanned: int | None = option(
        "--max-scanned",
        metavar="SIZE",
        parse=_size,
        recorded=True,
        help="Refuse a merge with which the merges of this run would read more of their targets, e.g. '50 GiB'.",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Comparing(ProjectOptions):
    """For commands that build models."""

    diff: bool = flag(
        "--diff", recorded=True, help="At the end, compare each table that was written with its version before the run."
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Sampling(ProjectOptions):
    """For commands that run models."""

    empty: bool = flag(
        "--empty",
        recorded=True,
        help="Read no rows of refs and sources: a dry run of the schemas, in tables without other rows.",
    )
    sample: str | None = option(
        "--sample",
        metavar="WINDOW",
        parse=_window,
        recorded=True,
        help="Of what has an event_time, read only '3 days', or '{start: 2026-01-01, end: 2026-02-01}'.",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Junit(ProjectOptions):
    """For commands that run tests."""

    junit: Path | None = option(
        "--junit", path="file", help="Also write the results to this file, as JUnit XML for CI servers."
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Reporting(ProjectOptions):
    """For commands that run nodes."""

    report: Path | None = option(
        "--report", path="file", help="Write the page of the run to this file, too; it is target/run_report.html."
    )
    open_page: bool = flag("--open", help="Open the page of the run in a browser.")


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Maintaining(ProjectOptions):
    """For `optimize`."""

    vacuum: bool = flag(
        "--vacuum",
        recorded=True,
        help="Also remove old files (Delta's VACUUM) and old snapshots (Iceberg's expire_snapshots).",
    )
    retain: float | None = option(
        "--retain",
        metavar="DURATION",
        parse=_duration,
        recorded=True,
        help="With --vacuum: how long old files are kept, e.g. 14d. Default, and least: as long as the table says.",
    )


@dataclass(frozen=True)
class NodeOptions(
    Maintaining,
    Linting,
    Selection,
    Defer,
    Running,
    Budget,
    Comparing,
    Batch,
    Windows,
    Branch,
    Reusing,
    Sampling,
    Junit,
    Reporting,
    FullRefresh,
):
    """What `build`, `run`, `test`, `optimize` and `retry` may be asked; what one does not offer has its default."""

    @property
    def is_sampled(self) -> bool:
        """Whether models do not read all rows of their inputs."""
        return self.empty or self.sample is not None


class OptionConflictError(ValueError):
    """Two options exclude each other; the message is a sentence that names them."""


def check_conflicts(options: NodeOptions) -> None:
    """Raise OptionConflictError for options that exclude each other."""
    if options.diff and options.branch is not None:
        message = "--diff compares with main before the run, and --branch does not write it: `diff --branch` compares."
        raise OptionConflictError(message)
    if options.empty and options.sample is not None:
        raise OptionConflictError("--empty reads no rows, and --sample some: give one of them.")
    check_event_times(options.event_time_start, options.event_time_end)
    if options.event_time_start is not None and options.is_sampled:
        raise OptionConflictError("--event-time-start chooses batches, and --empty and --sample do: give one of them.")
    name = "--empty" if options.empty else "--sample"
    if options.is_sampled and options.batch_id is not None:
        message = f"{name} with --batch-id would record the batch without its rows: leave one of them out."
        raise OptionConflictError(message)
    if options.is_sampled and options.branch is not None:
        message = f"{name} writes separate tables, and --branch those that exist: leave one of them out."
        raise OptionConflictError(message)


def check_event_times(start: str | None, end: str | None) -> None:
    """Raise OptionConflictError for times of batches that are no window."""
    if end is not None and start is None:
        raise OptionConflictError("--event-time-end needs --event-time-start.")
    if start is not None and end is not None and read_time(start) >= read_time(end):
        raise OptionConflictError("--event-time-end is not after --event-time-start.")


@dataclass(frozen=True)
class StreamOptions(Selection):
    """The options of `stream`."""

    available_now: bool = flag("--available-now", recorded=True, help="Read what is available now, then stop.")
    threads: int | None = option(
        "--threads", least=1, recorded=True, help="Models to run in parallel; default: the profile's."
    )
