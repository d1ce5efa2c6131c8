"""The rows of a table that differ between two versions, and a MERGE over the part of its source that they change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from merge_runner.engine.merge.changed_files import as_relations
from merge_runner.engine.merge.changed_partitions import column_types, over_rows
from merge_runner.engine.spark.errors import EngineError, Kind, engine_errors
from merge_runner.engine.spark.sql import analyse, run_statement
from merge_runner.engine.table_format.stored_version import ChangedFiles
from merge_runner.merge.splice import splice
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.model_tests import RunTest
from merge_runner.plan.steps.skip_unchanged import SkipUnchanged
from merge_runner.pruning.predicate.join_keys import join_keys
from merge_runner.pruning.runtime_filter.bound_literal import typed_literal
from merge_runner.relation import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.engine.context import NodeContext

MOST_ROWS = 1_000
"""Changed rows from which on all are taken for changed."""
MOST_BYTES = 64 << 20
"""Bytes of a version above which changed rows are not looked for."""

_AS_TEXT = {
    **dict.fromkeys(("date", "tinyint", "smallint", "int", "bigint", "boolean"), "cast({} AS string)"),
    **dict.fromkeys(("float", "double", "decimal", "timestamp_ntz"), "cast({} AS string)"),
    **{"string": "{}", "timestamp": "cast(unix_micros({}) AS string)", "binary": "hex({})"},
}
"""How values are compared, by type: as texts, one for each value. As numbers, 0.0 and -0.0 are equal."""


@dataclass(frozen=True)
class ChangedRows:
    """The rows that one version of a table has more often, or less often, than another one.

    `types` are those of all columns, by their case folded names. `columns` are those that were compared; each row has
    their values as texts, and how many more there are.
    """

    types: Mapping[str, str]
    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[str | None, ...], int], ...]

    def differ_in(self, names: Collection[str]) -> bool:
        """Return whether the rows are others if these columns alone count."""
        places = [place for place, name in enumerate(self.columns) if name in names]
        more: Counter[tuple[str | None, ...]] = Counter()
        for values, number in self.rows:
            more[tuple(values[place] for place in places)] += number
        return any(more.values())

    def values(self, name: str) -> frozenset[str | None]:
        """Return the values of a column in the rows that have changed."""
        place = self.columns.index(name)
        return frozenset(values[place] for values, _ in self.rows)


_CONFS = ("spark.sql.files.ignoreMissingFiles", "spark.sql.files.ignoreCorruptFiles", "spark.sql.caseSensitive")
"""With which an earlier version may be read without some of its rows, or two columns may differ in case alone."""


def doubtful_conf(session: SparkSession) -> str | None:
    """Return a conf of a session with which changed rows prove nothing; None: there is none. Raises EngineError."""
    with engine_errors():
        return next((conf for conf in _CONFS if str(session.conf.get(conf, "false")).lower() == "true"), None)


def changed_rows(session: SparkSession, folder: str, files: ChangedFiles) -> ChangedRows | str:
    """Return the rows of a Delta table in a folder that have changed; a text says why they are not known.

    Raises EngineError.
    """
    version = f"delta.{quote(folder)} VERSION AS OF"
    fields = analyse(session, f"SELECT * FROM {version} {files.after}").fields
    kinds = {field.name: field.metadata.get(_LIMITED, field.dataType.simpleString()) for field in fields}
    types = {name.casefold(): kind for name, kind in kinds.items()}
    compared = {name: text for name, kind in kinds.items() if (text := _AS_TEXT.get(_plain(kind))) is not None}
    partitions = _in_partitions(files, types)
    if len(types) != len(kinds) or not compared or partitions is None:
        return "its columns or partitions cannot be compared"
    texts = (text.format(quote(name)) for name, text in compared.items())
    columns = ", ".join(f"{text} AS c{place}" for place, text in enumerate(texts))
    names = ", ".join(f"c{place}" for place in range(len(compared)))
    stored = {field.name: field.dataType.simpleString() for field in fields if field.name in compared}
    is_padded = any(kind.startswith("char(") for kind in kinds.values())  # which a file need not be
    versions = [(f"{version} {number}{partitions}", more) for number, more in ((files.after, 1), (files.before, -1))]
    with as_relations(session, folder, None if is_padded else files.files, stored) as read:
        parts = versions if read is None else read
        either = " UNION ALL ".join(f"SELECT {columns}, {more} AS more FROM {part}" for part, more in parts)
        differing = f"GROUP BY {names} HAVING sum(more) <> 0 LIMIT {MOST_ROWS + 1}"
        asked = f"SELECT {names}, sum(more) AS more FROM ({either}) {differing}"
        found = run_statement(session, asked) if parts else []
    if len(found) > MOST_ROWS:
        return f"more than {MOST_ROWS:,} of its rows have changed"
    rows = tuple((tuple(row[: len(compared)]), int(row[len(compared)])) for row in found)
    return ChangedRows(types, tuple(name.casefold() for name in compared), rows)


_LIMITED = "__CHAR_VARCHAR_TYPE_STRING"


def _plain(kind: str) -> str:
    """Return a type without its parameters; those of `string collate …` are none."""
    return "string" if kind.startswith(("char(", "varchar(")) else kind.partition("(")[0]


def _in_partitions(files: ChangedFiles, types: Mapping[str, str]) -> str | None:
    """Return the WHERE clause of the partitions that have changed; None where a text of the log is no such value."""
    conditions = []
    for partition in files.partitions:
        each = []
        for name, value in partition:
            literal = typed_literal(types.get(name.casefold()), value) if value is not None else ""
            if literal is None:
                return None
            each.append(f"{quote(name)} = {literal}" if literal else f"{quote(name)} IS NULL")
        conditions.append(f"({' AND '.join(each)})")
    return f" WHERE {' OR '.join(sorted(conditions))}" if conditions else ""


@dataclass(frozen=True)
class ConfinedColumn:
    """A column of the source of a MERGE, by which ON joins, and the values in it of all rows that may have changed.

    `source` is the expression in ON, `target` the column that it is equal to, `type` the one that both must have.
    """

    name: str
    source: str
    target: str
    type: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        more = f" and {len(self.values) - 1} more" if len(self.values) > 1 else ""
        literal = typed_literal(self.type, self.values[0]) if self.type == "timestamp" else None
        return f"{self.name}={literal or self.values[0]}{more}"

    def literals(self) -> str | None:
        """Return the values as a list in SQL; None where they cannot be written."""
        literals = [typed_literal(self.type, value) for value in self.values]
        known = [literal for literal in literals if literal is not None]
        return f"({', '.join(known)})" if len(known) == len(literals) else None


@dataclass(frozen=True)
class ConfinedRows:
    """The only rows that a MERGE needs of its source: those with one of the values in each of these columns."""

    columns: tuple[ConfinedColumn, ...]

    def __str__(self) -> str:
        return ", ".join(map(str, self.columns))


def over_confined_failures(step: RunTest, rows: ConfinedRows, context: NodeContext) -> RunTest | str:
    """Return the data test over the rows that may be new failures; a text says why there is none.

    Raises EngineError where the node is cancelled, or the engine lost.
    """
    names = ", ".join(each.source for each in rows.columns)
    try:
        fields = analyse(context.session, f"SELECT {names} FROM ({step.sql}\n)").fields
    except EngineError as error:
        if error.kind is not Kind.USER:
            raise
        return error.message  # two columns of one name, or what the test itself will report
    needed = []
    for each, field in zip(rows.columns, fields, strict=True):
        literals = each.literals()
        if field.metadata.get(_LIMITED, field.dataType.simpleString()) == each.type and literals is not None:
            needed.append(f"{each.source} IN {literals}")
    if not needed:
        return f"{rows.columns[0].name} has another type than where it comes from"
    return replace(step, sql=f"SELECT * FROM ({step.sql}\n) WHERE {' AND '.join(needed)}")


def over_confined_rows(
    step: RunMerge,
    rows: ConfinedRows,
    context: NodeContext,
    bounds: Literal["auto", "off"] | Sequence[str],
    skip_unchanged: SkipUnchanged,
) -> RunMerge | str:
    """Return the MERGE over the rows, which has the whole one with it; a text says why there is none.

    Raises EngineError.
    """
    statement = step.judged.statement
    source, alias, written = (
        statement.source.span.of(statement.text),
        statement.source.qualifier,
        statement.target.qualifier,
    )
    if alias is None or written is None:
        return "its source or its target has no name"
    asked = ", ".join(f"({each.source}) AS b{number}" for number, each in enumerate(rows.columns))
    fields = analyse(context.session, f"{statement.with_text}SELECT {asked} FROM {source}").fields
    target = column_types(str(step.target), context)
    needed, matched = [], []
    for each, field in zip(rows.columns, fields, strict=True):
        kind, literals = field.metadata.get(_LIMITED, field.dataType.simpleString()), each.literals()
        if kind == each.type == target.get(each.target) and literals is not None:
            needed.append(f"({each.source}) IN {literals}")
            matched.append(f"{quote(written)}.{quote(each.target)} IN {literals}")  # follows, and skips files
    if not needed:
        return f"{rows.columns[0].name} has another type where it comes from, in the source or in the target"
    reduced = f"(SELECT * FROM {source}\nWHERE {' AND '.join(needed)}) AS {quote(alias)}"
    on = f"({statement.on_span.of(statement.text)}\n) AND {' AND '.join(matched)}"
    text = splice(step.sql, [(statement.source.span, reduced), (statement.on_span, on)])
    if skip_unchanged == "auto" and len(needed) == len(join_keys(statement.on, step.judged.scope)):
        skip_unchanged = "off"  # with all keys among those of changed rows, the source has little else
    return over_rows(step, text, bounds, skip_unchanged)
