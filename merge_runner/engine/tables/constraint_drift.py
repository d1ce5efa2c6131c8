"""Where a table promises something else than is declared: NOT NULL, defaults, generated columns, comments, checks.

What is declared is ensured where ALTER can. What is no longer declared stays, and the statement that would remove it is
reported: another model or another program may rely on it, and NOT NULL comes back with a new table only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from merge_runner.engine.table_format.protocol import RealColumn, TableFormat
from merge_runner.engine.tables import ddl
from merge_runner.engine.tables.difference import Drift
from merge_runner.formats.constraints import UNALTERABLE, Unalterable
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.lexer import lex
from merge_runner.plan.layout.declared_schema import generated_expression
from merge_runner.plan.steps.table import Column, Layout
from merge_runner.relation import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_CHECK = "delta.constraints."
_DEFAULT = re.compile(r"\s*default\s+(.+?)\s*\Z", re.IGNORECASE | re.DOTALL)
_IDENTITY = re.compile(r"\s*generated\s+(always|by\s+default)\s+as\s+identity\b", re.IGNORECASE)


def constraint_drift(
    session: SparkSession, layout: Layout, held: Mapping[str, str], table_format: TableFormat
) -> Iterator[Drift]:
    """What the table of a layout promises otherwise; `held` are its properties, by folded names. Raises EngineError."""
    checks = {key.removeprefix(_CHECK): text for key, text in held.items() if key.startswith(_CHECK)}
    real = table_format.columns(session, layout.relation) if layout.columns else {}
    present = [(column, real[column.name.lower()]) for column in layout.columns if column.name.lower() in real]
    for column, own in present:
        yield from _of_null(layout, column, own, [*checks.values(), *layout.checks.values()])
        yield from _of_default(layout, column, own)
        if own.readable:
            yield from _of_generation(layout, column, own)
    yield from _of_comments(layout, present)
    yield from check_drift(layout, checks)


def check_drift(layout: Layout, real: Mapping[str, str]) -> Iterator[Drift]:
    """Which checks the table of a layout has otherwise than declared; `real` are their expressions by folded names."""
    without = _unalterable(layout).check
    if without is not None:
        yield from (Drift(f"check {name} is missing: {without}") for name in layout.checks)
        return
    table = layout.relation
    for name, expression in layout.checks.items():
        held, add = real.get(name.lower()), ddl.add_check(table, name, expression)
        if held is None:
            yield Drift(f"check {name} is missing", (add,))
        elif not _same(held, expression):
            # Two commits. In between the table has no check: its rows are looked at before.
            yield Drift(
                f"check {name} is ({held}), declared ({expression})",
                (ddl.drop_check(table, name), add),
                violating=f"SELECT count(*) FROM {table} WHERE ({expression}\n) IS NOT TRUE",
                undo=ddl.add_check(table, name, held),
            )
    if layout.columns and all(column.data_type for column in layout.columns):
        for name in sorted(real.keys() - {name.lower() for name in layout.checks}):
            drop = ddl.drop_check(table, name)
            yield Drift(f"check {name} ({real[name]}) is not declared: it stays; {drop} would take it away")


def _of_null(layout: Layout, column: Column, own: RealColumn, checks: list[str]) -> Iterator[Drift]:
    if not column.nullable and own.nullable:
        if not any(_same(check, f"{quote(column.name)} is not null") for check in checks):
            advice = _unalterable(layout).not_null.format(column.name)
            yield Drift(f"column {column.name} takes NULL, declared NOT NULL: {advice}")
    elif column.nullable and column.data_type is not None and not own.nullable:
        drop = ddl.alter_column(layout.relation, column.name, "DROP NOT NULL")
        yield Drift(f"column {column.name} is NOT NULL, declared without: it stays; {drop} would take it away")


def _of_default(layout: Layout, column: Column, own: RealColumn) -> Iterator[Drift]:
    declared, without = _DEFAULT.match(column.generated or ""), _unalterable(layout).default
    if declared is not None:
        if own.default is None or not _same(own.default, declared[1]):
            words = f"default of column {column.name} is {own.default or 'not set'}, declared {declared[1]}"
            set_default = ddl.alter_column(layout.relation, column.name, f"SET DEFAULT {declared[1]}")
            yield Drift(words, (set_default,)) if without is None else Drift(f"{words}: {without}")
    elif own.default is not None and column.data_type is not None and without is None:
        drop = ddl.alter_column(layout.relation, column.name, "DROP DEFAULT")
        words = f"default of column {column.name} is {own.default}, declared without"
        yield Drift(f"{words}: it stays; {drop} would take it away")


def _of_generation(layout: Layout, column: Column, own: RealColumn) -> Iterator[Drift]:
    declared = _generation(column.generated or "")
    if (declared is not None or column.data_type is not None) and not _same(own.generated or "", declared or ""):
        real = own.generated or "not generated"
        words = f"column {column.name} is {real}, declared {declared or 'not generated'}"
        yield Drift(f"{words}: {_unalterable(layout).generated}")


def _of_comments(layout: Layout, present: list[tuple[Column, RealColumn]]) -> Iterator[Drift]:
    """One statement for all: each is a commit."""
    comments = {column.name: column.comment for column, own in present if column.comment not in (None, "", own.comment)}
    if comments:
        words = f"comment of {', '.join(comments)} is another than the description"
        yield Drift(words, (ddl.comment_columns(layout.relation, comments),))


def is_generated(column: Column) -> bool:
    """Return whether a declared column is generated or an identity: no default is."""
    return _generation(column.generated or "") is not None


def _generation(text: str) -> str | None:
    """How a column is generated, as DDL has it; None where it is not."""
    expression = generated_expression(text)
    if expression is not None:
        return f"generated always as ({expression})"
    identity = _IDENTITY.match(text)
    return f"generated {' '.join(identity[1].lower().split())} as identity" if identity else None


def _unalterable(layout: Layout) -> Unalterable:
    return UNALTERABLE[layout.format]


def _same(text: str, other: str) -> bool:
    """Whether two expressions differ in blanks, comments and case alone, as Spark reads them."""
    return _tokens(text) == _tokens(other)


def _tokens(text: str) -> list[str]:
    try:
        tokens = lex(text)
    except MergeSyntaxError:
        return text.split()
    return [_token(token.kind, token.span.of(text)) for token in tokens]


def _token(kind: str, text: str) -> str:
    if kind == "string":
        return text
    return text.strip("`").replace("``", "`").casefold() if kind == "name" else text.casefold()
