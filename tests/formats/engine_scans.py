"""How many files of its target a MERGE would read, asked of the engines' own planning, on tables of the probes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from merge_runner.formats.lines import installed_line
from tests.formats import probe_tables

_NUMBERS = "(select id, cast(id div 24 as int) f, cast(id % 24 as int) i from range(0, 240, 1, 10))"
_ONE_FILE_A_TASK = {"read.split.open-file-cost": "134217728", "write.distribution-mode": "none"}
CONFS = {
    # Thousands of small plans: generating and compiling code for each would take most of the time.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.maxPlanStringLength": "0",
}


class Engines:
    """Both engines with their probe tables, and how many files of a table a MERGE would read."""

    def __init__(self, session, schema: str) -> None:
        self.session = session
        self.schemas = {"delta": schema, "iceberg": f"ice.{schema}"}
        for form in installed_line().formats:
            session.sql(f"create schema if not exists {self.schemas[form]}")
        self.jvm = session._jvm
        mode = getattr(self.jvm.org.apache.spark.sql.execution, "CommandExecutionMode$")
        self.skip = getattr(mode, "MODULE$").SKIP()
        self.none = getattr(getattr(self.jvm.scala, "None$"), "MODULE$")
        self.snapshots: dict[str, object] = {}
        self.skipped: dict[tuple[str, str], tuple[int, int]] = {}

    def build(self, tables: set[tuple[str, str]]) -> None:
        """Create probe tables, given by format and name."""
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(lambda each: self._probe(*each), sorted(tables)))

    def _probe(self, form: str, table_name: str) -> None:
        self.make(table_name, form, probe_tables.TABLES[form][table_name].on(installed_line()))

    def make(self, table_name: str, form: str, table: probe_tables.Table) -> None:
        """Create a table with the rows that its columns say."""
        name = f"{self.schemas[form]}.{table_name}"
        self.session.sql(table.ddl(name, form, {} if form == "delta" else _ONE_FILE_A_TASK))
        chosen = {column: value for column, (_, value) in table.columns.items() if column not in table.generated}
        values = ", ".join(f"{value} as {column}" for column, value in chosen.items())
        self.session.sql(f"insert into {name} ({', '.join(chosen)}) select {values} from {_NUMBERS}")

    def _plan(self, statement: str):
        state = self.session._jsparkSession.sessionState()
        return state.executePlan(state.sqlParser().parsePlan(statement), self.skip)

    def delta(self, table: str, on: str, clauses: str = "when matched then delete", using: str = "") -> tuple[int, int]:
        """Files of a Delta table before and after skipping."""
        using = using or "select 1L as id, current_timestamp() as ts where false"
        statement = f"merge into {self.schemas['delta']}.{table} as t using ({using}) as s on {on} {clauses}"
        command = self._plan(statement).optimizedPlan()
        predicates = command.getTargetOnlyPredicates(self.session._jsparkSession)
        if table not in self.snapshots:
            self.snapshots[table] = command.targetDeltaLog().update(False, self.none, self.none)
        # Many conditions are one and the same once casts have left the column; skipping is a Spark job for each.
        key = table, re.sub(r"#\d+", "", predicates.toString())
        if key not in self.skipped:
            snapshot = self.snapshots[table]
            self.skipped[key] = snapshot.numOfFiles(), snapshot.filesForScan(predicates, False).files().size()
        return self.skipped[key]

    def run_delta(self, table: str, on: str, clauses: str, using: str) -> tuple[int, int]:
        """The same of a MERGE that really runs, from its metrics."""
        from merge_runner.engine.spark.physical_plan_metrics import command_metrics
        from merge_runner.engine.spark.sql import run_measured

        metrics = command_metrics(
            run_measured(
                self.session, f"merge into {self.schemas['delta']}.{table} as t using ({using}) as s on {on} {clauses}"
            )
        )
        return metrics["numTargetFilesBeforeSkipping"], metrics["numTargetFilesAfterSkipping"]

    def iceberg(self, table: str, on: str, clauses: str = "", using: str = "") -> tuple[int, int]:
        """Files of an Iceberg table, and those that the main scan of the target is planned with."""
        name = f"{self.schemas['iceberg']}.{table}"
        using = using or "select 1 as id, current_timestamp() as ts"
        column = "c1" if table.startswith("wide") else "id"
        clauses = clauses or f"when matched then update set {column} = s.id"
        plan = self._plan(f"merge into {name} as t using ({using}) as s on {on} {clauses}").sparkPlan()
        planned = [self._planned(scan) for scan in _scans(plan) if _reads(scan.description(), name)]
        # A plan without a scan of the target: it reads nothing. A table of the probes has ten files or more.
        return max(planned, key=lambda found: found[1]) if planned else (10, 0)

    @staticmethod
    def _planned(scan) -> tuple[int, int]:
        tasks = len(scan.toBatch().planInputPartitions())
        metrics = {metric.name(): metric.value() for metric in scan.reportDriverMetrics()}
        read = metrics["resultDataFiles"]
        assert tasks == read
        # A manifest that is skipped as a whole counts no files: of what can be true for no row, nothing is read.
        return read + metrics["skippedDataFiles"] or 10, read

    def files(self, form: str, *merge: str) -> tuple[int, int]:
        """`delta` or `iceberg`."""
        return self.delta(*merge) if form == "delta" else self.iceberg(*merge)


def _reads(description: str, table: str) -> bool:
    """Whether a scan of Iceberg is one of the table: by its description on Spark 4.1, and on 3.5 and 4.0."""
    return f"table={table}," in description or description.startswith(f"{table} (")


def _scans(node) -> Iterator:
    if node.getClass().getSimpleName() == "BatchScanExec":
        yield node.scan()
    children = node.children()
    for index in range(children.size()):
        yield from _scans(children.apply(index))
