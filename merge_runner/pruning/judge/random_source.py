"""Functions in USING that give another value each time, which some formats refuse."""

from __future__ import annotations

from collections.abc import Iterator

from merge_runner.formats.merge_plans import marks
from merge_runner.formats.syntax import RANDOM_SOURCE
from merge_runner.merge.forbidden import non_deterministic_calls
from merge_runner.merge.read_query import read_query
from merge_runner.merge.statement import MergeStatement
from merge_runner.pruning.judge.refused_types import Refusal
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.query.source import Lookup
from merge_runner.pruning.runtime_filter.source_determinism import SourceReading

_HINT = "write the source into a table first, or make the value of its columns, as sha2(…) does"


def random_calls(
    statement: MergeStatement, layout: TableLayout, reading: SourceReading, lookup: Lookup
) -> Iterator[Refusal]:
    """Return the calls in the query of USING, in CTEs, and in views that it reads, at the source for these.

    None where the target is merge-on-read, nor where no clause looks for a match of the source: such a MERGE runs on
    Iceberg as well (Spark 4.1.4, Iceberg 1.12.0).
    """
    kinds = {clause.kind for clause in statement.clauses}
    if kinds == {"not_matched_by_source"} or (layout.format is not None and marks(layout.format, layout.properties)):
        return
    for query in (statement.source.query, *(cte.query for cte in statement.ctes)):
        for call in non_deterministic_calls(query) if query is not None else ():
            yield Refusal(RANDOM_SOURCE, call.span, f"the {call.sort} {call.name} cannot be in USING", _HINT)
    for parts in reading.tables:
        table = lookup(parts)
        view = read_query(table.query) if table is not None and table.query is not None else None
        first = next(non_deterministic_calls(view), None) if view is not None else None
        if first is not None:
            message = f"the {first.sort} {first.name} of the view {parts[-1]} cannot be in USING"
            yield Refusal(RANDOM_SOURCE, statement.source.relation, message, _HINT)
