"""The columns and checks of a table as YAML declares them, for the DDL that creates and alters it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from merge_runner.plan.declared_layout import folded
from merge_runner.plan.steps import Column

if TYPE_CHECKING:
    from merge_runner.project import properties as declared


def table_columns(properties: declared.ModelProperties | None) -> tuple[Column, ...]:
    """The declared columns: NOT NULL by constraints of their own, or by one of the table that names them."""
    if properties is None:
        return ()
    named = (constraint.columns for constraint in properties.constraints if constraint.type in _NOT_NULL)
    not_null = folded(name for names in named for name in names)
    return tuple(_column(column, column.name.casefold() in not_null) for column in properties.columns)


def table_checks(properties: declared.ModelProperties | None) -> Mapping[str, str]:
    """The declared CHECK constraints, of columns and of the table: expressions by name."""
    return dict(_checks(properties)) if properties is not None else {}


_NOT_NULL = ("not_null", "primary_key")


def _column(column: declared.Column, not_null: bool) -> Column:
    not_null = not_null or any(constraint.type in _NOT_NULL for constraint in column.constraints)
    custom = [str(constraint.expression) for constraint in column.constraints if constraint.type == "custom"]
    return Column(column.name, column.data_type, not not_null, column.description, " ".join(custom) or None)


def _checks(properties: declared.ModelProperties) -> Iterator[tuple[str, str]]:
    owners = [(column.name, column.constraints) for column in properties.columns]
    for owner, constraints in (*owners, (properties.name, properties.constraints)):
        for number, constraint in enumerate(constraints):
            if constraint.type == "check" and constraint.expression:
                yield constraint.name or f"{owner}_check_{number}", constraint.expression
