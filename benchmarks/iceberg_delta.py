"""The same MERGE four ways: Delta and Iceberg, each copying touched files or marking the old rows.

    python benchmarks/iceberg_delta.py [--rounds 3] [--rows 4000000] [--files 16] [--changed 1000 100000 4000000]

A table of `rows` rows in `files` files gets a MERGE that updates `changed` rows spread over all its files and inserts a
tenth as many. Every MERGE meets a table that has just been written anew; the ways take turns, and a first round is not
counted. Files and bytes are what the formats' own logs say. The Iceberg tables lie in the embedded catalog.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from merge_runner.engine.startup import start_driver
from merge_runner.project.schema.profile import Profile


@dataclass(frozen=True)
class Way:
    """A table format with the property that decides what a MERGE writes."""

    name: str
    table: str
    format: str
    properties: str


WAYS = (
    Way("Delta, copy on write", "bench.t", "delta", "'delta.enableDeletionVectors' = 'false'"),
    Way("Delta, deletion vectors", "bench.t", "delta", "'delta.enableDeletionVectors' = 'true'"),
    Way("Iceberg, copy on write", "ice.bench.t", "iceberg", "'write.merge.mode' = 'copy-on-write'"),
    Way("Iceberg, merge on read", "ice.bench.t", "iceberg", "'write.merge.mode' = 'merge-on-read'"),
)


@dataclass(frozen=True)
class Measured:
    """Seconds of a MERGE and of reading the table afterwards; files and bytes that the MERGE added and removed."""

    merge: float
    read: float
    added: int
    removed: int
    written: int


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--files", type=int, default=16)
    parser.add_argument("--changed", type=int, nargs="+", default=[1_000, 100_000, 4_000_000])
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
        print("| changed rows | way | MERGE | ratio | files added | files removed | MB written | read afterwards |")
        print("|---|---|---|---|---|---|---|---|")
        try:
            with driver.session() as session:
                session.sql("create schema bench")
                session.sql("create schema ice.bench")
                made = session.range(0, asked.rows, 1, asked.files)
                made = made.selectExpr("id", "rand(1) as v", "concat('note ', id % 1000) as note")
                made.write.parquet(str(root / "pristine"))
                for changed in asked.changed:
                    report(session, root / "pristine", asked.rows, asked.files, changed, asked.rounds)
        finally:
            driver.stop()


def report(session: SparkSession, pristine: Path, rows: int, files: int, changed: int, rounds: int) -> None:
    """Measures all ways, and prints a row of the table for each."""
    found: dict[Way, list[Measured]] = {way: [] for way in WAYS}
    for number in range(rounds + 1):
        for way in WAYS:
            one = measured(session, way, pristine, rows, files, changed)
            if number:
                found[way].append(one)
    first = statistics.median(one.merge for one in found[WAYS[0]])
    for way, all_of_it in found.items():
        merge = statistics.median(one.merge for one in all_of_it)
        read = statistics.median(one.read for one in all_of_it)
        last = all_of_it[-1]
        print(
            f"| {changed:,} | {way.name} | {merge:.2f} s | {merge / first:.2f} | {last.added:,} | {last.removed:,} "
            f"| {last.written / 1e6:.1f} | {read:.2f} s |",
            flush=True,
        )


def measured(session: SparkSession, way: Way, pristine: Path, rows: int, files: int, changed: int) -> Measured:
    """Writes the table anew, and measures one MERGE into it."""
    session.sql(f"drop table if exists {way.table}")
    session.sql(
        f"create table {way.table} (id bigint, v double, note string) using {way.format} "
        f"tblproperties ({way.properties}, 'write.distribution-mode' = 'none')"
    )
    session.read.parquet(str(pristine)).repartitionByRange(files, "id").writeTo(way.table).append()
    step = rows // changed
    started = time.perf_counter()
    session.sql(
        f"merge into {way.table} as t using (select id * {step} as id, -1.0D as v from range({changed + changed // 10})) "
        "as s on t.id = s.id when matched then update set v = s.v when not matched then insert (id, v) values (s.id, s.v)"
    ).collect()
    merged = time.perf_counter()
    session.sql(f"select sum(v), max(note) from {way.table} where id >= 0").collect()
    read = time.perf_counter()
    counts = delta_counts(session, way.table) if way.format == "delta" else iceberg_counts(session, way.table)
    return Measured(merged - started, read - merged, *counts)


def delta_counts(session: SparkSession, table: str) -> tuple[int, int, int]:
    """Files added and removed, and bytes added, of the last commit; files of deletion vectors are not among them."""
    metrics = session.sql(f"describe history {table} limit 1").collect()[0].operationMetrics
    return tuple(_number(metrics, f"numTarget{name}") for name in ("FilesAdded", "FilesRemoved", "BytesAdded"))  # type: ignore[return-value]


def iceberg_counts(session: SparkSession, table: str) -> tuple[int, int, int]:
    """The same of the last snapshot; delete files count as added, and with their bytes."""
    summary = session.sql(f"select summary from {table}.snapshots order by committed_at desc limit 1").collect()[0][0]
    added = _number(summary, "added-data-files") + _number(summary, "added-delete-files")
    return added, _number(summary, "deleted-data-files"), _number(summary, "added-files-size")


def _number(metrics: Mapping[str, str], name: str) -> int:
    return int(metrics.get(name, "0"))


if __name__ == "__main__":
    main()
