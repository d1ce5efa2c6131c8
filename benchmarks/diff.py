"""What a comparison of rows takes, next to EXCEPT ALL both ways: two tables, two versions, and versions with the same files.

    python benchmarks/diff.py [--rounds 3] [--rows 1000000] [--files 100] [--formats delta iceberg]

A table has `rows` rows of ten columns in `files` files, each with a range of keys. Another one has the same rows but for
one of a hundred, in other files. The third version of the first table has one other file: rows of its range of keys were
updated. A hand-written check is two EXCEPT ALL queries, which say how many rows differ, and neither which columns nor
which rows. All run in turns in one warm driver; the first round is not counted.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from merge_runner.engine.compare import Criteria, compare_tables
from merge_runner.engine.spark.sql import run_statement
from merge_runner.engine.startup import start_driver
from merge_runner.engine.table_format.protocol import TableVersion
from merge_runner.engine.table_format.registry import table_format
from merge_runner.formats import Format
from merge_runner.formats.registry import FORMATS
from merge_runner.project.schema.profile import Profile
from merge_runner.relation import Relation

ROW = """SELECT id, id % 97 AS a, id % 1009 AS b, rand(1) AS c, date_add(date'2024-01-01', cast(id % 365 AS int)) AS d,
sha2(cast(id AS string), 256) AS e, cast(id AS decimal(18, 2)) AS f, id % 2 = 0 AS g, concat('name ', id % 5000) AS h,
timestamp_seconds(id) AS i FROM range({rows})"""
CASES = ("two tables, 1 row of 100 changed", "two versions, 1 file changed", "two versions, the same files")
LIMITS = {CASES[0]: "10 s", CASES[1]: "2 s", CASES[2]: ""}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--formats", nargs="+", default=list(FORMATS), choices=FORMATS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        profile = Profile("bench", "bench", schema="bench", master="local[*]", warehouse="warehouse")
        ice = {"type": "hadoop", "warehouse": f"{folder}/ice"}
        profile = replace(profile, catalogs={"ice": ice} if "iceberg" in options.formats else {})
        driver = start_driver(profile, Path(folder), Path(folder) / "spark.log", os.environ)
        print("| format | case | diff | EXCEPT ALL both ways | ratio | aim |\n|---|---|---|---|---|---|")
        try:
            with driver.session() as session:
                for format in options.formats:
                    measure(session, format, options.rows, options.files, options.rounds)
        finally:
            driver.stop()


def measure(session: SparkSession, format: Format, rows: int, files: int, rounds: int) -> None:
    """Print a line for each case of a format."""
    catalog = "ice" if format == "iceberg" else None
    own, other = Relation("own", "bench", catalog), Relation("other", "bench", catalog)
    session.sql(f"CREATE SCHEMA IF NOT EXISTS {Relation('bench', catalog)}")
    session.sql(ROW.format(rows=rows)).createOrReplaceTempView("own_rows")
    columns = ", ".join(f"IF(id % 100 = 0, -a, a) AS {name}" if name == "a" else name for name in ("id", *"abcdefghi"))
    changed = f"SELECT {columns} FROM own_rows"
    for table, query in ((own, "SELECT * FROM own_rows"), (other, changed)):
        session.sql(query).repartitionByRange(files, "id").createOrReplaceTempView("rows_to_write")
        session.sql(f"CREATE TABLE {table} USING {format} AS SELECT * FROM rows_to_write")
    asked = table_format(format)
    before = asked.state(session, own).version
    session.sql(f"UPDATE {own} SET a = -1 WHERE id < {rows // files // 2}")
    sides = {
        CASES[0]: (TableVersion(own), TableVersion(other)),
        CASES[1]: (TableVersion(own), TableVersion(own, before)),
        CASES[2]: (TableVersion(own), TableVersion(own, asked.state(session, own).version)),
    }
    for case, (left, right) in sides.items():

        def diff(left: TableVersion = left, right: TableVersion = right) -> None:
            compare_tables(session, left, right, asked, Criteria(("id",)))

        def except_all(left: TableVersion = left, right: TableVersion = right) -> None:
            for one, two in ((left, right), (right, left)):
                run_statement(session, f"SELECT count(*) FROM (SELECT * FROM {one} EXCEPT ALL SELECT * FROM {two})")

        seconds: dict[str, list[float]] = {"diff": [], "except": []}
        for _ in range(rounds + 1):
            for name, run in (("diff", diff), ("except", except_all)):
                seconds[name].append(elapsed(run))
        ours, theirs = (statistics.median(times[1:]) for times in seconds.values())
        print(
            f"| {format} | {case} | {ours:.2f} s | {theirs:.2f} s | {ours / theirs:.2f} | {LIMITS[case]} |", flush=True
        )


def elapsed(run: Callable[[], None]) -> float:
    """Return the seconds that a call takes."""
    started = time.monotonic()
    run()
    return time.monotonic() - started


if __name__ == "__main__":
    main()
