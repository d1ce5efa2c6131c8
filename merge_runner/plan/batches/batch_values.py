"""What the text of a model with batches is rendered with: its window, as literals of the type of its `event_time`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from merge_runner.graph.graph import ModelNode, Node, SourceNode, run_config
from merge_runner.plan.batches.due import Schedule
from merge_runner.plan.batches.window import (
    TIME_TYPES,
    TimeType,
    Window,
    moved_start,
    time_literal,
    window_id,
    window_start,
)
from merge_runner.project.syntax.point_in_time import read_time

DEFAULT_LOOKBACK = 1
"""As in dbt."""


@dataclass(frozen=True)
class NodeBatch:
    """A batch of a model. `empties`: the rows of its window are removed before it is merged."""

    unique_id: str
    window: Window
    empties: bool = False


def schedule_of(node: ModelNode) -> Schedule | None:
    """Return how the batches of a model are made, by its config; None: it has none."""
    config = node.config
    if config.batch_size is None or config.begin is None:
        return None
    begin = window_start(read_time(config.begin), config.batch_size)
    lookback = DEFAULT_LOOKBACK if config.lookback is None else config.lookback
    return Schedule(config.batch_size, begin, lookback, config.batches_at_once or 1)


def time_type(node: ModelNode) -> TimeType:
    """Return the type of the model's `event_time`, as its YAML declares it; `timestamp` where that says nothing."""
    column = next((column for name, column in node.columns.items() if name.casefold() == _event_time(node)), None)
    declared = str(column["data_type"] or "").casefold() if column is not None else ""
    return next((name for name in TIME_TYPES if name == declared), "timestamp")


def event_time_of(node: Node) -> str | None:
    """Return the column or expression with the time of the rows of a node; None: its config does not say."""
    return node.config.config.event_time if isinstance(node, SourceNode) else run_config(node).event_time


def batch_values(node: ModelNode, batch: NodeBatch | None) -> Mapping[str, str] | None:
    """Return what the text of a model knows as `batch`: of its first batch where `batch` is of no or another model.

    None: it has no batches.
    """
    schedule = schedule_of(node)
    if schedule is None:
        return None
    if batch is not None and batch.unique_id == node.unique_id:
        window = batch.window
    else:
        window = Window(schedule.begin, moved_start(schedule.begin, schedule.size, 1))
    type = time_type(node)
    return {
        "start": time_literal(window.start, type),
        "end": time_literal(window.end, type),
        "id": window_id(window, schedule.size),
    }


def _event_time(node: ModelNode) -> str:
    return (node.config.event_time or "").strip("`").casefold()
