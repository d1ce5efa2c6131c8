"""When `skip_unchanged` pays: a MERGE whose source has all rows of its table, of which some have changed, with and without.

    python benchmarks/skip_unchanged.py [--rounds 2] [--rows 1000000] [--files 20] [--changed 0 0.1 1 10 100] [--tables …]

`changed` percent of the source rows are newer: spread over all files, or together in the first ones. The statement is
`when matched and s.n > t.n then update set * when not matched then insert *`, joined by the key. Each MERGE is run by the
runner's pipeline on a new copy of the table, `off` and `on` in turns; a first round of each table is not counted.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from merge_runner.engine.context import NodeContext
from merge_runner.engine.merge.pipeline import run_merge
from merge_runner.engine.startup import start_driver
from merge_runner.engine.table_format import registry
from merge_runner.engine.tables.input_cache import SharedInputs
from merge_runner.formats import Format
from merge_runner.formats.types import parse_type
from merge_runner.merge.parse import parse
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.skip_unchanged import SkipUnchanged, skipping
from merge_runner.project.schema.profile import Profile
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.layout.layout import TableColumn, TableLayout
from merge_runner.pruning.query.source import KnownTable
from merge_runner.relation import Relation


@dataclass(frozen=True)
class Way:
    """A table format with the property that decides what a MERGE writes."""

    name: str
    table: Relation
    format: Format
    properties: str


DELTA, ICEBERG = Relation("t", "bench"), Relation("t", "bench", "ice")
WAYS = {
    "dc": Way("Delta, copy-on-write", DELTA, "delta", "'delta.enableDeletionVectors' = 'false'"),
    "dv": Way("Delta, deletion vectors", DELTA, "delta", "'delta.enableDeletionVectors' = 'true'"),
    "ic": Way("Iceberg, copy-on-write", ICEBERG, "iceberg", "'write.merge.mode' = 'copy-on-write'"),
    "im": Way("Iceberg, merge-on-read", ICEBERG, "iceberg", "'write.merge.mode' = 'merge-on-read'"),
}
COLUMNS = {"id": "bigint", "n": "int", "v": "double", "note": "string"}
MODES: tuple[SkipUnchanged, ...] = ("off", "on")
MERGE = """merge into {target} as t using (select * from bench.source) as s on t.id = s.id
when matched and s.n > t.n then update set * when not matched then insert *"""


@dataclass(frozen=True)
class Formats:
    """What the pipeline asks of a catalog."""

    table_format = staticmethod(registry.table_format)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--changed", type=float, nargs="+", default=[0, 0.1, 1, 10, 100])
    parser.add_argument("--tables", nargs="+", choices=list(WAYS), default=list(WAYS))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        profile = Profile(
            *("bench", "bench"),
            schema="bench",
            warehouse="warehouse",
            master="local[*]",
            catalogs={"ice": {"type": "embedded"}},
        )
        driver = start_driver(profile, root, root / "spark.log", os.environ)
        print("| table | changed | off: MERGE | rows copied | on: MERGE | rows copied | ratio |")
        print("|---|---|---|---|---|---|---|")
        try:
            with driver.session() as session:
                session.sql("create schema bench")
                session.sql("create schema ice.bench")
                made = session.range(0, asked.rows, 1, asked.files)
                made = made.selectExpr("id", "1 as n", "rand(1) as v", "concat('note ', id % 1000) as note")
                made.write.parquet(str(root / "pristine"))
                make_source(session, root / "pristine", asked.rows, 1, "spread")
                for name, mode in itertools.product(asked.tables, MODES):
                    measured(session, root / "pristine", WAYS[name], asked.files, mode)
                for changed in asked.changed:
                    for place in ("spread", "together") if 0 < changed < 100 else ("spread",):
                        make_source(session, root / "pristine", asked.rows, changed, place)
                        for name in asked.tables:
                            report(session, root / "pristine", WAYS[name], f"{changed:g} %, {place}", asked)
        finally:
            driver.stop()


def make_source(session: SparkSession, pristine: Path, rows: int, changed: float, place: str) -> None:
    """All rows of the table; `changed` percent of them have a newer `n`."""
    number = round(rows * changed / 100)
    newer = f"id < {number}" if place == "together" else f"id % {rows // number} = 0" if number else "false"
    session.sql("drop table if exists bench.source")
    session.sql(
        f"create table bench.source using delta as select id, if({newer}, 2, n) as n, v, note from parquet.`{pristine}`"
    )


def report(session: SparkSession, pristine: Path, way: Way, changed: str, asked: argparse.Namespace) -> None:
    """Measures both modes, and prints a row of the table."""
    found: dict[SkipUnchanged, list[float]] = {mode: [] for mode in MODES}
    copied: dict[SkipUnchanged, int] = {}
    for _ in range(asked.rounds):
        for mode in MODES:
            seconds, copied[mode] = measured(session, pristine, way, asked.files, mode)
            found[mode].append(seconds)
    cells = [f"{statistics.median(found[mode]):.2f} s | {copied[mode]:,}" for mode in MODES]
    ratio = statistics.median(found["on"]) / statistics.median(found["off"])
    print(f"| {way.name} | {changed} | {' | '.join(cells)} | {ratio:.2f} |", flush=True)


def measured(session: SparkSession, pristine: Path, way: Way, files: int, mode: SkipUnchanged) -> tuple[float, int]:
    """Writes the table again, and runs one MERGE into it: its seconds, and the rows that it copied."""
    session.sql(f"drop table if exists {way.table}")
    declared = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    session.sql(
        f"create table {way.table} ({declared}) using {way.format} "
        f"tblproperties ({way.properties}, 'write.distribution-mode' = 'none')"
    )
    session.read.parquet(str(pristine)).repartitionByRange(files, "id").writeTo(str(way.table)).append()
    columns = tuple(TableColumn(name, parse_type(kind)) for name, kind in COLUMNS.items())
    known = KnownTable(TableLayout("delta", columns, complete=True))
    text = MERGE.format(target=way.table)
    judged = judge_merge(
        parse(text), TableLayout(way.format, columns, complete=True, partition_by=(), cluster_by=()), lambda _: known
    )
    step = RunMerge(way.table, text, judged, skipping=skipping(judged, mode))
    context = NodeContext(session, Formats(), SharedInputs([]), "bench", "", alone=True)  # type: ignore[arg-type]
    started = time.perf_counter()
    run_merge(step, context)
    seconds = time.perf_counter() - started
    table_format = registry.table_format(way.format)
    past = table_format.past_merge(next(table_format.commits(session, way.table, 1)))
    return seconds, past.rows_copied if past is not None else 0  # without a change Delta commits nothing


if __name__ == "__main__":
    main()
