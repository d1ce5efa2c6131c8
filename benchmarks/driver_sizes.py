"""What the driver holds and how long it takes before Spark's own work: large logs, many values, many models.

    python benchmarks/driver_sizes.py [--files 1000000] [--partitions 100000] [--values 10000] [--models 5000] [--only log]

`log`: a Delta table whose log is generated, with no data files: so many files in so many partitions. Each step that a
MERGE takes before its statement, and those that read its figures afterwards, is called by itself, with the heap that is
in use after it and the most that was in use meanwhile. `commit`: reading the figures of one commit of so many actions.
`values`: a runtime filter of so many values, from rows to the statement that Spark is given. `models`: a project of so
many merge models from its files to the plan of all nodes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from merge_runner import Project
from merge_runner.engine.spark.sql import files_read
from merge_runner.engine.startup import start_driver
from merge_runner.engine.table_format.commit_metadata import stamp
from merge_runner.engine.table_format.registry import table_format
from merge_runner.formats.types import parse_type
from merge_runner.merge.parse import parse
from merge_runner.project.schema.profile import Profile
from merge_runner.pruning.runtime_filter.bound_literal import literal_type
from merge_runner.pruning.runtime_filter.bound_predicate import (
    MOST_LISTED,
    MOST_RANGES,
    BoundValues,
    KeyedLiteral,
    ValueRange,
    bound_predicate,
)
from merge_runner.relation import Relation

STAMP = stamp("an invocation", "model.bench.big")
SCHEMA = {
    "type": "struct",
    "fields": [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in (("id", "long"), ("p", "integer"), ("amount", "double"))
    ],
}
METADATA = {
    "id": "big",
    "format": {"provider": "parquet", "options": {}},
    "schemaString": json.dumps(SCHEMA),
    "partitionColumns": ["p"],
    "configuration": {},
    "createdTime": 0,
}
_PER_COMMIT = 100_000


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, default in (("files", 1_000_000), ("partitions", 100_000), ("values", 10_000), ("models", 5_000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--only", choices=("log", "values", "models"))
    asked = parser.parse_args()
    parts = {"models": lambda: models(asked.models), "values": lambda: values(asked.values), "log": lambda: log(asked)}
    for name, part in parts.items():
        if asked.only in (None, name):
            part()


def show(step: str, seconds: float, memory: str) -> None:
    print(f"| {step} | {seconds:.2f} s | {memory} |", flush=True)


def own_memory() -> str:
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB at most in this process"


def models(number: int) -> None:
    """A project of so many models: each reads the one that is a hundred before it."""
    from merge_runner.run.results.artifacts import plan_nodes

    print(f"\n{number:,} merge models:\n\n| step | processor time | memory |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "models").mkdir()
        (root / "pyproject.toml").write_text('[tool.merge-runner]\nname = "bench"\n')
        (root / "profiles.yml").write_text("bench: {outputs: {local: {schema: bench}}}\n")
        for place in range(number):
            source = f"{{{{ ref('m{place - 100}') }}}}" if place >= 100 else "(select 1L as id, 2 as p, 3D as amount)"
            (root / f"models/m{place}.sql").write_text(
                "{{ config(partition_by='p', unique_key='id') }}\n"
                f"merge into {{{{ this }}}} as t using {source} as s on t.id = s.id and t.p = s.p\n"
                "when matched then update set amount = s.amount when not matched then insert *\n"
            )
        columns = "[{name: id, data_type: bigint}, {name: p, data_type: int}, {name: amount, data_type: double}]"
        entries = "".join(f"  - {{name: m{place}, columns: {columns}}}\n" for place in range(number))
        (root / "models/m.yml").write_text(f"models:\n{entries}")
        started = time.process_time()
        project = Project.load(root)
        show("load the project, make its graph", time.process_time() - started, own_memory())
        started = time.process_time()
        plan_nodes(project.prepared, list(project.graph.nodes), "an invocation")
        show("render, parse, judge and plan all nodes", time.process_time() - started, own_memory())


def values(number: int) -> None:
    """A runtime filter on a clustering column and on a partition column, from keys to the parsed statement."""
    print(f"\n{number:,} values of a source:\n\n| step | processor time | memory |\n|---|---|---|")
    bigint = parse_type("bigint")
    assert bigint is not None
    kind = literal_type(bigint, bigint)
    assert kind is not None
    keys = {7 * place for place in range(number)}
    started = time.process_time()
    literals = [KeyedLiteral(key, str(kind.literal(key))) for key in sorted(keys)]
    found = BoundValues(tuple(ValueRange(each, each) for each in literals), kind.step)
    show("literals", time.process_time() - started, own_memory())
    for listed, what in (
        (MOST_RANGES, "ranges"),
        (MOST_LISTED, "ranges of a partition column"),
        (number, "all listed"),
    ):
        started = time.process_time()
        text = bound_predicate("t.`id`", found, most_values=listed).text
        statement = parse(
            f"merge into a.b as t using c.d as s on t.id = s.id AND {text} when matched then update set x = s.x"
        )
        assert len(statement.on) > 1
        show(
            f"condition of {what} ({len(text):,} characters), parsed again", time.process_time() - started, own_memory()
        )


def log(asked: argparse.Namespace) -> None:
    """The steps of a MERGE into a table of many files, on the engine."""
    print(f"\n{asked.files:,} files in {asked.partitions:,} partitions:\n\n| step | time | memory |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        started = time.monotonic()
        write_log(root / "warehouse/bench/big", asked.files, asked.partitions)
        show("(generate the log)", time.monotonic() - started, "")
        profile = Profile("bench", "bench", "bench", master="local[2]", warehouse="warehouse")
        driver = start_driver(profile, root, root / "spark.log", os.environ)
        try:
            with driver.session() as session:
                _steps(session, root, asked)
        finally:
            driver.stop()


def _steps(session: Any, root: Path, asked: argparse.Namespace) -> None:
    delta, table = table_format("delta"), Relation("big", "bench")
    session.sql("create schema if not exists bench")
    session.sql(f"create table bench.big using delta location '{root}/warehouse/bench/big'")
    measured = _Heap(session)

    def step(name: str, work: Callable[[], Any]) -> Any:
        with measured.step(name):
            return work()

    step("snapshot of the newest version, the first time", lambda: delta.snapshot(session, table))
    step("state: version, files, bytes", lambda: delta.state(session, table))
    step("the same again", lambda: delta.state(session, table))
    step("layout", lambda: delta.layout(session, table))
    step("columns", lambda: delta.columns(session, table))
    few = f"select 1 from {table} where p in ({', '.join(map(str, range(10)))})"
    many = f"select 1 from {table} where p in ({', '.join(map(str, range(MOST_LISTED)))})"
    step("files of a filter of 10 partitions", lambda: files_read(session, few))
    step(f"files of a filter of {MOST_LISTED:,} partitions", lambda: files_read(session, many))
    step("files of a filter that keeps all", lambda: files_read(session, f"select 1 from {table} where p >= 0"))
    before = delta.snapshot(session, table)
    step("files that pass conditions, for the verdict", lambda: before.files_passing(["partitionValues['p'] >= '0'"]))
    step(
        f"the commit of a MERGE with {_PER_COMMIT:,} actions, by its stamp",
        lambda: delta.commit_with(session, table, STAMP),
    )


class _Heap:
    """The heap of the driver's JVM."""

    def __init__(self, session: Any) -> None:
        self._java = session.sparkContext._jvm.java.lang

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        self._collect()
        pools = self._java.management.ManagementFactory.getMemoryPoolMXBeans()
        heap = [pool for pool in pools if str(pool.getType()) == "Heap memory"]
        for pool in heap:
            pool.resetPeakUsage()
        started = time.monotonic()
        yield
        seconds = time.monotonic() - started
        most = sum(pool.getPeakUsage().getUsed() for pool in heap)
        self._collect()
        show(name, seconds, f"{self._used() >> 20:,} MB of heap, at most {most >> 20:,}")

    def _collect(self) -> None:
        self._java.System.gc()

    def _used(self) -> int:
        runtime = self._java.Runtime.getRuntime()
        return int(runtime.totalMemory() - runtime.freeMemory())


def write_log(table: Path, files: int, partitions: int) -> None:
    """Write the log of a Delta table whose last commit is a MERGE with many actions; no data file is written."""
    log = table / "_delta_log"
    log.mkdir(parents=True)
    first = [
        {"commitInfo": {"timestamp": 0, "operation": "CREATE TABLE", "operationParameters": {}}},
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": METADATA},
    ]
    _commit(log, 0, map(json.dumps, first))
    version = 1
    for begin in range(0, files, _PER_COMMIT):
        info = {
            "timestamp": version,
            "operation": "MERGE",
            "operationParameters": {},
            "operationMetrics": {"numSourceRows": "1"},
        }
        if begin + _PER_COMMIT >= files:
            info["userMetadata"] = STAMP
        adds = (_add(place, place % partitions) for place in range(begin, min(files, begin + _PER_COMMIT)))
        _commit(log, version, (each for part in ([json.dumps({"commitInfo": info})], adds) for each in part))
        version += 1


def _commit(log: Path, version: int, lines: Iterator[str]) -> None:
    with (log / f"{version:020}.json").open("w") as file:
        file.writelines(f"{line}\n" for line in lines)


def _add(place: int, partition: int) -> str:
    statistics = {
        "numRecords": 1000,
        "minValues": {"id": 1000 * place, "amount": 0.0},
        "maxValues": {"id": 1000 * place + 999, "amount": 9.0},
        "nullCount": {"id": 0, "amount": 0},
    }
    add = {
        "path": f"p={partition}/part-{place:07}-0000.snappy.parquet",
        "partitionValues": {"p": str(partition)},
        "size": 10_000_000,
        "modificationTime": place,
        "dataChange": True,
        "stats": json.dumps(statistics),
    }
    return json.dumps({"add": add})


if __name__ == "__main__":
    main()
