"""What runtime filters buy where a MERGE joins on its key alone: by kind of key, layout and number of ranges.

    python benchmarks/key_only.py [--rounds 2] [--rows 2000000] [--files 100] [--changes 5000] [--ranges 1 10 32 200 1000]
        [--formats delta iceberg] [--keys bigint text] [--layouts clustered unclustered] [--kinds monotonic local random]

A table of `rows` rows in `files` files is merged with `changes` rows by `t.id = s.id`, half of them updates. The key is
a bigint or a text (an ordered one, as a UUID of version 7 or a ULID; random changes of it are those of a UUID of version
4). The table is clustered by it (each file has a range of keys) or not (each file has keys of all). The changed keys are
the highest and the latest ones (monotonic), in five dense stretches (local), or spread over all (random). Every variant
merges into the table as it was written; they take turns, and the first round of a table is not counted.

Seconds are those of the MERGE and of all that its filter takes: the query for the source's keys and, on Delta, the count
of the files that would be left. Where these are nearly all, the runner leaves the filter out; here it is kept.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from pyspark.sql import SparkSession

from merge_runner.engine.merge.source_values import AskedValues, source_values
from merge_runner.engine.spark.sql import files_read, run_measured, temporary_confs
from merge_runner.engine.startup import start_driver
from merge_runner.engine.table_format.commit_metadata import stamp, stamp_confs
from merge_runner.engine.table_format.registry import table_format
from merge_runner.formats import Format
from merge_runner.formats.registry import FORMATS
from merge_runner.formats.types import DataType
from merge_runner.project.schema.profile import Profile
from merge_runner.pruning.runtime_filter.bound_literal import literal_type
from merge_runner.pruning.runtime_filter.bound_predicate import bound_predicate
from merge_runner.relation import Relation

TARGETS: dict[Format, Relation] = {"delta": Relation("t", "bench"), "iceberg": Relation("t", "bench", "ice")}
KEYS = {"bigint": "n", "text": "concat(lpad(lower(hex(n)), 12, '0'), '-', left(md5(cast(n as string)), 20))"}
TYPES = {"bigint": DataType("bigint"), "text": DataType("string")}


@dataclass(frozen=True)
class Case:
    """A table and the changes that are merged into it. Its rows have the even numbers below twice their number."""

    format: Format
    key: str
    layout: str
    rows: int
    files: int

    @property
    def target(self) -> Relation:
        """The table."""
        return TARGETS[self.format]

    def make(self, session: SparkSession) -> int:
        """Write the table, and return the version of it that every MERGE starts from."""
        session.sql(f"drop table if exists {self.target}")
        session.sql(f"create table {self.target} (id {TYPES[self.key]}, v double, note string) using {self.format}")
        numbers = session.sql(f"select id * 2 as n from range(0, {self.rows}, 1, 4)")
        rows = numbers.selectExpr(f"{KEYS[self.key]} as id", "rand(1) as v", "sha2(cast(n as string), 256) as note")
        clustered = self.layout == "clustered"
        rows = rows.repartitionByRange(self.files, "id") if clustered else rows.repartition(self.files)
        if self.format == "iceberg":
            session.sql(f"alter table {self.target} set tblproperties ('write.distribution-mode' = 'none')")
        rows.writeTo(str(self.target)).append()
        version = table_format(self.format).state(session, self.target).version
        if version is None:
            raise SystemExit("no table was written")
        return version

    def changed(self, session: SparkSession, kind: str, changes: int, root: Path) -> None:
        """Write the changed keys, and make `changes` their view."""
        most = 2 * self.rows
        numbers = {
            "monotonic": f"{most - changes} + id * 2",
            "local": f"(id div {changes // 5}) * {most // 5} + {most // 10} + id % {changes // 5}",
            "random": f"pmod(xxhash64(id), {most})",
        }[kind]
        folder = str(root / f"{self.key}-{kind}")
        made = session.sql(f"select distinct {numbers} as n from range(0, {changes}, 1, 2)")
        made.selectExpr(f"{KEYS[self.key]} as id", "-1.0D as v").coalesce(2).write.mode("overwrite").parquet(folder)
        session.read.parquet(folder).createOrReplaceTempView("changes")

    def restore(self, session: SparkSession, version: int) -> None:
        """Make the table what it was."""
        if self.format == "delta":
            session.sql(f"restore table {self.target} to version as of {version}").collect()
        else:
            session.sql(f"call ice.system.rollback_to_snapshot('bench.t', {version})").collect()


@dataclass(frozen=True)
class Measured:
    """Seconds of a MERGE with its filter, those of the filter alone, and the files that were left to scan."""

    seconds: float
    asking: float
    scanned: int


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--changes", type=int, default=5_000)
    parser.add_argument("--ranges", type=int, nargs="+", default=[1, 10, 32, 200, 1000])
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=list(FORMATS))
    parser.add_argument("--keys", nargs="+", choices=list(KEYS), default=list(KEYS))
    parser.add_argument("--layouts", nargs="+", default=["clustered", "unclustered"])
    parser.add_argument("--kinds", nargs="+", default=["monotonic", "local", "random"])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        profile = Profile(
            "bench",
            "bench",
            schema="bench",
            warehouse="warehouse",
            master="local[*]",
            catalogs={"ice": {"type": "embedded"}},
        )
        driver = start_driver(profile, root, root / "spark.log", os.environ)
        columns = ["no filter", *(f"{number:,} ranges" if number > 1 else "1 range" for number in asked.ranges)]
        print(f"| format | key | table | changes | {' | '.join(columns)} | asking |")
        print(f"|{'---|' * (len(columns) + 5)}")
        try:
            with driver.session() as session:
                session.sql("create schema bench")
                session.sql("create schema ice.bench")
                for format, key, layout in product(asked.formats, asked.keys, asked.layouts):
                    case = Case(format, key, layout, asked.rows, asked.files)
                    version = case.make(session)
                    for place, kind in enumerate(asked.kinds):
                        case.changed(session, kind, asked.changes, root)
                        if place == 0:
                            rounds(session, case, version, asked.ranges, 1)
                        found = rounds(session, case, version, asked.ranges, asked.rounds)
                        print(f"| {format} | {key} | {layout} | {kind} | {' | '.join(cells(found))} |", flush=True)
        finally:
            driver.stop()


def rounds(
    session: SparkSession, case: Case, version: int, ranges: Sequence[int], counted: int
) -> dict[int, list[Measured]]:
    """Merge without a filter (0 ranges) and with every number of ranges in turn."""
    found: dict[int, list[Measured]] = {number: [] for number in (0, *ranges)}
    for _ in range(counted):
        for number, measures in found.items():
            measures.append(measured(session, case, number, stamp(str(time.monotonic_ns()), "model.bench.key")))
            case.restore(session, version)
    return found


def measured(session: SparkSession, case: Case, ranges: int, own: str) -> Measured:
    """Merge once, with a filter of so many ranges."""
    started = time.perf_counter()
    condition = "" if ranges == 0 else f" and {filtering(session, case, ranges)}"
    asking = time.perf_counter() - started
    with temporary_confs(session, stamp_confs(own)):
        ran = run_measured(
            session,
            f"merge into {case.target} as t using changes as s on t.id = s.id{condition} "
            "when matched then update set v = s.v when not matched then insert (id, v) values (s.id, s.v)",
        )
    seconds = time.perf_counter() - started
    figures = table_format(case.format).merge_figures(session, case.target, own, ran)
    return Measured(seconds, asking if ranges else 0.0, figures.files_scanned or 0)


def filtering(session: SparkSession, case: Case, ranges: int) -> str:
    """Return the condition that the runner adds."""
    kind = literal_type(TYPES[case.key], TYPES[case.key])
    values = source_values(session, "", "changes AS s", [AskedValues("s.id", kind, null=False)]) if kind else [None]
    if values[0] is None:
        raise SystemExit("no literal says these keys")
    condition = bound_predicate("t.id", values[0], most_values=0, ranges=ranges).text
    if case.format == "delta":
        files_read(session, f"SELECT 1 FROM {case.target} AS t WHERE {condition}")
    return condition


def cells(found: dict[int, list[Measured]]) -> Iterator[str]:
    """The cells of a row: files scanned, and seconds as a ratio to those without a filter."""
    plain = statistics.median(one.seconds for one in found[0])
    for number, measures in found.items():
        seconds = statistics.median(one.seconds for one in measures)
        ratio = f"{seconds / plain:.2f}" if number else f"{seconds:.1f} s"
        yield f"{measures[-1].scanned}, {ratio}"
    yield f"{statistics.median(one.asking for measures in list(found.values())[1:] for one in measures):.1f} s"


if __name__ == "__main__":
    main()
