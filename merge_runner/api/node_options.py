"""The options of the methods that run nodes: each stands once, and a method takes a group of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from merge_runner.api.arguments import Names, as_path, texts
from merge_runner.formats.branches import branch_name
from merge_runner.options.nodes import LARGEST_BATCH, NodeOptions
from merge_runner.project.syntax.size import byte_count

if TYPE_CHECKING:
    from merge_runner.engine.driver.driver import Driver
    from merge_runner.run.results.events import Listener
    from merge_runner.run.settings import Mode


class DriverOptions(TypedDict, total=False):
    """The options of every method that runs Spark."""

    on_event: Listener | None
    """Receives every event, one at a time, in whatever thread it happens."""
    driver: Driver | None
    """A running driver to use, and to leave running; None: one is started as the profile says."""


class ThreadOptions(DriverOptions, total=False):
    """How many nodes run in parallel."""

    threads: int | None
    """Nodes to run in parallel; None: as the profile says."""


class RunOptions(ThreadOptions, total=False):
    """The options of every method that runs nodes."""

    fail_fast: bool
    """Whether the first failure stops the run, and cancels what runs."""


class SelectorOptions(TypedDict, total=False):
    """A selection by name."""

    selector: str | None
    """A named selection of selectors.yml."""


class StateOptions(SelectorOptions, total=False):
    """A selection that may look at an earlier run."""

    state: str | Path | None
    """A folder with the artifacts of an earlier run."""


class BranchOptions(RunOptions, total=False):
    """What writes tables may write a branch of them."""

    branch: str | None
    """The branch of Iceberg tables that is written instead of main."""


class BatchOptions(BranchOptions, total=False):
    """What runs MERGEs may commit each once."""

    batch_id: int | None
    """Every MERGE commits once for this number."""


class PublishOptions(DriverOptions, StateOptions, total=False):
    """The options of `publish`."""


class StreamOptions(ThreadOptions, StateOptions, total=False):
    """The options of `stream`."""


class OptimizeOptions(RunOptions, StateOptions, total=False):
    """The options of `optimize`."""


class CloneOptions(BranchOptions, SelectorOptions, total=False):
    """The options of `clone`."""


class SeedOptions(BranchOptions, StateOptions, total=False):
    """The options of `seed`."""


class DataTestOptions(SeedOptions, total=False):
    """The options of `test`."""

    defer: bool
    """Whether what is not selected and not built is read where `state` has it."""


class BuildOptions(DataTestOptions, BatchOptions, total=False):
    """The options of `build` and `run`."""

    reuse: Mode
    """`auto` leaves out nodes whose inputs have not changed; `off`: all run; `fresh`: so they do, the next time not."""
    empty: bool
    """Whether models read no rows of their inputs."""
    max_scanned: int | str | None
    """The most that all MERGEs may read of their targets: bytes, or a text such as "50 GiB"; None: no limit."""
    diff: bool
    """Whether each table that was written is compared with its version before the run: events `TableCompared`."""
    sample: str | None
    """The window of the rows that models read of their inputs, such as "3 days"."""
    event_time_start: str | None
    """Of models with batches, run those from this time on (UTC), due or not; None: those that are due."""
    event_time_end: str | None
    """With `event_time_start`: the batches that begin before this time; None: up to now."""
    partial: bool
    """Whether the children of a model run where only some of its batches succeeded."""


def check_names(options: Mapping[str, Any], group: type) -> None:
    """Raise TypeError for an option that the group does not have."""
    unknown = next((name for name in options if name not in group.__annotations__), None)
    if unknown is not None:
        raise TypeError(f"unexpected keyword argument {unknown!r}")


def node_options(options: Mapping[str, Any], group: type, select: Names = (), exclude: Names = ()) -> NodeOptions:
    """Return the options of a command for those of the method of its name. Raises TypeError and ValueError."""
    check_names(options, group)
    batch_id, branch, reuse = options.get("batch_id"), options.get("branch"), options.get("reuse", "auto")
    if batch_id is not None and (isinstance(batch_id, bool) or not 0 <= batch_id <= LARGEST_BATCH):
        raise ValueError(f"batch_id is a whole number from 0, not {batch_id!r}")
    max_scanned = options.get("max_scanned")
    return NodeOptions(
        select=texts(select),
        exclude=texts(exclude),
        selector=options.get("selector"),
        state=as_path(options.get("state")),
        defer=options.get("defer", False),
        threads=options.get("threads"),
        fail_fast=options.get("fail_fast", False),
        batch_id=batch_id,
        branch=branch_name(branch) if branch is not None else None,
        no_reuse=reuse == "off",
        fresh=reuse == "fresh",
        diff=options.get("diff", False),
        empty=options.get("empty", False),
        sample=options.get("sample"),
        event_time_start=options.get("event_time_start"),
        event_time_end=options.get("event_time_end"),
        partial=options.get("partial", False),
        max_scanned=byte_count(max_scanned) if max_scanned is not None else None,
    )
