"""What bounds at run time buy: one merge into a table of 365 day partitions, with and without them.

    python benchmarks/bounds.py [--rounds 3] [--rows 24] [--small 6]

Two tables of the same shape, of so many million rows, are merged with the same source, 3,302 rows in 2 days of a year,
by `t.id = s.id and t.dt = s.dt`: the text prunes nothing. Each round merges into each table with `bounds: off` and with
`bounds: auto`, through the Python interface on one warm driver; an untimed round comes first. What counts are the
seconds of the node as run_results.json has them, and ratios of their medians within one run.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from pathlib import Path

from merge_runner import Project
from merge_runner.engine.startup import Driver, start_driver

SCHEMA = "bench"
DAYS = 365
MODEL = """{{ config(partition_by='dt', bounds=var('bounds')) }}
merge into {{ this }} as t
using {{ ref('changes') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set amount = s.amount
when not matched then insert *
"""
CHANGES = """{{ config(materialized='table') }}
select cast(id * 365 + 100 + id % 2 as bigint) as id, date_add(date'2024-01-01', cast(100 + id % 2 as int)) as dt,
    'new' as label, cast(id as double) as amount
from range(3302)
"""
PROPERTIES = """version: 2
models:
  - name: big
    columns: &columns
      - {name: id, data_type: bigint}
      - {name: dt, data_type: date}
      - {name: label, data_type: string}
      - {name: amount, data_type: double}
  - {name: small, columns: *columns}
  - {name: changes, columns: *columns}
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=24, help="million rows of the big table")
    parser.add_argument("--small", type=int, default=6, help="million rows of the small one")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_project(root)
        files = Project.load(root, vars={"bounds": "auto"}).prepared.files
        driver = start_driver(files.profile, root, root / "spark.log", os.environ)
        try:
            run(root, driver, asked)
        finally:
            driver.stop()


def make_project(root: Path) -> None:
    """A project of the two tables and their source."""
    files = {
        "pyproject.toml": '[tool.merge-runner]\nname = "bench"\n',
        "profiles.yml": f"bench: {{outputs: {{local: {{schema: {SCHEMA}}}}}}}\n",
        "models/models.yml": PROPERTIES,
        "models/changes.sql": CHANGES,
        "models/big.sql": MODEL,
        "models/small.sql": MODEL,
    }
    for path, text in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)


def run(root: Path, driver: Driver, asked: argparse.Namespace) -> None:
    """Makes the tables, merges, and prints what it took."""
    driver.spark.sql(f"create schema if not exists {SCHEMA}")
    for name, millions in (("big", asked.rows), ("small", asked.small)):
        driver.spark.sql(
            f"create table {SCHEMA}.{name} using delta partitioned by (dt) location '{root}/warehouse/{SCHEMA}/{name}' as "
            f"select id, date_add(date'2024-01-01', cast(id % {DAYS} as int)) as dt, concat('label ', id % 1000) as label, "
            f"rand(1) as amount from range({millions * 1_000_000}) distribute by dt"
        )
    seconds: dict[tuple[str, str], list[float]] = {}
    scanned: dict[tuple[str, str], str] = {}
    for number in range(asked.rounds + 1):
        for bounds in ("off", "auto"):
            project = Project.load(root, vars={"bounds": bounds})
            results = project.build(
                select=["big", "small", *([] if number else ["changes"])], driver=driver, lint=False
            )
            if not results.ok:
                raise SystemExit("\n".join(str(result.message) for result in results.results))
            for name in ("big", "small"):
                response = results[name].adapter_response
                key = name, bounds
                scanned[key] = f"{response['files_scanned']} of {response['files_total']}"
                if number:
                    seconds.setdefault(key, []).append(results[name].execution_time)
    median = {key: statistics.median(times) for key, times in seconds.items()}
    sizes = {"big": asked.rows, "small": asked.small}
    print("| rows | bounds | median | smallest | files scanned |\n|---|---|---|---|---|")
    for (name, bounds), times in seconds.items():
        words = f"{median[name, bounds]:.2f} s | {min(times):.2f} s | {scanned[name, bounds]}"
        print(f"| {sizes[name]} million | {bounds} | {words} |")
    print(
        f"\nwithout bounds over with them, {asked.rows} million rows: {median['big', 'off'] / median['big', 'auto']:.2f}"
    )
    print(
        f"{asked.rows} over {asked.small} million rows, with bounds: {median['big', 'auto'] / median['small', 'auto']:.2f}"
    )


if __name__ == "__main__":
    main()
