"""Which tables are compacted, how, and what a table cannot be asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from merge_runner.formats import Format
from merge_runner.formats.registry import capabilities
from merge_runner.graph.graph import Node, RefNode, SeedNode
from merge_runner.plan.steps.maintenance import OptimizeTable
from merge_runner.plan.steps.table import Layout
from merge_runner.project.schema.config import Optimize
from merge_runner.project.syntax.duration import in_words

_WHO_NEEDS_IT = (
    "older files are what running readers, pinned source versions, time travel, change feeds and `retry` still read"
)


@dataclass(frozen=True)
class Maintenance:
    """What `merge-runner optimize` was asked for. `retain` is in seconds; None: as long as each table says."""

    vacuum: bool = False
    retain: float | None = None


@dataclass(frozen=True)
class Fault:
    """What a table cannot be asked for, and what to do about it."""

    code: str
    message: str
    hint: str


def is_maintained(node: Node) -> TypeGuard[RefNode]:
    """Whether a node has a table that may be compacted: a model or seed that does not say `optimize: false`."""
    return has_table(node) and node.config.optimize is not False


def has_table(node: Node) -> TypeGuard[RefNode]:
    """Whether a node is a model or a seed that keeps its rows in a table."""
    return isinstance(node, SeedNode) or node.materialized in ("merge", "table")


def compaction(node: RefNode, layout: Layout) -> OptimizeTable:
    """How the table of a node is compacted on demand, as its config says."""
    config = _optimize_config(node)
    return OptimizeTable(layout, config.zorder_by, config.where)


def compacted_after(node: RefNode) -> int | None:
    """With how many MERGEs a build compacts the table of a node; None: never."""
    return _optimize_config(node).after


def faults(node: RefNode, layout: Layout) -> Iterator[Fault]:
    """What the config key `optimize` asks of a table that its format refuses, by the layout that is declared.

    The conditions of Delta 4.4.0's own errors: DELTA_CLUSTERING_WITH_ZORDER_BY, DELTA_NON_PARTITION_COLUMN_REFERENCE,
    DELTA_CLUSTERING_WITH_PARTITION_PREDICATE, DELTA_ZORDERING_ON_PARTITION_COLUMN.
    """
    step = compaction(node, layout)
    format = capabilities(layout.format)
    if format.liquid_clustering and layout.cluster_by and step.zorder_by:
        message = f"{node.name} is clustered by {', '.join(layout.cluster_by)}, and cannot be Z-ordered as well"
        yield Fault("optimize", message, "leave zorder_by out: OPTIMIZE orders new files by cluster_by; or cluster_by")
    if not format.compacts_by_partition:
        return
    if step.where is not None and not layout.partition_by:
        message = f"{node.name} is not partitioned, and `where` of `optimize` takes partition columns on {format.label}"
        yield Fault("optimize", message, "leave `where` out")
    if both := [
        column
        for column in step.zorder_by
        if column.lower() in {partition_column.lower() for partition_column in layout.partition_by}
    ]:
        message = f"{node.name} is partitioned by {both[0]}, and cannot be Z-ordered by it as well"
        yield Fault("optimize", message, "leave it out of zorder_by: each partition has one value of it")


def too_short(retain: float, layout: Layout) -> Fault | None:
    """Why a table is not vacuumed with this retention (seconds), by the properties that are declared; else None."""
    return shorter(retain, layout.format, layout.properties, layout.relation.name)


def shorter(retain: float, table_format: Format, properties: Mapping[str, str], name: str) -> Fault | None:
    """Why a table with these properties is not vacuumed with this retention (seconds); None where it may be."""
    retention = capabilities(table_format).retention
    period = retention.seconds(properties)
    if retain >= period:
        return None
    return Fault(
        "retention",
        f"{name} keeps what is no longer needed for {in_words(period)}, and --retain says {in_words(retain)}: "
        f"{_WHO_NEEDS_IT}",
        f"give a longer --retain, or none; or a shorter {retention.property} in the model's `properties`",
    )


def _optimize_config(node: RefNode) -> Optimize:
    config = node.config.optimize
    return config if isinstance(config, Optimize) else Optimize()
