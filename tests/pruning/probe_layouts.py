"""The probe tables as the judge sees them: their layouts, and what it says of a MERGE into one."""

from __future__ import annotations

import re

from merge_runner.formats.lines import RECOMMENDED
from merge_runner.formats.types import parse_type
from merge_runner.merge.parse import parse
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.layout.layout import TableColumn, TableLayout, partition_field
from merge_runner.pruning.layout.table_properties import with_properties
from merge_runner.pruning.query.source import KnownTable

SOURCE = tuple(
    TableColumn(name, parse_type(data_type))
    for name, data_type in {"id": "bigint", "k": "int", "dt": "date", "ts": "timestamp", "n": "int"}.items()
)


def layout_of(name, table, line=RECOMMENDED):
    """Return the layout of a probe table; `name` is its format."""
    columns = []
    for column, (data_type, _) in table.columns.items():
        text = data_type.removesuffix(" not null")
        columns.append(TableColumn(column, parse_type(text), text == data_type, table.generated.get(column)))
    fields = re.findall(r"\w+\([^)]*\)|\w+", table.partitioned_by)
    layout = TableLayout(
        name,
        tuple(columns),
        complete=True,
        partition_by=tuple(map(partition_field, fields)),
        cluster_by=(),
        line=line,
    )
    return with_properties(layout, table.properties)


def judged(name, table, on, clauses="when matched then delete", source="src", bounds="off", line=RECOMMENDED):
    """Return the judgement of a MERGE into a probe table, whose layout is known completely."""
    statement = parse(f"merge into t using {source} as s on {on} {clauses}")
    return judge_merge(statement, layout_of(name, table, line), known_source, bounds).judgement


def known_source(_parts):
    """Return the table that every MERGE reads."""
    return KnownTable(TableLayout(columns=SOURCE, complete=True))
