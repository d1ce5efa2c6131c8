"""When `low_shuffle` pays: a MERGE that copies touched files against one that writes deletion vectors.

    python benchmarks/low_shuffle.py [--rounds 3] [--rows 4000000] [--files 4 40] [--changed 1 1000 100000 4000000]

A Delta table of `rows` rows in `files` files gets a MERGE that updates `changed` rows spread over all its files (at
least one in each file, where there are as many rows as files). Every MERGE starts from a fresh copy of the table. `copied`
is what the engine's own metrics say. Both ways take turns; a first round is not counted. Reading the table afterwards
(a filter that every file passes, and a sum) is measured as well, since deletion vectors are paid for when one reads.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession

from merge_runner.engine.startup import start_driver
from merge_runner.project.schema.profile import Profile

WAYS = {"copies": "false", "low_shuffle": "true"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--files", type=int, nargs="+", default=[4, 40])
    parser.add_argument("--changed", type=int, nargs="+", default=[1, 1_000, 100_000, 4_000_000])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        profile = Profile("bench", "bench", schema="bench", warehouse="warehouse", master="local[*]")
        driver = start_driver(profile, root, root / "spark.log", os.environ)
        print(
            "| files | changed rows | copies: rows copied | MERGE | read | low_shuffle: rows copied | MERGE | read | ratio |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        try:
            with driver.session() as session:
                for files in asked.files:
                    make_tables(session, root, asked.rows, files)
                    for changed in asked.changed:
                        report(session, root, asked.rows, files, changed, asked.rounds)
        finally:
            driver.stop()


def make_tables(session: SparkSession, root: Path, rows: int, files: int) -> None:
    """One pristine table for each way, alike but for the property."""
    for way, vectors in WAYS.items():
        folder = root / f"{way}-{files}"
        session.sql(
            f"create table delta.`{folder}` (id bigint, v double, note string) using delta "
            f"tblproperties ('delta.enableDeletionVectors' = '{vectors}')"
        )
        made = session.range(0, rows, 1, files).selectExpr("id", "rand(1) as v", "concat('note ', id % 1000) as note")
        made.write.format("delta").mode("append").save(str(folder))


def report(session: SparkSession, root: Path, rows: int, files: int, changed: int, rounds: int) -> None:
    """Measures both ways, and prints a row of the table."""
    merges: dict[str, list[float]] = {way: [] for way in WAYS}
    reads: dict[str, list[float]] = {way: [] for way in WAYS}
    copied: dict[str, str] = {}
    for number in range(rounds + 1):
        for way in WAYS:
            merge, read, copied[way] = measured(session, root, root / f"{way}-{files}", rows, changed)
            if number:
                merges[way].append(merge)
                reads[way].append(read)
    cells = []
    for way in WAYS:
        cells += [
            f"{int(copied[way]):,}",
            f"{statistics.median(merges[way]):.2f} s",
            f"{statistics.median(reads[way]):.2f} s",
        ]
    ratio = statistics.median(merges["low_shuffle"]) / statistics.median(merges["copies"])
    print(f"| {files} | {changed:,} | {' | '.join(cells)} | {ratio:.2f} |", flush=True)


def measured(session: SparkSession, root: Path, pristine: Path, rows: int, changed: int) -> tuple[float, float, str]:
    """Seconds of the MERGE and of reading the table afterwards, and the rows that were copied."""
    target = root / f"target-{time.monotonic_ns()}"
    shutil.copytree(pristine, target)
    step = rows // changed
    started = time.perf_counter()
    session.sql(
        f"merge into delta.`{target}` as t using (select id * {step} as id, -1.0D as v from range({changed})) as s "
        "on t.id = s.id when matched then update set v = s.v when not matched then insert (id, v) values (s.id, s.v)"
    ).collect()
    merged = time.perf_counter()
    session.sql(f"select sum(v), max(note) from delta.`{target}` where id >= 0").collect()
    read = time.perf_counter()
    history = session.sql(f"describe history delta.`{target}` limit 1").collect()[0]
    shutil.rmtree(target)
    return merged - started, read - merged, history.operationMetrics["numTargetRowsCopied"]


if __name__ == "__main__":
    main()
