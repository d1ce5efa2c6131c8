"""How far off a prediction is: the bytes of its target that a MERGE was predicted to read, next to those that it read.

    python benchmarks/prediction.py [--rows 24000000] [--formats delta iceberg] [--runs target …]

A table of `rows` rows in 120 days is merged with a table of changes in each of several ways. `--runs` adds the merges of
the runs that are kept in target folders, such as those of the flights project and of the examples.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from merge_runner import Project
from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.startup import start_driver
from merge_runner.formats import Format
from merge_runner.formats.registry import FORMATS
from merge_runner.pages.runs.history import kept_runs

DAYS = 120
MODELS = {
    "change": """{{{{ config(materialized='table', format='{format}') }}}}
select id, date_add(date'2024-01-01', cast(id div {by_day} as int)) as day, id % 1000 + {{{{ var('added', 0) }}}} as n,
    sha2(cast(id as string), 256) as label
from range({{{{ var('first', 0) }}}}, {{{{ var('last', {rows}) }}}}, {{{{ var('step', 1) }}}}, 8)
""",
    "event": """{{{{ config(format='{format}', partition_by=['day'], bounds=var('bounds', 'auto')) }}}}
merge into {{{{ this }}}} as t
using {{{{ ref('change') }}}} as s
on {{{{ var('on', 't.day = s.day and t.id = s.id') }}}}
{{% if var('updates', true) %}} when matched then update set * {{% endif %}}
when not matched then insert *
""",
}


def ways(rows: int) -> Mapping[str, Mapping[str, Any]]:
    """The variables of each way to merge."""
    by_day = rows // DAYS
    days = {"first": by_day * 100, "last": by_day * 103, "step": 100, "added": 1}
    restricted = "t.day = s.day and t.id = s.id and t.day >= date'2024-04-10' and t.day < date'2024-04-13'"
    return {
        "literals in ON": {**days, "on": restricted, "bounds": "off"},
        "runtime filter by day": days,
        "runtime filter by key": {**days, "on": "t.id = s.id", "bounds": ["id"]},
        "one row of each day": {"step": by_day, "added": 2},
        "whole target": {**days, "on": "t.id = s.id", "bounds": "off", "step": 10_000},
        "inserts alone": {"first": rows, "last": rows + by_day, "updates": False},
        "rows of one day again": {"first": rows, "last": rows + by_day, "step": 2, "added": 3},
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=24_000_000)
    parser.add_argument("--formats", nargs="*", default=list(FORMATS), choices=FORMATS)
    parser.add_argument("--runs", nargs="*", default=[], type=Path)
    options = parser.parse_args()
    print("| merges | way | predicted | read | error |\n|---|---|---|---|---|")
    errors = {}
    for format in options.formats:
        with tempfile.TemporaryDirectory() as folder:
            errors[f"{options.rows:,} rows, {format}"] = list(measure(Path(folder), format, options.rows))
    if options.runs:
        errors["kept runs"] = [error for target in options.runs for error in errors_of_runs(target)]
    print("\n| merges | number | median error | largest |\n|---|---|---|---|")
    for name, values in errors.items():
        print(f"| {name} | {len(values)} | {statistics.median(values):.1%} | {max(values):.1%} |")


def measure(root: Path, format: Format, rows: int) -> Iterator[float]:
    """Build the table of a format, merge it in each way, and yield the errors."""
    (root / "models").mkdir()
    for name, text in MODELS.items():
        (root / "models" / f"{name}.sql").write_text(text.format(format=format, rows=rows, by_day=rows // DAYS))
    (root / "pyproject.toml").write_text('[tool.merge-runner]\nname = "bench"\n')
    output = "schema: ice.bench, catalogs: {ice: {type: embedded}}" if format == "iceberg" else "schema: bench"
    (root / "profiles.yml").write_text(f"bench: {{outputs: {{local: {{{output}}}}}}}\n")
    driver = start_driver(Project.load(root).prepared.files.profile, root, root / "spark.log", os.environ)
    try:
        build(root, driver, {})
        for way, variables in ways(rows).items():
            response = build(root, driver, variables)
            predicted, read = response["predicted"]["bytes"], response["bytes_scanned"]
            error = abs(predicted - read) / max(read, 1)
            print(f"| {format} | {way} | {predicted:,} | {read:,} | {error:.1%} |", flush=True)
            yield error
    finally:
        driver.stop()


def build(root: Path, driver: Driver, variables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Build both models, and return what its adapter reports."""
    results = Project.load(root, vars=variables).build(driver=driver, lint=False, reuse="off")
    if not results.ok:
        raise SystemExit(str(results.results[0].message))
    return results["event"].adapter_response


def errors_of_runs(target: Path) -> Iterator[float]:
    """Yield the error of each MERGE of the kept runs of a target folder whose prediction is known, first runs left out."""
    for run in kept_runs(target):
        for node in run.record["nodes"]:
            response = node.get("response") or {}
            predicted = (response.get("predicted") or {}).get("bytes")
            if predicted is not None and response.get("bytes_scanned"):
                yield abs(predicted - response["bytes_scanned"]) / response["bytes_scanned"]


if __name__ == "__main__":
    main()
