"""Four targets fed by one stream: in parallel, one after another, and against a hand-written foreachBatch.

    python benchmarks/streams.py [--rounds 3] [--batches 4] [--rows 20000]

A stream of Parquet files, each a batch of `rows` rows, feeds four Delta tables of 100,000 rows by MERGE (half of the rows
match). merge-runner reads it with one thread and with two, the hand-written form with a ThreadPool of two, as people
write it: the batch is persisted, and every thread runs its MERGE in the batch's own session. All run in one warm driver, with
fresh tables and checkpoints, in turns; a first round is not counted. What counts are the ratios of the medians of whole
seconds, from the start of the stream to its end.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from merge_runner import Project
from merge_runner.engine.startup import start_driver

TARGETS = ("a", "b", "c", "d")
TARGET_ROWS = 100_000
COLUMNS = "id bigint, amount double, label string"
SOURCES = """
version: 2
sources:
  - name: raw
    tables:
      - name: rows
        path: landing
        format: parquet
        options: {{maxFilesPerTrigger: "1"}}
        stream: {{checkpoint: "{checkpoint}"}}
        columns:
          - {{name: id, data_type: bigint}}
          - {{name: amount, data_type: double}}
          - {{name: label, data_type: string}}
"""
MERGE = """merge into {target} as t using (select * from {source}) as s on t.id = s.id
when matched then update set amount = s.amount, label = s.label
when not matched then insert *
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--rows", type=int, default=20_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_project(root)
        driver = start_driver(Project.load(root).prepared.files.profile, root, root / "spark.log", os.environ)
        try:
            make_data(driver.spark, root, asked.batches, asked.rows)
            contenders = {
                "merge-runner, one thread": lambda: ours(root, driver, 1),
                "merge-runner, two threads": lambda: ours(root, driver, 2),
                "hand-written, ThreadPool of two": lambda: by_hand(driver.spark, root),
            }
            seconds: dict[str, list[float]] = {name: [] for name in contenders}
            for number in range(asked.rounds + 1):
                for name, run in contenders.items():
                    fresh_tables(driver.spark, root)
                    started = time.monotonic()
                    run()
                    if number:
                        seconds[name].append(time.monotonic() - started)
        finally:
            driver.stop()
    report({name: statistics.median(times) for name, times in seconds.items()}, asked.batches)


def make_project(root: Path) -> None:
    """Four models that a stream feeds."""
    (root / "models").mkdir()
    (root / "pyproject.toml").write_text('[tool.merge-runner]\nname = "bench"\n')
    (root / "profiles.yml").write_text("bench: {outputs: {local: {schema: bench, warehouse: warehouse}}}\n")
    (root / "models" / "sources.yml").write_text(SOURCES.format(checkpoint=root / "checkpoint"))
    for name in TARGETS:
        text = MERGE.format(target="{{ this }}", source="{{ source('raw', 'rows') }}")
        (root / "models" / f"{name}.sql").write_text(text)


def make_data(spark: SparkSession, root: Path, batches: int, rows: int) -> None:
    """One file for each batch, and the tables as they are before the first one."""
    (root / "landing").mkdir()
    values = "id, cast(id as double) as amount, concat('label ', id % 100) as label"
    for number in range(batches):
        first = TARGET_ROWS - rows // 2 + number * rows // 2
        frame = spark.sql(f"select {values} from range({first}, {first + rows}, 1, 1)")
        frame.write.parquet(str(root / f"written-{number}"))
        (part,) = (root / f"written-{number}").glob("*.parquet")
        shutil.move(part, root / "landing" / f"{number}.parquet")
    spark.sql(f"select {values} from range(0, {TARGET_ROWS}, 1, 2)").write.format("delta").save(str(root / "pristine"))


def fresh_tables(spark: SparkSession, root: Path) -> None:
    """The tables of a run, and no checkpoint."""
    spark.sql("create schema if not exists bench")
    for name in TARGETS:
        folder = root / "warehouse" / "bench" / name
        spark.sql(f"drop table if exists bench.{name}")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(root / "pristine", folder)
        spark.sql(f"create table bench.{name} using delta location '{folder}'")
    shutil.rmtree(root / "checkpoint", ignore_errors=True)
    spark.sparkContext._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # type: ignore[union-attr]


def ours(root: Path, driver: object, threads: int) -> None:
    """Reads the stream as `merge-runner stream --available-now` does."""
    results = Project.load(root).stream(driver=driver, available_now=True, threads=threads)  # type: ignore[arg-type]
    assert results.ok, [result.message for result in results.results]


def by_hand(spark: SparkSession, root: Path) -> None:
    """Reads it as people write it."""

    def merge_all(rows: DataFrame, batch_id: int) -> None:
        rows.persist()
        rows.createOrReplaceTempView("batch")
        session = rows.sparkSession
        try:
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(lambda name: session.sql(MERGE.format(target=f"bench.{name}", source="batch")), TARGETS))
        finally:
            rows.unpersist()

    stream = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1).parquet(str(root / "landing"))
    writer = stream.writeStream.foreachBatch(merge_all).option("checkpointLocation", str(root / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()


def report(median: dict[str, float], batches: int) -> None:
    """Prints a table; the ratio is to merge-runner with two threads."""
    base = median["merge-runner, two threads"]
    print("| four targets | seconds | a batch | to merge-runner, two threads |")
    print("|---|---|---|---|")
    for name, seconds in median.items():
        print(f"| {name} | {seconds:.2f} | {seconds / batches:.2f} | {seconds / base:.2f} |")


if __name__ == "__main__":
    main()
