"""What lint does not know can only make a verdict unknown: never turn it into its opposite."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from merge_runner.merge.parse import MergeSyntaxError, parse
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.query.source import KnownTable
from tests.formats import probe_tables
from tests.pruning.probe_layouts import known_source, layout_of
from tests.pruning.random_merges import random_merges

FORGET = {
    "format": lambda layout, _: replace(layout, format=None),
    "columns": lambda layout, _: replace(layout, columns=None, complete=False),
    "completeness": lambda layout, _: replace(layout, complete=False),
    "partitioning": lambda layout, _: replace(layout, partition_by=None),
    "clustering": lambda layout, _: replace(layout, cluster_by=None),
    "number of indexed columns": lambda layout, _: replace(layout, indexed=None),
    "types": lambda layout, draw: _of_columns(layout, draw, lambda column: replace(column, data_type=None)),
    "nullability": lambda layout, draw: _of_columns(layout, draw, lambda column: replace(column, nullable=None)),
    "some columns": lambda layout, draw: _of_columns(layout, draw, lambda _: None),
}


def _of_columns(layout: TableLayout, keep, change) -> TableLayout:
    columns = tuple(column if keep() else change(column) for column in layout.columns or ())
    known = tuple(column for column in columns if column is not None)
    return replace(layout, columns=known, complete=layout.complete and len(known) == len(columns))


@settings(max_examples=4 * settings.default.max_examples)
@given(st.data())
def test_what_is_forgotten_makes_a_verdict_unknown_at_most(data):
    form = data.draw(st.sampled_from(["delta", "iceberg"]))
    merge = random_merges(form, data.draw(st.integers(0, 10_000)), 1)[0]
    text = f"merge into t using src as s on {merge.on} {merge.clauses}"
    try:
        statement = parse(text)
    except MergeSyntaxError:
        return
    layout = layout_of(form, probe_tables.TABLES[form][merge.table])
    lookup = known_source if data.draw(st.booleans()) else lambda _: KnownTable(TableLayout())
    full = judge_merge(statement, layout, known_source).judgement
    less = layout
    for name in data.draw(st.lists(st.sampled_from(sorted(FORGET)), min_size=1, max_size=3, unique=True)):
        less = FORGET[name](less, lambda: data.draw(st.booleans()))
    known = judge_merge(statement, less, lookup).judgement
    assert known.verdict in (full.verdict, "unknown"), (text, full.reason, known.reason)
    for before, after in zip(full.on, known.on, strict=True):
        assert after.prunes is None or after.prunes is before.prunes, (text, before, after)
