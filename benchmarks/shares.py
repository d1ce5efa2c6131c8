"""From which share of changed rows on a MERGE takes longer than writing its whole table again, as `materialized: table` does.

    python benchmarks/shares.py [--rounds 3] [--rows 1000000] [--formats delta iceberg]

A table of `rows` rows in 16 files without partitions gets new values for a share of its rows, which lie all over it. The MERGE
reads these rows from a table. The other way computes all rows from the source of the table, the new values in them, and
replaces it. The table is made again before each statement; the first round is not counted.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from merge_runner.engine.spark.sql import run_statement
from merge_runner.engine.startup import start_driver
from merge_runner.engine.table_format.registry import table_format
from merge_runner.formats import Format
from merge_runner.formats.registry import FORMATS
from merge_runner.project.schema.profile import Profile
from merge_runner.relation import Relation

SHARES = (0.01, 0.1, 0.25, 0.5, 0.75, 1.0)
ROW = """SELECT id, id % 97 AS a, sha2(cast(id AS string), 256) AS b, concat('name ', id % 5000) AS c,
timestamp_seconds(id) AS d, cast(id AS decimal(18, 2)) AS e FROM range(0, {rows}, 1, 16)"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--formats", nargs="+", default=list(FORMATS), choices=FORMATS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        profile = Profile("bench", "bench", schema="bench", master="local[*]", warehouse="warehouse")
        ice = {"type": "hadoop", "warehouse": f"{folder}/ice"}
        profile = replace(profile, catalogs={"ice": ice} if "iceberg" in options.formats else {})
        driver = start_driver(profile, Path(folder), Path(folder) / "spark.log", os.environ)
        print("| format | changed rows | MERGE | whole table | ratio | written by MERGE | whole table |")
        print("|---|---|---|---|---|---|---|")
        try:
            with driver.session() as session:
                for format in options.formats:
                    measure(session, format, options.rows, options.rounds)
        finally:
            driver.stop()


def measure(session: SparkSession, format: Format, rows: int, rounds: int) -> None:
    """Print a line for each share of a format."""
    catalog = "ice" if format == "iceberg" else None
    source, changes, target = (Relation(name, "bench", catalog) for name in ("source", "changes", "target"))
    session.sql(f"CREATE SCHEMA IF NOT EXISTS {Relation('bench', catalog)}")
    session.sql(f"CREATE TABLE {source} USING {format} AS {ROW.format(rows=rows)}")
    for share in SHARES:
        changed = f"pmod(xxhash64(id), 10000) < {int(share * 10_000)}"
        session.sql(
            f"CREATE OR REPLACE TABLE {changes} USING {format} AS SELECT id, a + 1 AS a, b, c, d, e FROM {source} "
            f"WHERE {changed}"
        )
        statements = {
            "merge": f"MERGE INTO {target} AS t USING {changes} AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * "
            "WHEN NOT MATCHED THEN INSERT *",
            "table": f"CREATE OR REPLACE TABLE {target} USING {format} AS "
            f"SELECT id, IF({changed}, a + 1, a) AS a, b, c, d, e FROM {source}",
        }
        seconds: dict[str, list[float]] = {name: [] for name in statements}
        written = {}
        for number in range(rounds + 1):
            for name, statement in statements.items():
                session.sql(f"CREATE OR REPLACE TABLE {target} USING {format} AS SELECT * FROM {source}")
                started = time.perf_counter()
                run_statement(session, statement)
                if number:
                    seconds[name].append(time.perf_counter() - started)
                commit = next(table_format(format).commits(session, target, 1))
                written[name] = table_format(format).commit_figures(commit).bytes_added
        merge, table = (statistics.median(times) for times in seconds.values())
        sizes = " | ".join(f"{(written[name] or 0) / 1e6:.0f} MB" for name in statements)
        print(f"| {format} | {share:.0%} | {merge:.2f} s | {table:.2f} s | {merge / table:.2f} | {sizes} |", flush=True)


if __name__ == "__main__":
    main()
