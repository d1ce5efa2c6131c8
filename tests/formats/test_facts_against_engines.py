"""Every row of the facts against the real engines: Delta 4.4.0 and Iceberg 1.12.0 on Spark 4.1.

A row is one MERGE, analysed, optimised and, up to the choice of the target's files, carried out by the engine's own
code, without running its joins: Delta's MergeIntoCommand gives the predicates that it would skip files by, and the
table's snapshot skips; Iceberg's scan of the target is planned. `test_the_short_way_is_the_real_one` runs whole MERGEs.

`make test` measures the rows whose answer differs between the formats, and a tenth of the others, chosen by a hash;
`make test-slow` measures the rest.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from merge_runner.formats.facts.clauses import CLAUSES
from merge_runner.formats.facts.literals import REFUSED_LITERALS
from merge_runner.formats.facts.table import Fact

pytestmark = pytest.mark.spark

_NUMBERS = "(select id, cast(id div 24 as int) f, cast(id % 24 as int) i from range(0, 240, 1, 10))"
_ONE_FILE_A_TASK = {"read.split.open-file-cost": "134217728", "write.distribution-mode": "none"}
_CONFS = {
    # Thousands of small plans: generating and compiling code for each would take most of the time.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.maxPlanStringLength": "0",
}


def _probe_tables():
    spec = importlib.util.spec_from_file_location("probe_tables", Path(__file__).with_name("probe_tables.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a dataclass looks its module up
    spec.loader.exec_module(module)
    return module


probe_tables = _probe_tables()


_REAL = {
    ("FUNCTIONS", "to_date"),
    ("FUNCTIONS", "upper"),
    ("OPERATORS", "is null"),
    ("OPERATORS", "like prefix"),
    ("PARTITION_FUNCTIONS", "udf"),
    ("SHAPES", "or: partition or data"),
    ("SHAPES", "constant: false"),
    ("SHAPES", "in: list of the smallest and largest"),
}
"""Rows by which `test_the_short_way_is_the_real_one` compares."""


def _sampled(*key: str) -> bool:
    """Whether `make test` has the row: a tenth of them, the same ones in each run."""
    return zlib.crc32(" ".join(key).encode()) % 10 == 0


def _answers(form: str) -> dict[tuple[str, str], str]:
    return {(name, fact.subject): fact.answer for name, fact in probe_tables.conditions(form)}


def _conditions(*formats: str):
    answers = {form: _answers(form) for form in ("delta", "iceberg")}
    rows = []
    for form in formats:
        for name, fact in probe_tables.conditions(form):
            key = name, fact.subject
            differs = len({found.get(key, fact.answer) for found in answers.values()}) > 1
            often = differs or _sampled(*key) or (form == "delta" and key in _REAL)
            marks = () if often else pytest.mark.slow
            rows.append(pytest.param(form, name, fact, id=f"{form}-{name}-{fact.subject}", marks=marks))
    return rows


def _clauses():
    return [
        pytest.param(form, fact, id=f"{form}-CLAUSES-{fact.subject}")
        for form in ("delta", "iceberg")
        for fact in CLAUSES.facts(form)
    ]


class Engines:
    """Both engines with their probe tables, and how many files of a table a MERGE would read."""

    def __init__(self, session) -> None:
        self.session = session
        self.jvm = session._jvm
        mode = getattr(self.jvm.org.apache.spark.sql.execution, "CommandExecutionMode$")
        self.skip = getattr(mode, "MODULE$").SKIP()
        self.none = getattr(getattr(self.jvm.scala, "None$"), "MODULE$")
        self.snapshots: dict[str, object] = {}
        self.skipped: dict[tuple[str, str], tuple[int, int]] = {}

    def build(self) -> None:
        """Create the probe tables."""
        for schema in ("facts", "ice.facts"):
            self.session.sql(f"create schema if not exists {schema}")
        jobs = [(f"facts.{name}", "delta", table, {}) for name, table in probe_tables.DELTA.items()]
        jobs += [
            (f"ice.facts.{name}", "iceberg", table, _ONE_FILE_A_TASK) for name, table in probe_tables.ICEBERG.items()
        ]
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(lambda job: self._build(*job), jobs))

    def _build(self, name: str, form: str, table, extra: dict[str, str]) -> None:
        self.session.sql(table.ddl(name, form, extra))
        chosen = {column: value for column, (_, value) in table.columns.items() if column not in table.generated}
        values = ", ".join(f"{value} as {column}" for column, value in chosen.items())
        self.session.sql(f"insert into {name} ({', '.join(chosen)}) select {values} from {_NUMBERS}")

    def _plan(self, statement: str):
        state = self.session._jsparkSession.sessionState()
        return state.executePlan(state.sqlParser().parsePlan(statement), self.skip)

    def delta(self, table: str, on: str, clauses: str = "when matched then delete", using: str = "") -> tuple[int, int]:
        """Files of a Delta table before and after skipping."""
        using = using or "select 1L as id, current_timestamp() as ts where false"
        statement = f"merge into facts.{table} as t using ({using}) as s on {on} {clauses}"
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
            run_measured(self.session, f"merge into facts.{table} as t using ({using}) as s on {on} {clauses}")
        )
        return metrics["numTargetFilesBeforeSkipping"], metrics["numTargetFilesAfterSkipping"]

    def iceberg(self, table: str, on: str, clauses: str = "", using: str = "") -> tuple[int, int]:
        """Files of an Iceberg table, and those that the main scan of the target is planned with."""
        name = f"ice.facts.{table}"
        using = using or "select 1 as id, current_timestamp() as ts"
        column = "c1" if table.startswith("wide") else "id"
        clauses = clauses or f"when matched then update set {column} = s.id"
        plan = self._plan(f"merge into {name} as t using ({using}) as s on {on} {clauses}").sparkPlan()
        planned = [self._planned(scan) for scan in _scans(plan) if f"table={name}," in scan.description()]
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


def _scans(node) -> Iterator:
    if node.getClass().getSimpleName() == "BatchScanExec":
        yield node.scan()
    children = node.children()
    for index in range(children.size()):
        yield from _scans(children.apply(index))


@pytest.fixture(scope="module")
def engines(driver):
    with driver.session() as session:
        for key, value in _CONFS.items():
            session.conf.set(key, value)
        session.udf.register("probe_upper", lambda text: (text or "").upper(), "string")
        session.sql("declare or replace variable probe_k int default 100")
        built = Engines(session)
        built.build()
        yield built
        for schema in ("facts", "ice.facts"):
            for (table,) in session.sql(f"show tables in {schema}").select("tableName").collect():
                session.sql(f"drop table {schema}.{table}")


@pytest.fixture(scope="module")
def measured(request, engines):
    """The rows of the tests that were selected, measured on two threads: files before and after, or the engine's error."""

    def measure(parameter):
        form, _, fact = parameter.values
        try:
            return engines.files(form, fact.table, fact.sql)
        except Exception as error:  # reported with the row that it belongs to
            return str(error)[:500]

    names = {
        item.name.partition("[")[2].removesuffix("]") for item in request.session.items if item.path == request.path
    }
    rows = _conditions("delta", "iceberg")
    if "delta" not in names:  # else a test that reads all rows of a format
        rows = [row for row in rows if row.id in names]
    with ThreadPoolExecutor(2) as threads:
        return {row.id: found for row, found in zip(rows, threads.map(measure, rows), strict=True)}


@pytest.mark.parametrize(("form", "name", "fact"), _conditions("delta", "iceberg"))
def test_the_engine_does_as_the_row_says(measured, form, name, fact):
    found = measured[f"{form}-{name}-{fact.subject}"]
    assert not isinstance(found, str), found
    before, after = found
    assert (after < before) is (fact.answer == "yes"), f"{after} of {before} files: {fact.sql}"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["delta", "iceberg"])
def test_each_probe_table_can_tell_both(measured, form):
    """A table on which nothing prunes, or everything, would show nothing."""
    seen: dict[str, set[bool]] = {}
    for row in _conditions(form):
        before, after = measured[row.id]
        seen.setdefault(row.values[2].table, set()).add(after < before)
    assert {table for table, kinds in seen.items() if kinds != {True, False}} <= _ONE_SIDED[form]


# Of each of these a twin shows the other side: the same condition on a table with other properties.
_ONE_SIDED = {"delta": {"all_indexed"}, "iceberg": {"wide", "full", "none"}}


@pytest.mark.parametrize(
    ("form", "name", "fact"),
    [row for row in _conditions("delta") if (row.values[1], row.values[2].subject) in _REAL],
)
def test_the_short_way_is_the_real_one(engines, measured, form, name, fact):
    using = "select 1L as id where false"
    ran = engines.run_delta(fact.table, fact.sql, "when matched then delete", using)
    assert ran == measured[f"{form}-{name}-{fact.subject}"]


_DAY = "dt = date'2020-06-02'"


def _clause_runs(fact: Fact) -> dict[str, tuple[str, str, bool]]:
    """Return ON, the clauses and whether the source is filtered, by the place of the condition."""
    bare = fact.sql.replace("{when}", "")
    restricted = fact.sql.replace("{when}", f" and t.{_DAY}")
    return {
        "on": (f"t.id = s.id and t.{_DAY}", bare, False),
        "when": ("t.id = s.id", restricted, False),
        "inferred": ("t.id = s.id and t.dt = s.dt", bare, True),
    }


@pytest.mark.parametrize("place", ["on", "when", "inferred"])
@pytest.mark.parametrize(("form", "fact"), _clauses())
def test_a_clause_lets_prune_what_the_row_says(engines, form, fact, place):
    on, clauses, filtered = _clause_runs(fact)[place]
    if form == "iceberg":
        using = "select * from ice.facts.data" + (f" where {_DAY}" if filtered else "")
        before, after = engines.iceberg(fact.table, on, clauses, using)
    else:
        # Delta decides on BY SOURCE while it runs, and a source without rows changes nothing.
        using = "select * from facts.data where id < 0" + (f" and {_DAY}" if filtered else "")
        count = engines.run_delta if "by source" in clauses else engines.delta
        before, after = count(fact.table, on, clauses, using)
    assert before >= 10
    assert (after < before) is (place in fact.answer), f"{after} of {before} files"


def test_the_clause_rows_are_those_of_whole_merges(engines):
    facts = [fact for fact in CLAUSES.facts("delta") if fact.subject in ("upsert", "delete")]
    assert len(facts) == 2
    for fact in facts:
        for place, (on, clauses, _) in _clause_runs(fact).items():
            before, after = engines.run_delta(fact.table, on, clauses, "select * from facts.data where id < 0")
            assert (after < before) is (place in fact.answer)


_COLUMNS = {
    "tinyint": "tiny",
    "smallint": "small",
    "int": "k",
    "bigint": "id",
    "float": "fl",
    "double": "db",
    "decimal": "de",
    "date": "dt",
    "timestamp": "ts",
    "timestamp_ntz": "ntz",
    "boolean": "flag",
    "binary": "bin",
}
_VALUES = {
    "int": "1",
    "bigint": "1L",
    "decimal": "1.0",
    "double": "1D",
    "string": "'1'",
    "date": "date'2020-06-01'",
    "timestamp": "timestamp'2020-06-01 00:00:00'",
    "timestamp_ntz": "timestamp_ntz'2020-06-01 00:00:00'",
    "boolean": "true",
}


@pytest.mark.parametrize("schema", ["facts", "ice.facts"])
def test_spark_refuses_the_literals_that_are_said_to_be(engines, schema):
    for column, literal in REFUSED_LITERALS:
        with pytest.raises(Exception, match=re.escape("DATATYPE_MISMATCH")):
            engines.session.sql(f"select * from {schema}.data where {_COLUMNS[column]} >= {_VALUES[literal]}")


def test_delta_fails_on_a_char_column_in_a_condition(engines):
    with pytest.raises(Exception, match="DELTA_MERGE_RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT"):
        engines.delta("data", "t.id = s.id and t.c = 'v120x'")
