"""What a distribution mode costs and gives: an Iceberg MERGE with `none`, `hash` and `range`.

    python benchmarks/distribution.py [--rounds 3] [--rows 2000000] [--partitions 50] [--tasks 8]

A table with `partitions` partitions gets a MERGE that updates a tenth of its rows and inserts as many, from a source
whose rows are spread over all partitions in each of `tasks` tasks. Every MERGE meets a table that has just been written
anew; the modes take turns, and a first round is not counted. Both ways of `write.merge.mode` are measured.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from pyspark.sql import SparkSession

from merge_runner.engine.session import start_driver
from merge_runner.project.profile import Profile

MODES = ("none", "hash", "range")
WAYS = ("copy-on-write", "merge-on-read")


@dataclass(frozen=True)
class Measured:
    """Seconds of a MERGE; the data files and bytes that it added."""

    seconds: float
    files: int
    written: int


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--partitions", type=int, default=50)
    parser.add_argument("--tasks", type=int, default=8)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        profile = Profile(
            "bench",
            "bench",
            schema="bench",
            warehouse="warehouse",
            master="local[*]",
            conf={"spark.sql.shuffle.partitions": str(asked.tasks)},
            catalogs={"ice": {"type": "embedded"}},
        )
        driver = start_driver(profile, root, root / "spark.log", os.environ)
        try:
            with driver.session() as session:
                session.sql("create schema ice.bench")
                rows = f"select id, cast(id % {asked.partitions} as int) as part, rand(1) as v"
                made = session.sql(f"{rows} from range(0, {asked.rows}, 1, {asked.tasks})")
                made.write.parquet(str(root / "made"))
                last = asked.rows + asked.rows // 10
                first = asked.rows - asked.rows // 10
                changes = session.sql(f"{rows} from range({first}, {last}, 1, {asked.tasks})")
                changes.write.parquet(str(root / "changes"))
                report(session, root, asked.rounds)
        finally:
            driver.stop()


def report(session: SparkSession, root: Path, rounds: int) -> None:
    """Measures all modes, and prints a row of the table for each."""
    cases = list(product(WAYS, MODES))
    found: dict[tuple[str, str], list[Measured]] = {case: [] for case in cases}
    for number in range(rounds + 1):
        for way, mode in cases:
            one = measured(session, root, way, mode)
            if number:
                found[way, mode].append(one)
    print("| merge mode | distribution | MERGE | data files added | MB a file |")
    print("|---|---|---|---|---|")
    for (way, mode), all_of_it in found.items():
        last = all_of_it[-1]
        seconds = statistics.median(one.seconds for one in all_of_it)
        size = last.written / max(1, last.files) / 1e6
        print(f"| {way} | {mode} | {seconds:.2f} s | {last.files:,} | {size:.2f} |", flush=True)


def measured(session: SparkSession, root: Path, way: str, mode: str) -> Measured:
    """Writes the table anew, and measures one MERGE into it."""
    session.sql("drop table if exists ice.bench.t")
    session.sql(
        "create table ice.bench.t (id bigint, part int, v double) using iceberg partitioned by (part) "
        f"tblproperties ('write.merge.mode' = '{way}', 'write.merge.distribution-mode' = '{mode}')"
    )
    session.read.parquet(str(root / "made")).writeTo("ice.bench.t").append()
    session.read.parquet(str(root / "changes")).createOrReplaceTempView("changes")
    started = time.perf_counter()
    session.sql(
        "merge into ice.bench.t as t using changes as s on t.id = s.id and t.part = s.part "
        "when matched then update set v = s.v when not matched then insert *"
    ).collect()
    seconds = time.perf_counter() - started
    query = "select summary from ice.bench.t.snapshots order by committed_at desc limit 1"
    summary = session.sql(query).collect()[0][0]
    return Measured(seconds, int(summary.get("added-data-files", 0)), int(summary.get("added-files-size", 0)))


if __name__ == "__main__":
    main()
