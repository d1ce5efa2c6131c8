"""What a distribution mode costs and gives: an Iceberg MERGE with `none`, `hash` and `range`; and how it is joined.

    python benchmarks/distribution.py [--rounds 3] [--rows 2000000] [--partitions 50] [--tasks 8] [--joins]

A table with `partitions` partitions gets a MERGE that updates a tenth of its rows and inserts as many, from a source
whose rows are spread over all partitions in each of `tasks` tasks. Every MERGE meets a table that has just been written
anew; the cases take turns, and a first round is not counted. Both ways of `write.merge.mode` are measured.

With `--joins` the source is a table that is partitioned like the target, merged on read: by a sort-merge join, without
the shuffle before the write, by a hash join, and with all that `storage_join` sets.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import SparkSession

from merge_runner.engine.spark.sql import temporary_confs
from merge_runner.engine.startup import start_driver
from merge_runner.formats.storage_join import DISTRIBUTION, SORT_MERGE, storage_join
from merge_runner.project.schema.profile import Profile

MODE = "write.merge.mode"
MARKS = {MODE: "merge-on-read"}
PARTS = "(id bigint, part int, v double) using iceberg partitioned by (part)"


@dataclass(frozen=True)
class Case:
    """Properties of the target and confs of the session; `names` are the first cells of its row."""

    names: tuple[str, str]
    properties: Mapping[str, str]
    conf: Mapping[str, str] = field(default_factory=dict)


SPREAD = tuple(
    Case((way, mode), {MODE: way, DISTRIBUTION: mode})
    for way in ("copy-on-write", "merge-on-read")
    for mode in ("none", "hash", "range")
)
ALIKE = storage_join(on=True)
JOINS = (
    Case(("sort-merge", "hash"), MARKS | {DISTRIBUTION: "hash"}),
    Case(("sort-merge", "none"), MARKS | {DISTRIBUTION: "none"}),
    Case(("hash join", "none"), MARKS | {DISTRIBUTION: "none"}, {SORT_MERGE: "false"}),
    Case(("storage_join", "none"), MARKS | dict(ALIKE.properties), ALIKE.conf),
)


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
    parser.add_argument("--joins", action="store_true")
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
                session.read.parquet(str(root / "changes")).createOrReplaceTempView("changes")
                if asked.joins:
                    session.sql(f"create table ice.bench.changes {PARTS}")
                    session.table("changes").writeTo("ice.bench.changes").append()
                    report(session, root, JOINS, ("join", "distribution"), "ice.bench.changes", asked.rounds)
                else:
                    report(session, root, SPREAD, ("merge mode", "distribution"), "changes", asked.rounds)
        finally:
            driver.stop()


def report(
    session: SparkSession, root: Path, cases: Sequence[Case], heads: tuple[str, str], source: str, rounds: int
) -> None:
    """Measures all cases, and prints a row of the table for each."""
    found: dict[tuple[str, str], list[Measured]] = {case.names: [] for case in cases}
    for number in range(rounds + 1):
        for case in cases:
            one = measured(session, root, case, source)
            if number:
                found[case.names].append(one)
    print(f"| {' | '.join(heads)} | MERGE | data files added | MB a file |")
    print("|---|---|---|---|---|")
    for names, all_of_it in found.items():
        last = all_of_it[-1]
        seconds = statistics.median(one.seconds for one in all_of_it)
        size = last.written / max(1, last.files) / 1e6
        print(f"| {' | '.join(names)} | {seconds:.2f} s | {last.files:,} | {size:.2f} |", flush=True)


def measured(session: SparkSession, root: Path, case: Case, source: str) -> Measured:
    """Writes the table anew, and measures one MERGE into it."""
    session.sql("drop table if exists ice.bench.t")
    properties = ", ".join(f"'{key}' = '{value}'" for key, value in case.properties.items())
    session.sql(f"create table ice.bench.t {PARTS} tblproperties ({properties})")
    session.read.parquet(str(root / "made")).writeTo("ice.bench.t").append()
    with temporary_confs(session, case.conf):
        started = time.perf_counter()
        session.sql(
            f"merge into ice.bench.t as t using {source} as s on t.id = s.id and t.part = s.part "
            "when matched then update set v = s.v when not matched then insert *"
        ).collect()
        seconds = time.perf_counter() - started
    query = "select summary from ice.bench.t.snapshots order by committed_at desc limit 1"
    summary = session.sql(query).collect()[0][0]
    return Measured(seconds, int(summary.get("added-data-files", 0)), int(summary.get("added-files-size", 0)))


if __name__ == "__main__":
    main()
