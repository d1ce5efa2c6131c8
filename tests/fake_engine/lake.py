"""The tables: they outlive the driver, as the files of a warehouse do."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from merge_runner.engine.table_format.protocol import Commit

MERGE = "MERGE"
CREATE = "CREATE TABLE"
REPLACE = "CREATE OR REPLACE TABLE"
REPLACE_AS = "CREATE OR REPLACE TABLE AS SELECT"


_FIRST = 1_700_000_000_000
"""When the first version of each table is committed, in milliseconds since the epoch; the others follow by the second."""


def dotted(name: str) -> str:
    """Return the name of a relation without quotes, in lower case: `shop`.`fct` is shop.fct."""
    return name.replace("`", "").strip().casefold()


@dataclass
class Table:
    """A table with its history; `rows` is how many it has.

    `contents` are the rows themselves, where the driver has a function that merges them (`merges`).
    """

    name: str
    columns: Mapping[str, str]
    clauses: Mapping[str, str] = field(default_factory=dict)
    """Partitioning, clustering, properties and comment, each as in its DDL."""
    location: Path | None = None
    rows: int = 0
    contents: tuple[Any, ...] = ()
    commits: list[Commit] = field(default_factory=list)
    """Oldest first; the version of each is its index."""
    batches: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """Of each application: the versions with the batches that they recorded."""
    branches: dict[str, Table] = field(default_factory=dict)
    """What each branch has; this table is main."""

    @property
    def short(self) -> str:
        """The last part of its name: that of its model."""
        return self.name.rpartition(".")[2]

    @property
    def version(self) -> int:
        """The newest version."""
        return len(self.commits) - 1

    @property
    def id(self) -> str:
        """Its id, which changes where it is replaced."""
        return f"{self.name}/{sum(commit.operation in (REPLACE, REPLACE_AS) for commit in self.commits)}"

    @property
    def keeps_batches(self) -> bool:
        """Whether it refuses a batch that it has committed, and knows its batches when it is replaced: as Delta does."""
        return self.clauses.get("format", "delta").casefold() == "delta"

    def copied(self) -> Table:
        """Return a table with the same history, which goes on separately."""
        batches = {app: [*recorded] for app, recorded in self.batches.items()}
        return replace(self, location=None, commits=[*self.commits], batches=batches, branches={})

    def of(self, operation: str) -> list[Commit]:
        """Return its commits of an operation."""
        return [commit for commit in self.commits if commit.operation == operation]


class Lake:
    """All tables by their names. Safe for many threads."""

    def __init__(self) -> None:
        self.tables: dict[str, Table] = {}
        self.commits: list[tuple[str, str]] = []
        """The last part of the table's name and the operation of each commit, of all tables, in their order."""
        self.merging = threading.Lock()
        """Held while rows are merged: the MERGEs of a table take place one after the other."""
        self._guard = threading.Lock()

    def __getitem__(self, name: str) -> Table:
        """Return the table of a model."""
        return next(table for table in self.tables.values() if table.short == name.casefold())

    def operations(self, name: str) -> list[str]:
        """Return the operations of the commits of a model's table, oldest first; empty where there is none."""
        tables = [table for table in self.tables.values() if table.short == name.casefold()]
        return [commit.operation for table in tables for commit in table.commits]

    def commit(
        self,
        table: Table,
        operation: str,
        stamp: str | None = None,
        rows: int | None = None,
        batch: tuple[str, int] | None = None,
        counts: Mapping[str, int] | None = None,
    ) -> Commit:
        """Add a commit to a table, which has `rows` from then on; None: as many as before.

        `counts` are the rows of each kind that a MERGE has changed.
        """
        with self._guard:
            table.rows = table.rows if rows is None else rows
            metrics = {kind: str(count) for kind, count in (counts or {}).items()}
            if operation == REPLACE_AS:
                metrics["numOutputRows"] = str(table.rows)
            made = Commit(len(table.commits), operation, stamp, metrics, _FIRST + 1000 * len(table.commits))
            table.commits.append(made)
            if batch is not None:
                table.batches.setdefault(batch[0], []).append((made.version, batch[1]))
            self.commits.append((table.short, operation))
            if table.location is not None:
                _write(table.location, made)
            return made

    def forward(self, table: Table, branch: str) -> None:
        """Move main of a table to a branch."""
        with self._guard:
            made = table.branches[branch].copied()
            table.rows, table.contents, table.commits, table.batches = (
                made.rows,
                made.contents,
                made.commits,
                made.batches,
            )
            self.commits.append((table.short, "PUBLISH"))

    def recorded(self, table: Table, app: str, version: int | None = None) -> int | None:
        """Return the highest batch of an application that a table has committed up to a version."""
        last = table.version if version is None else version
        return max((batch for at, batch in table.batches.get(app, ()) if at <= last), default=None)


def _write(folder: Path, commit: Commit) -> None:
    """Write the file of a commit, by which a later process finds the table of an embedded warehouse."""
    log = folder / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    info = {"operation": commit.operation, "userMetadata": commit.stamp}
    (log / f"{commit.version:020}.json").write_text(json.dumps({"commitInfo": info}) + "\n")


def columns_of(text: str) -> dict[str, str]:
    """Return the names and types in the column list of a DDL statement."""
    items = re.split(r",(?![^(<]*[)>])", text)
    pairs = (re.match(r"\s*`?(?P<name>[^`\s]+)`?\s+(?P<type>\S+)", item) for item in items)
    return {pair["name"]: pair["type"] for pair in pairs if pair is not None}
