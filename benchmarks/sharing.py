"""Inputs that several merges read: computed once for all, or by each merge for itself.

    python benchmarks/sharing.py [--rounds 3] [--rows 10000 100000 600000]

Four merges aggregate the rows of a view over one CSV file in four ways, into targets that are there. The builds with
sharing and without take turns on one warm driver, two threads each; an untimed build creates the tables. "Without" is
the same build, told that no input is large enough. An input below `SMALL` is read again in both.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from merge_runner import Project
from merge_runner.engine.startup import Driver, start_driver
from merge_runner.engine.tables import input_cache

SOURCES = """sources:
  - name: raw
    tables:
      - name: sale
        path: sale.csv
        format: csv
        options: {header: true}
        columns:
          - {name: id, data_type: bigint}
          - {name: shop, data_type: int}
          - {name: day, data_type: date}
          - {name: amount, data_type: double}
          - {name: note, data_type: string}
"""
VIEW = """{{ config(materialized='view') }}
select id, shop, day, amount, upper(note) as note, row_number() over (partition by shop order by id) as place
  from {{ source('raw', 'sale') }}
"""
MERGE = """merge into {{{{ this }}}} as t
using (select {by} as k, count(*) as n, sum(amount) as total, max(place) as last from {{{{ ref('sale') }}}} group by 1) as s
   on t.k = s.k
when matched then update set *
when not matched then insert *
"""
KEYS = {"by_shop": "shop", "by_day": "day", "by_month": "trunc(day, 'month')", "by_note": "note"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 600_000])
    asked = parser.parse_args()
    print("| rows | file | each for itself | shared | ratio |\n|---|---|---|---|---|")
    for rows in asked.rows:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            make_project(root, rows)
            driver = start_driver(Project.load(root).prepared.files.profile, root, root / "spark.log", os.environ)
            try:
                alone, shared = measured(root, driver, asked.rounds)
            finally:
                driver.stop()
            megabytes = (root / "sale.csv").stat().st_size / 1e6
            print(
                f"| {rows:,} | {megabytes:.1f} MB | {alone:.2f} s | {shared:.2f} s | {shared / alone:.2f} |", flush=True
            )


def make_project(root: Path, rows: int) -> None:
    """A file of so many rows, a view of it, and merges that read the view."""
    (root / "models").mkdir()
    (root / "pyproject.toml").write_text('[tool.merge-runner]\nname = "bench"\n')
    (root / "profiles.yml").write_text("bench: {outputs: {local: {schema: bench}}}\n")
    (root / "models" / "sources.yml").write_text(SOURCES)
    (root / "models" / "sale.sql").write_text(VIEW)
    for name, key in KEYS.items():
        (root / "models" / f"{name}.sql").write_text(MERGE.format(by=key))
    with (root / "sale.csv").open("w") as file:
        file.write("id,shop,day,amount,note\n")
        for number in range(rows):
            day = f"2024-{number % 12 + 1:02}-{number % 28 + 1:02}"
            file.write(f"{number},{number % 500},{day},{number * 0.5},note {number % 1000} of many words\n")


def measured(root: Path, driver: Driver, rounds: int) -> tuple[float, float]:
    """Median seconds of a build in which each merge reads for itself, and of one in which they share."""
    small = input_cache.SMALL
    build(root, driver)
    seconds: dict[int, list[float]] = {1 << 60: [], small: []}
    for _ in range(rounds):
        for limit, times in seconds.items():
            input_cache.SMALL = limit
            times.append(build(root, driver))
    input_cache.SMALL = small
    return statistics.median(seconds[1 << 60]), statistics.median(seconds[small])


def build(root: Path, driver: Driver) -> float:
    """Seconds of a build of the merges."""
    started = time.perf_counter()
    results = Project.load(root).build(driver=driver, threads=2, lint=False, select=["resource_type:model"])
    if not results.ok:
        raise SystemExit("\n".join(str(result.message) for result in results.results))
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
