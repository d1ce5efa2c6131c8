"""The catalog of a build on a branch: what it makes of tables changes nothing for those who read main.

A schema, a layout and properties belong to a table and not to its branches. So a table is neither altered nor replaced:
schema drift is reported, and only rows are written. (CREATE OR REPLACE TABLE AS SELECT would write the branch and leave
main empty: formats/branches.py.) A table that is missing is created, and is empty on main.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.sql import analyse, run_command, temporary_confs
from merge_runner.engine.table_format.commit_metadata import FULL_REFRESH, of_hook
from merge_runner.engine.table_format.protocol import TableFormats
from merge_runner.engine.tables import ddl
from merge_runner.engine.tables.catalog import Catalog, Replacement, Target
from merge_runner.engine.tables.drift import Drift, drift
from merge_runner.plan.steps.table import Column, Layout
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

_OVERWRITE = {"spark.sql.sources.partitionOverwriteMode": "static"}
"""INSERT OVERWRITE replaces all rows, and not those of the partitions that it writes alone."""


class BranchCatalog(Catalog):
    """The tables of one invocation, of which it writes the branch of its sessions. Safe for many threads."""

    def __init__(self, table_format: TableFormats, branch: str, recreated_tables: Iterable[str] = ()) -> None:
        super().__init__(table_format, recreated_tables)
        self._branch = branch

    def _create_target(self, session: SparkSession, layout: Layout, shape: str | None, replace: bool) -> Target:
        target = super()._create_target(session, layout, shape, replace=False)
        table_format = self.table_format(layout.format)
        table_format.branches.begin(session, layout.relation, self._branch)
        if not replace or target.created:
            return target
        with _as_hook(session, FULL_REFRESH, table_format.capabilities.commit_metadata_conf):
            self._overwrite(session, layout.relation, f"SELECT * FROM {layout.relation} WHERE false")
        return Target(emptied=True, drift=target.drift, missing=target.missing)

    def _adopt(self, session: SparkSession, layout: Layout, shape: str | None) -> Target:
        items = drift(session, layout, self.table_format(layout.format))
        missing = {name: item.words for item in items for name in item.missing}
        return Target(drift=_differences(items), missing=missing)

    def replace_table(self, session: SparkSession, layout: Layout, query: str) -> Replacement:
        """The rows of the branch from a query, in one commit.

        Raises EngineError `branch-schema` where the query's columns are not those of the table.
        """
        relation = layout.relation
        schema = analyse(session, query)
        self.ensure_schema(session, relation)
        if self.adopt(session, layout):
            self._check_columns(session, relation, schema)
            differences = _differences(drift(session, layout, self.table_format(layout.format)))
        else:
            columns = [Column(field.name, field.dataType.simpleString()) for field in schema.fields]
            run_command(session, ddl.create_table(layout, columns))
            differences = ()
        self.table_format(layout.format).branches.begin(session, relation, self._branch)
        self._overwrite(session, relation, query)
        self._mark(relation)
        return Replacement("INSERT OVERWRITE", differences)

    def _check_columns(self, session: SparkSession, relation: Relation, schema: StructType) -> None:
        real = {field.name.casefold(): field for field in analyse(session, f"SELECT * FROM {relation}").fields}
        changes = []
        for field in schema.fields:
            own = real.pop(field.name.casefold(), None)
            if own is None:
                changes.append(f"column {field.name} is new")
            elif own.dataType != field.dataType:
                changes.append(
                    f"column {field.name} is {own.dataType.simpleString()} in the table, "
                    f"{field.dataType.simpleString()} in the query"
                )
        changes += [f"column {field.name} is gone" for field in real.values()]
        if changes:
            raise EngineError(
                "branch-schema",
                f"{relation.name} would get other columns, and a branch has those of its table: {'; '.join(changes)}",
                hint="build it once without --branch: columns are changed for all who read the table",
            )

    def _overwrite(self, session: SparkSession, relation: Relation, query: str) -> None:
        with temporary_confs(session, _OVERWRITE):
            run_command(session, f"INSERT OVERWRITE {relation} BY NAME\n{query}")


@contextmanager
def _as_hook(session: SparkSession, hook: str, conf: str) -> Iterator[None]:
    """What a session commits inside the block is a hook's, and not the statement's that its stamp (`conf`) is of."""
    stamp = session.conf.get(conf, None)
    with temporary_confs(session, {conf: of_hook(stamp, hook)} if stamp is not None else {}):
        yield


def _differences(items: Iterable[Drift]) -> tuple[str, ...]:
    """Return what an ordinary build would alter or report, as text."""
    return tuple(
        item.words if not item.remedy else f"{item.words}: left as it is, for it is the same on all branches"
        for item in items
    )
