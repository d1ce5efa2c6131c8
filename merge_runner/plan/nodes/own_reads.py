"""Where a MERGE reads the table that it writes, and the step that keeps a full refresh from losing its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.errors import Problem
from merge_runner.merge.statement import MergeStatement
from merge_runner.plan.steps.table import KeepHistory, Layout
from merge_runner.pruning.runtime_filter.target_reads import target_reads
from merge_runner.text import Place

if TYPE_CHECKING:
    from merge_runner.template.rendered_text import RenderedText


@dataclass(frozen=True)
class OwnReads:
    """The first place where USING reads the model's own table, and the first where it reads rows and no aggregates."""

    first: Place | None
    history: Place | None

    @classmethod
    def of(cls, statement: MergeStatement, rendered: RenderedText) -> OwnReads:
        """Return the reads of a statement that was parsed from `rendered`."""
        reads = [(read, rendered.place(read.span.start, read.span.end)) for read in target_reads(statement)]
        return cls(
            next((place for _, place in reads), None),
            next((place for read, place in reads if not read.only_aggregates), None),
        )


def keep_history(layout: Layout, place: Place) -> KeepHistory:
    """Return the step that refuses a full refresh which would lose what only the table holds."""
    message = (
        f"--full-refresh would lose the history in {layout.relation.name}: "
        "USING reads rows of the table itself, and replacing it removes them"
    )
    hint = (
        "write `full_refresh: false` in the model's config to keep its table, or `full_refresh: true` to "
        "replace it; guard what only an incremental run reads by {% if is_incremental() %}"
    )
    return KeepHistory(layout, Problem("history-lost", message, place, hint))
