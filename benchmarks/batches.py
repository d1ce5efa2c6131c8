"""What batches cost: 30 daily ones with two threads, one after another, as one MERGE, and next to a MERGE without batches.

    python benchmarks/batches.py [--rounds 3] [--rows 10000] [--formats delta iceberg]

Four models merge the same month of events, `rows` a day, from a table by day into a table by day: with batches that run at
the same time, with `concurrent_batches: off`, with `batches_at_once: 30`, and without batches. Each is a build of one model
on one warm driver, in turns; the first round, in which the tables are created, is not counted. In the others all rows match
and are written again.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from merge_runner import Project
from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.startup import start_driver
from merge_runner.formats import Format
from merge_runner.formats.registry import FORMATS

DAYS = 30
START, END = "2024-01-01", "2024-01-31"
MERGE = """{{{{ config(partition_by=['day'], format='{format}'{config}) }}}}
merge into {{{{ this }}}} as t
using (select id, day, amount from {{{{ ref('events') }}}} where day >= {start} and day < {end}) as s
   on t.id = s.id and t.day = s.day and t.day >= {start} and t.day < {end}
when matched then update set *
when not matched then insert *
"""
EVENTS = """{{{{ config(materialized='table', partition_by=['day'], format='{format}') }}}}
select id, date_add(date'2024-01-01', cast(id % 30 as int)) as day, cast(id as double) as amount
  from range({rows} * 30)
"""
BATCHES = ", event_time='day', batch_size='day', begin='2024-01-01', lookback=0"
MODELS = {
    "threads": BATCHES,
    "in_order": BATCHES + ", concurrent_batches='off'",
    "at_once": f"{BATCHES}, batches_at_once={DAYS}",
    "plain": "",
}
"""The config of each model."""
RATIOS = (
    ("30 batches, two threads", "threads", "one after another", "in_order", 0.65),
    ("30 batches at once", "at_once", "one MERGE without batches", "plain", 1.3),
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--formats", nargs="+", default=list(FORMATS), choices=FORMATS)
    options = parser.parse_args()
    print("| format | what | time | next to | time | ratio | aim |\n|---|---|---|---|---|---|---|")
    for format in options.formats:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            make_project(root, format, options.rows)
            driver = start_driver(Project.load(root).prepared.files.profile, root, root / "spark.log", os.environ)
            try:
                report(format, measured(root, driver, options.rounds))
            finally:
                driver.stop()


def make_project(root: Path, format: Format, rows: int) -> None:
    """Write the project of a format."""
    files = {
        "pyproject.toml": '[tool.merge-runner]\nname = "bench"\n',
        "profiles.yml": "bench: {outputs: {local: {schema: bench, catalogs: {ice: {type: embedded}}}}}\n",
        "models/events.sql": EVENTS.format(format=format, rows=rows),
    }
    for name, config in MODELS.items():
        start, end = ("{{ batch.start }}", "{{ batch.end }}") if config else (f"date'{START}'", f"date'{END}'")
        files[f"models/{name}.sql"] = MERGE.format(format=format, config=config, start=start, end=end)
    columns = "[{name: id, data_type: bigint}, {name: day, data_type: date}, {name: amount, data_type: double}]"
    models = "".join(f"  - {{name: {name}, columns: {columns}}}\n" for name in MODELS)
    files["models/models.yml"] = f"models:\n{models}"
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def measured(root: Path, driver: Driver, rounds: int) -> Mapping[str, float]:
    """Return the median seconds of each model's build."""
    build(root, driver, "events")
    seconds: dict[str, list[float]] = {name: [] for name in MODELS}
    for _ in range(rounds + 1):
        for name, values in seconds.items():
            values.append(build(root, driver, name))
    return {name: statistics.median(values[1:]) for name, values in seconds.items()}


def build(root: Path, driver: Driver, model: str) -> float:
    """Build a model, the batches of the month whether due or not, and return the seconds that it takes."""
    project = Project.load(root)
    started = time.perf_counter()
    results = project.run(model, threads=2, reuse="off", driver=driver, event_time_start=START, event_time_end=END)
    seconds = time.perf_counter() - started
    assert results.ok, results[model].message
    return seconds


def report(format: Format, seconds: Mapping[str, float]) -> None:
    """Print the lines of a format."""
    for what, model, next_to, other, aim in RATIOS:
        ratio = seconds[model] / seconds[other]
        print(
            f"| {format} | {what} | {seconds[model]:.1f} s | {next_to} | {seconds[other]:.1f} s | {ratio:.2f} | {aim} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
