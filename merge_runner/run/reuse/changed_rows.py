"""What of a node the changed rows of its inputs can change, with `reuse: partitions`: nothing, some rows, or all."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from merge_runner.engine.context import NodeContext
from merge_runner.engine.merge.changed_partitions import MOST
from merge_runner.engine.merge.changed_rows import (
    MOST_BYTES,
    ChangedRows,
    ConfinedColumn,
    ConfinedRows,
    changed_rows,
    doubtful_conf,
)
from merge_runner.engine.spark.errors import Kind, engine_error, from_engine
from merge_runner.engine.table_format.stored_version import ChangedFiles
from merge_runner.formats.registry import capabilities, table_format_of
from merge_runner.merge.read_query import read_query
from merge_runner.merge.statement import Expr
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.inputs import TableInput, ViewInput
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.model_tests import RunTest
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.plan.steps.table import ReplaceTable
from merge_runner.pruning.predicate.join_keys import join_keys
from merge_runner.pruning.query.confined_columns import Resolve, columns_of_query, confined_columns
from merge_runner.pruning.query.read_columns import read_columns
from merge_runner.relation import Relation, quote
from merge_runner.run.reuse.eligible import inputs_of, view_text
from merge_runner.run.reuse.reads import stored_target
from merge_runner.run.reuse.stored_state import Stored, stored_input

RowsOf = Callable[[str, ChangedFiles], "ChangedRows | str"]
"""Asks the engine for the changed rows of what is stored under a name."""


class AskedRows:
    """The changed rows of tables, each asked for once in an invocation. Safe for many threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._asking: dict[tuple[str, int, int], threading.Lock] = {}
        self._found: dict[tuple[str, int, int], ChangedRows | str] = {}

    def of(self, context: NodeContext, name: str, files: ChangedFiles) -> ChangedRows | str:
        """Return the changed rows of what is stored under a name; a text says why they are not known.

        Raises EngineError where the node is cancelled, or the engine lost.
        """
        if (conf := doubtful_conf(context.session)) is not None:
            return f"`{conf}` is set"
        key = (name, files.before, files.after)
        with self._guard:
            asking = self._asking.setdefault(key, threading.Lock())
        with asking:
            if key not in self._found:
                self._found[key] = _asked(context, name, files)
            return self._found[key]


def _asked(context: NodeContext, name: str, files: ChangedFiles) -> ChangedRows | str:
    _, folder = json.loads(name.partition(":")[2])
    try:
        return changed_rows(context.session, folder, files)
    except Exception as failure:
        if not from_engine(failure):
            raise
        error = engine_error(failure)
        if error.kind in (Kind.CANCELLED, Kind.LOST):
            raise error from failure
        return f"its earlier rows cannot be read: {error.message}"


@dataclass(frozen=True)
class Unchanged:
    """A node that reads nothing that has changed: of these tables other columns have."""

    tables: tuple[str, ...]


def effect(
    plan: NodePlan, prepared: Prepared, before: Mapping[str, str], now: Mapping[str, str], rows_of: RowsOf
) -> Unchanged | ConfinedRows | str:
    """Return what a node can do whose inputs had the states `before`; a text says why it has to do all.

    It has run on these, and another run would have changed nothing. Raises EngineError.
    """
    changed = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    found: list[tuple[_Table, ChangedRows]] = []
    tables = []
    for name in changed:
        table = _table(plan, prepared, name)
        if table is None or name not in before or name not in now:
            return "more has changed than rows of tables"
        tables.append(table)
        files = Stored.of(name, prepared).changed_files(before[name], now[name])
        rows = _changed_rows(name, files, rows_of)
        if isinstance(rows, str):
            return f"{table.name}: {rows}"
        names = _names_read(plan, prepared, table, rows)
        if isinstance(names, str):
            return names
        if rows.differ_in(names):
            found.append((table, rows))
    if not found:
        return Unchanged(tuple(table.name for table in tables))
    if len(found) > 1:
        return f"rows of {' and of '.join(table.name for table, _ in found)} have changed"
    table, rows = found[0]
    return _confined(plan, rows, _resolving(plan, prepared, table))


@dataclass(frozen=True)
class _Table:
    """What is stored in one place, by all the names that a node has for it: two sources may have one `path`."""

    relations: tuple[Relation, ...]

    @property
    def name(self) -> str:
        return self.relations[0].name

    def is_named_by(self, parts: tuple[str, ...]) -> bool:
        """Return whether the unquoted parts of a name in a query mean it."""
        return any(relation.is_named_by(parts, default=False) for relation in self.relations)


def _table(plan: NodePlan, prepared: Prepared, name: str) -> _Table | None:
    """Return the table that is stored under a name; None where it is no table, or not read."""
    items = [item for item in inputs_of(plan) if str(stored_input(item, prepared)) == name]
    if not items or not all(isinstance(item, TableInput) for item in items):
        return None
    relations = [item.relation for item in items]
    if plan.writes is not None and str(stored_target(plan, prepared)) == name:
        relations.append(plan.writes)
    return _Table(tuple(relations))


def is_confinable(plan: NodePlan, prepared: Prepared, before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Return whether changed rows may say more of a node, which only the engine knows."""
    tables = {
        str(stored_input(item, prepared))
        for item in inputs_of(plan)
        if isinstance(item, TableInput)
        and (format := table_format_of(item.format)) is not None
        and capabilities(format).compares_versions
    }
    changed = {name for name in {*before, *now} if before.get(name) != now.get(name)}
    return bool(changed) and changed <= tables and any(isinstance(step, _WITH_QUERIES) for step in plan.steps)


_WITH_QUERIES = (RunMerge, ReplaceTable, RunTest)


def _changed_rows(name: str, files: ChangedFiles | str, rows_of: RowsOf) -> ChangedRows | str:
    if isinstance(files, str):
        return files
    if len(files.partitions) > MOST:
        return f"{len(files.partitions):,} partitions have changed"
    if files.bytes > MOST_BYTES:
        return "too many of its files have changed"
    return rows_of(name, files)


def _names_read(plan: NodePlan, prepared: Prepared, table: _Table, rows: ChangedRows) -> list[str] | str:
    """Return the columns of a table that a node may read, which were all compared; a text: one was not."""
    views = [
        text
        for each in inputs_of(plan)
        if isinstance(each, ViewInput) and (text := view_text(each, prepared)) is not None
    ]
    texts, queries = list(views), [read_query(text) for text in views]
    is_whole = False
    for step in plan.steps:
        if isinstance(step, RunMerge):
            statement = step.judged.statement
            texts.append(step.sql)
            queries += [cte.query for cte in statement.ctes]
            queries += [statement.source.query] if statement.source.query is not None else []
            is_whole = is_whole or table.is_named_by(statement.source.parts)
        elif isinstance(step, (ReplaceTable, RunTest)):
            texts += [step.sql, step.failures] if isinstance(step, RunTest) else [step.sql]
            queries.append(read_query(step.sql))
    read = read_columns(texts, queries, table.is_named_by)
    names = [name for name in rows.types if is_whole or read is None or read(name)]
    other = [name for name in names if name not in rows.columns]
    return f"{other[0]} of {table.name} has the type {rows.types[other[0]]}" if other else names


def _confined(plan: NodePlan, rows: ChangedRows, resolve: Resolve) -> ConfinedRows | str:
    """Return the rows that a MERGE needs of its source where these of one of its tables have changed."""
    if any(isinstance(step, RunTest) for step in plan.steps):
        return _confined_failures(plan, rows, resolve)
    merges = [step for step in plan.steps if isinstance(step, RunMerge)]
    if len(merges) != 1:
        return "it is no MERGE"
    judged = merges[0].judged
    if any(clause.kind == "not_matched_by_source" for clause in judged.statement.clauses):
        return "WHEN NOT MATCHED BY SOURCE needs the whole source"
    columns = tuple(_columns(merges[0], rows, resolve))
    return ConfinedRows(columns) if columns else "no column of ON shows which of its rows may have changed"


def _columns(step: RunMerge, rows: ChangedRows, resolve: Resolve) -> Iterator[ConfinedColumn]:
    judged = step.judged
    confined = confined_columns(judged.statement, resolve, _days(rows))
    for key in join_keys(judged.statement.on, judged.scope):
        reference = judged.scope.reference(key.source)
        if reference is None or reference.side != "source" or len(reference.path) != 1 or len(key.column.path) != 1:
            continue
        column = confined(reference.path[0].casefold())
        if column is None or column.column not in rows.columns:
            continue
        known = _values(rows, column.column)
        if known:
            source = key.source_span.of(judged.statement.text)
            target, kind = key.column.path[0].casefold(), rows.types[column.column]
            yield ConfinedColumn(reference.path[0], source, target, kind, known)


def _values(rows: ChangedRows, name: str) -> tuple[str, ...]:
    """Return the values of a column in the rows that have changed; none where NULL is one, or they are too many."""
    values = rows.values(name)
    known = tuple(sorted(value for value in values if value is not None))
    return known if len(known) == len(values) <= MOST else ()


def _days(rows: ChangedRows) -> frozenset[str]:
    return frozenset(name for name, kind in rows.types.items() if kind == "date")


def _confined_failures(plan: NodePlan, rows: ChangedRows, resolve: Resolve) -> ConfinedRows | str:
    """Return the rows of a data test that may be other than those of its last run, in which it found none."""
    (step,) = (step for step in plan.steps if isinstance(step, RunTest))
    if (step.failures, step.error_if, step.warn_if) != ("count(*)", "!= 0", "!= 0"):
        return "it passes with some failures"
    of = columns_of_query(read_query(step.sql), resolve, _days(rows))
    columns = []
    for name in rows.columns:
        found = of(name)
        known = _values(rows, found.column) if found is not None and found.column in rows.columns else ()
        if found is not None and known:
            columns.append(ConfinedColumn(name, quote(name), "", rows.types[found.column], known))
    return ConfinedRows(tuple(columns)) if columns else "no column shows which of its failures may be new"


def keeps_to_its_rows(plan: NodePlan, prepared: Prepared, step: RunMerge, rows: object) -> bool:
    """Return whether a MERGE over some rows of its source, which reads its own target, leaves the others as they are.

    What it writes has the values of these rows in the columns by which ON joins, and a row of the source with another
    value does not depend on that: another run over the others would do nothing, as before.
    """
    if not isinstance(rows, ConfinedRows) or plan.writes is None:
        return False
    own = _table(plan, prepared, str(stored_target(plan, prepared))) or _Table((plan.writes,))
    confined = confined_columns(step.judged.statement, _resolving(plan, prepared, own))
    for column in rows.columns:
        found = confined(column.name.casefold())
        if found is None or found.column != column.target or not _writes_values_of_source(step, column):
            return False
    return True


def _writes_values_of_source(step: RunMerge, column: ConfinedColumn) -> bool:
    """Return whether each row that a MERGE writes has the value of its source row in a column."""
    scope = step.judged.scope
    for clause in step.judged.statement.clauses:
        if clause.action == "delete":
            continue
        if clause.star and column.name.casefold() != column.target:
            return False
        given = [each.value for each in clause.assignments if each.column[-1].casefold() == column.target]
        if clause.action == "insert" and not clause.star and len(given) != 1:
            return False
        for value in given:
            found = scope.reference(value.expression) if value.expression is not None else None
            path = tuple(part.casefold() for part in found.path) if found is not None and found.side == "source" else ()
            if path != (column.name.casefold(),):
                return False
    return True


def _resolving(plan: NodePlan, prepared: Prepared, changed: _Table) -> Resolve:
    """Return what says of the names in the query of a node what they mean."""
    others = [(item, item.relation) for item in inputs_of(plan)]

    def resolve(parts: tuple[str, ...]) -> Literal["changed", "fixed"] | Expr | None:
        if changed.is_named_by(parts):
            return "changed"
        for item, relation in others:
            if not relation.is_named_by(parts, default=False):
                continue
            if not isinstance(item, ViewInput):
                return "fixed"
            text = view_text(item, prepared)
            return read_query(text) if text is not None else None
        own = plan.writes
        return "fixed" if own is not None and own.is_named_by(parts, default=False) else None

    return resolve
