"""The rows that statements have changed in a Delta table, which keeps them where a property of it says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from merge_runner.engine.table_format.delta.log import table_state
from merge_runner.engine.table_format.protocol import no_changes
from merge_runner.relation import Relation, string_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def changes(session: SparkSession, table: Relation, since: int | None, key: Sequence[str]) -> Iterator[str]:
    """Return a relation of the changes after the version `since`. Raises EngineError."""
    newest = table_state(session, table).version
    first = 0 if since is None else since + 1
    yield no_changes(table) if newest == since else f"table_changes({string_literal(str(table))}, {first})"
