"""DDL text of a layout. Names are quoted; types, defaults and expressions are the author's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from merge_runner.plan.steps.table import Column, Layout
from merge_runner.relation import Relation, quote, string_literal

_DIRECTION = re.compile(r"\s(asc|desc|first|last)\s*\Z", re.IGNORECASE)


def options(values: Mapping[str, str]) -> str:
    """`('k' = 'v', …)` of properties or options."""
    return "(" + ", ".join(f"{string_literal(k)} = {string_literal(v)}" for k, v in values.items()) + ")"


def column_list(columns: Iterable[Column]) -> str:
    """`(name type [NOT NULL] [generated …] [COMMENT …], …)`."""
    return "(" + ", ".join(_column(column) for column in columns) + ")"


def create_table(layout: Layout, columns: Iterable[Column], replace: bool = False) -> str:
    """CREATE [OR REPLACE] TABLE of the layout with these columns, all of them typed."""
    verb = "CREATE OR REPLACE TABLE" if replace else "CREATE TABLE IF NOT EXISTS"
    return f"{verb} {layout.relation} {column_list(columns)} {table_clauses(layout)}"


def replace_table_as(layout: Layout, query: str) -> str:
    """CREATE OR REPLACE TABLE … AS query: one atomic commit."""
    return f"CREATE OR REPLACE TABLE {layout.relation} {table_clauses(layout)} AS\n{query}"


def table_clauses(layout: Layout) -> str:
    """The clauses between a table's columns and AS: format, partitioning, clustering, location, properties."""
    clauses = [f"USING {layout.format}"]
    if layout.partition_by:
        clauses.append(f"PARTITIONED BY ({', '.join(_field(item) for item in layout.partition_by)})")
    if layout.cluster_by:
        clauses.append(f"CLUSTER BY ({', '.join(_clustering(layout.cluster_by))})")
    if layout.location is not None:
        clauses.append(f"LOCATION {string_literal(str(layout.location))}")
    if layout.comment:
        clauses.append(f"COMMENT {string_literal(layout.comment)}")
    if layout.properties:
        clauses.append(f"TBLPROPERTIES {options(layout.properties)}")
    return " ".join(clauses)


def _clustering(columns: Iterable[str]) -> Iterable[str]:
    # Delta's parser reads its own word HISTORY, unquoted, as an expression (4.4.0).
    return (f"`{name}`" if name.lower() == "history" else quote(name) for name in columns)


def cluster_by(table: Relation, columns: Iterable[str]) -> str:
    """ALTER TABLE … CLUSTER BY: for what is written from now on."""
    return f"ALTER TABLE {table} CLUSTER BY ({', '.join(_clustering(columns))})"


def order_by(table: Relation, items: Iterable[str]) -> str:
    """ALTER TABLE … WRITE LOCALLY ORDERED BY, of Iceberg's extensions: for what is written from now on.

    Without LOCALLY it would set `write.distribution-mode` as well, which is a property by itself (Iceberg 1.12.0).
    """
    return f"ALTER TABLE {table} WRITE LOCALLY ORDERED BY {', '.join(_field(item) for item in items)}"


def clone_table(layout: Layout, source: Relation, *, replace: bool) -> str:
    """The statement that makes a table a shallow clone of another."""
    verb = "CREATE OR REPLACE" if replace else "CREATE"
    place = f" LOCATION {string_literal(str(layout.location))}" if layout.location is not None and not replace else ""
    return f"{verb} TABLE {layout.relation} SHALLOW CLONE {source}{place}"


def unset_property(relation: Relation, key: str) -> str:
    """The statement that takes a property off a table; one that it does not have is no error."""
    return f"ALTER TABLE {relation} UNSET TBLPROPERTIES IF EXISTS ({string_literal(key)})"


def set_properties(table: Relation, properties: Mapping[str, str]) -> str:
    """ALTER TABLE … SET TBLPROPERTIES."""
    return f"ALTER TABLE {table} SET TBLPROPERTIES {options(properties)}"


def comment_table(table: Relation, comment: str) -> str:
    """COMMENT ON TABLE."""
    return f"COMMENT ON TABLE {table} IS {string_literal(comment)}"


def add_check(table: Relation, name: str, expression: str) -> str:
    """ALTER TABLE … ADD CONSTRAINT … CHECK: fails where a row of the table violates it."""
    return f"ALTER TABLE {table} ADD CONSTRAINT {quote(name)} CHECK ({expression})"


def drop_check(table: Relation, name: str) -> str:
    """ALTER TABLE … DROP CONSTRAINT."""
    return f"ALTER TABLE {table} DROP CONSTRAINT {quote(name)}"


def alter_column(table: Relation, column: str, action: str) -> str:
    """ALTER TABLE … ALTER COLUMN with an action (`DROP NOT NULL`, `SET DEFAULT …`)."""
    return f"ALTER TABLE {table} ALTER COLUMN {quote(column)} {action}"


def add_columns(table: Relation, columns: Iterable[Column]) -> str:
    """ALTER TABLE … ADD COLUMNS, all of them typed: one commit, of metadata alone."""
    return f"ALTER TABLE {table} ADD COLUMNS {column_list(columns)}"


def comment_columns(table: Relation, comments: Mapping[str, str]) -> str:
    """One ALTER TABLE … ALTER COLUMN … COMMENT statement for several columns."""
    items = ", ".join(f"{quote(column)} COMMENT {string_literal(comment)}" for column, comment in comments.items())
    return f"ALTER TABLE {table} ALTER COLUMN {items}"


def _column(column: Column) -> str:
    words = [quote(column.name), column.data_type or ""]
    if not column.nullable:
        words.append("NOT NULL")
    if column.generated:
        words.append(column.generated)
    if column.comment:
        words.append(f"COMMENT {string_literal(column.comment)}")
    return " ".join(words)


def _field(item: str) -> str:
    """A column is quoted; a transform such as `days(ts)` is kept as in DDL, and so is a column with its direction."""
    return item if "(" in item or _DIRECTION.search(item) else quote(item)
