"""What a data test that does not pass says: its place, how many rows fail, some of them, and where its query is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from merge_runner.engine.response import FailingRows
from merge_runner.graph.graph import DataTestNode, Node, RefNode
from merge_runner.testing.failing_rows import MOST_SHOWN, FailingRow, cut_rows, named_columns, read_rows, table_lines

WIDTH = 100
"""Columns of the table in artifacts; a terminal has its own width."""


def failing_rows(
    node: DataTestNode, nodes: Mapping[str, Node], texts: Sequence[str], conceal: Callable[[str], str]
) -> FailingRows:
    """Return what the adapter response has of the failing rows that `texts` are; nothing where there are none.

    The key of the tested model and the columns that the test names come first, as the table may have no space for all.
    """
    if not texts:
        return FailingRows()
    rows = read_rows(texts)
    test = node.generic_test
    first: list[str] = []
    if test is not None:
        tested = nodes.get(str(test.attached_node))
        first += tested.config.unique_key if isinstance(tested, RefNode) else ()
        first += [test.column] if test.column is not None else []
        first += named_columns(rows[0], map(str, (*test.kwargs.values(), node.config.where or "")))
        rows = read_rows(texts, first)
    first_rows = cut_rows(rows[:MOST_SHOWN], conceal)
    return FailingRows(first_rows, len(rows) > MOST_SHOWN)


def heading(node: DataTestNode, nodes: Mapping[str, Node], failures: int, kept_in: str | None) -> str:
    """Return the first line: the place of the test, how many failures it found, of what."""
    words = f"{failures:,} failure{'' if failures == 1 else 's'}"
    if node.generic_test is not None:
        name = nodes[str(node.generic_test.attached_node)].full_name
        column = node.generic_test.column
        words += f" of {node.generic_test.name} on {name}{'' if column is None else f'.{column}'}"
    conditions = (("fails", node.config.error_if), ("warns", node.config.warn_if))
    limits = " and ".join(f"{verb} if {condition}" for verb, condition in conditions if condition)
    words += f" ({limits})" if limits else ""
    words += f"; they are kept in {kept_in}" if kept_in is not None else ""
    return f"{node.place}: {words}"


def rows_and_query(
    rows: Sequence[FailingRow] | None, more: bool | None, query: str | None, width: int = WIDTH
) -> Iterator[str]:
    """Yield the lines under the heading, none of the table wider than `width`: failing rows, and where the query is."""
    if rows:
        yield from table_lines(rows, width)
        if more:
            yield f"… only {len(rows)} rows are shown"
    yield f"query: {query}"
