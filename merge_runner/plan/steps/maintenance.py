"""Compaction and VACUUM as steps."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.plan.steps.step import Step
from merge_runner.plan.steps.table import Layout


@dataclass(frozen=True)
class OptimizeTable(Step):
    """Compacts the files of a table that is there, and changes none of its rows.

    `zorder_by` are columns to Z-order by. `where` limits the work: to partitions on Delta, to files on Iceberg.
    `after`: only with so many MERGEs since it was compacted last; None: it is what the node is about.
    """

    layout: Layout
    zorder_by: tuple[str, ...] = ()
    where: str | None = None
    after: int | None = None

    def __str__(self) -> str:
        words = f"optimize {self.layout.relation.name}"
        if self.zorder_by:
            words += f", Z-ordered by {', '.join(self.zorder_by)}"
        elif self.layout.cluster_by:
            words += f", clustered by {', '.join(self.layout.cluster_by)}"
        if self.where is not None:
            words += f", where {' '.join(self.where.split())}"
        return words + (f", with every {self.after} merges" if self.after is not None else "")


@dataclass(frozen=True)
class VacuumTable(Step):
    """Removes what no version of a table within its retention needs: files on Delta, snapshots on Iceberg.

    `retain` is in seconds; None: as long as the table itself says.
    """

    layout: Layout
    retain: float | None = None

    def __str__(self) -> str:
        return f"vacuum {self.layout.relation.name}"
