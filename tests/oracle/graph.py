"""Random projects: nodes that read one another, and what a build of them leaves behind, in topological order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from tests.oracle.expression import Row
from tests.oracle.generate import COLUMNS, Generator
from tests.oracle.merge import Merge, MultipleMatchesError
from tests.oracle.query import Arm, Query, rows_of
from tests.oracle.tables import Mode, outcome_on

Materialized = OneOf["seed", "table", "view", "ephemeral", "merge"]

NOTHING = Query(())
_KINDS: Sequence[Materialized] = ("merge", "merge", "merge", "merge", "table", "ephemeral")


@dataclass(frozen=True)
class Node:
    """A seed (`rows`), or a model that reads the nodes of its query; `merge`: it merges them into its table.

    `goes_on`: what depends on it is built also where it fails.
    """

    name: str
    materialized: Materialized
    query: Query = NOTHING
    rows: tuple[Row, ...] = ()
    merge: Merge | None = None
    partition: tuple[str, ...] = ()
    goes_on: bool = False

    @property
    def parents(self) -> list[str]:
        """The nodes that it reads."""
        return [arm.table for arm in self.query.arms if arm.table != self.name]


def random_graph(make: Generator, nodes: int, table_format: str) -> list[Node]:
    """Nodes with their parents before them."""
    kinds = [*_KINDS, "view"] if table_format == "delta" else _KINDS  # Iceberg's catalog of files has no views
    found = [Node(f"n{number}", "seed", rows=tuple(make.rows(9, least=1))) for number in range(2)]
    found += [_model(make, f"n{number}", [node.name for node in found], kinds) for number in range(2, nodes)]
    return found


def _model(make: Generator, name: str, known: list[str], kinds: Sequence[Materialized]) -> Node:
    random = make.random
    recent = known[-4:] if random.random() < 0.7 else known
    tables = random.sample(recent, k=min(len(recent), random.choice((1, 1, 2, 3))))
    materialized = random.choice(kinds)
    if materialized != "merge":
        return Node(name, materialized, make.query(tables))
    if random.random() < 0.1:
        tables.append(name)
    partition = tuple(random.choice([(), ("d",), ("n",), ("id",), ("f", "d")]))
    query = make.query(tables)
    if len(tables) == 1 and not query.latest_by and random.random() < 0.5:
        query = Query((Arm(tables[0]),))
    goes_on = random.random() < 0.3
    return Node(name, "merge", query, merge=make.merge(partition), partition=partition, goes_on=goes_on)


class State:
    """The rows of all tables that are there, and what became of each node in the last build."""

    def __init__(self, nodes: list[Node], table_format: str) -> None:
        self.nodes = nodes
        self.mode: Mode = "delta" if table_format == "delta" else "copy-on-write"
        self.tables: dict[str, list[Row]] = {}
        self.statuses: dict[str, str] = {}

    def build(self) -> None:
        """One build of all nodes."""
        self.statuses = {}
        blocked: set[str] = set()
        relations: dict[str, list[Row]] = {}
        for node in self.nodes:
            if blocked.intersection(node.parents):
                blocked.add(node.name)
                status = "skipped"
            elif self._run(node, relations):
                status = "success"
            else:
                status = "error"
                if not node.goes_on:
                    blocked.add(node.name)
            if node.materialized != "ephemeral":
                self.statuses[node.name] = status

    def _run(self, node: Node, relations: dict[str, list[Row]]) -> bool:
        """Whether the node did what it is to do."""
        own = self.tables.setdefault(node.name, []) if node.merge is not None else []
        rows = list(node.rows) or rows_of(node.query, relations | {node.name: own})
        done = True
        if node.merge is not None:
            try:
                rows = outcome_on(self.mode, node.partition, node.merge, own, rows).rows
            except MultipleMatchesError:
                rows, done = own, False
        relations[node.name] = rows
        if node.materialized in ("seed", "table", "merge"):
            self.tables[node.name] = rows
        return done

    def kept(self) -> Mapping[str, list[Row]]:
        """The tables with their rows, in the columns of all tables."""
        return {
            name: [{column: row[column] for column in COLUMNS} for row in rows] for name, rows in self.tables.items()
        }
