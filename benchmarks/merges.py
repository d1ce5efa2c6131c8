"""Eight independent merges as a whole process: merge-runner, a plain loop, and a hand-written ThreadPool of 4.

    python benchmarks/merges.py [--rounds 3]

Every contender starts from the same eight Delta tables (100,000 rows in 20 partitions each, copied afresh for every
run), merges the same 1,600 source rows of 2 partitions into each, with the same jars and Spark confs, in a process of its
own. The scripts are run as people write them, and the ThreadPool once more with the JVM options that merge-runner gives
its local driver, so that what is left is the runner's own overhead. Contenders take turns, so that a slow moment of the
machine hits all of them; what counts are the ratios of the medians.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from merge_runner.engine.confs import spark_confs
from merge_runner.engine.jars import fetch_jars
from merge_runner.engine.java import require_java
from merge_runner.project.profile import Profile

TABLES = 8
ROWS = 100_000
MERGE = """merge into {target} as t
using (
    select id * 5 as id, date_add(date'2024-01-01', cast(id % 2 as int)) as day, 'new' as label, cast(id as double) as amount
    from range(1600)
) as s
   on t.id = s.id and t.day = s.day and t.day in (date'2024-01-01', date'2024-01-02')
when matched then update set *
when not matched then insert *
"""

LOOP = """
import json, sys
from pathlib import Path
from pyspark import SparkConf
from pyspark.sql import SparkSession

setup = json.loads(Path(sys.argv[1]).read_text())
spark = SparkSession.builder.config(conf=SparkConf().setAll(list(setup["confs"].items()))).getOrCreate()
spark.sql("create schema if not exists bench")
for name, location in setup["tables"].items():
    spark.sql(f"create table if not exists bench.{name} using delta location '{location}'")
for name in setup["tables"]:
    spark.sql(setup["merge"].format(target=f"bench.{name}")).collect()
spark.stop()
"""

POOL = LOOP.replace("import json, sys", "import json, sys\nfrom concurrent.futures import ThreadPoolExecutor").replace(
    """for name in setup["tables"]:
    spark.sql(setup["merge"].format(target=f"bench.{name}")).collect()
""",
    """
def merge(name):
    spark.newSession().sql(setup["merge"].format(target=f"bench.{name}")).collect()

with ThreadPoolExecutor(4) as pool:
    list(pool.map(merge, setup["tables"]))
""",
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    os.environ["JAVA_HOME"] = str(require_java(os.environ))
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        bench.make_tables()
        contenders = {
            "merge-runner build": bench.merge_runner,
            "plain loop": lambda: bench.script(LOOP),
            "ThreadPool of 4": lambda: bench.script(POOL),
            "ThreadPool of 4, our JVM options": lambda: bench.script(POOL, jvm_options=True),
        }
        seconds: dict[str, list[float]] = {name: [] for name in contenders}
        for number in range(rounds):
            for name, run in contenders.items():
                seconds[name].append(bench.timed(run))
                print(f"round {number + 1}: {name}: {seconds[name][-1]:.1f} s", file=sys.stderr)
    base = statistics.median(seconds["ThreadPool of 4"])
    print("| contender | median | smallest | ratio to the ThreadPool |\n|---|---|---|---|")
    for name, values in seconds.items():
        median = statistics.median(values)
        print(f"| {name} | {median:.1f} s | {min(values):.1f} s | {median / base:.2f} |")


class Bench:
    """The tables, the project, and the runs of the contenders in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pristine = folder / "pristine"
        self.root = folder / "project"
        self.tables = [f"table_{number}" for number in range(TABLES)]
        self.profile = Profile("bench", "bench", schema="bench", warehouse="warehouse")
        self._write_project()

    def _write_project(self) -> None:
        (self.root / "models").mkdir(parents=True)
        (self.root / "pyproject.toml").write_text('[tool.merge-runner]\nname = "bench"\n')
        (self.root / "profiles.yml").write_text("bench: {outputs: {bench: {schema: bench}}}\n")
        for name in self.tables:
            text = "{{ config(partition_by='day') }}\n" + MERGE.format(target="{{ this }}")
            (self.root / "models" / f"{name}.sql").write_text(text)

    def make_tables(self) -> None:
        """Makes the tables once, in a process of its own like everybody else."""
        code = (
            LOOP.partition('spark.sql("create schema')[0]
            + f"""
for name, location in setup["tables"].items():
    spark.sql(f"create table delta.`{{location}}` (id bigint, day date, label string, amount double) using delta partitioned by (day)")
    spark.sql(f"insert into delta.`{{location}}` select id, date_add(date'2024-01-01', cast(id % 20 as int)), 'old', cast(id as double) from range({ROWS})")
spark.stop()
"""
        )
        self.script(code)
        shutil.copytree(self.root / "warehouse", self.pristine)

    def timed(self, run: Callable[[], None]) -> float:
        """Seconds of a run on fresh copies of the tables."""
        shutil.rmtree(self.root / "warehouse", ignore_errors=True)
        shutil.copytree(self.pristine, self.root / "warehouse")
        started = time.monotonic()
        run()
        return time.monotonic() - started

    def merge_runner(self) -> None:
        """One `merge-runner build`."""
        self._process(["-m", "merge_runner", "build", "--project-dir", str(self.root)])

    def script(self, code: str, jvm_options: bool = False) -> None:
        """One of the scripts, with the confs that merge-runner uses, its JVM options only on request."""
        confs = spark_confs(self.profile, self.root, fetch_jars(["delta"], os.environ))
        if not jvm_options:
            del confs["spark.driver.extraJavaOptions"]
        setup = {
            "confs": confs,
            "merge": MERGE,
            "tables": {name: str(self.root / "warehouse" / "bench" / name) for name in self.tables},
        }
        path = self.folder / "setup.json"
        path.write_text(json.dumps(setup))
        self._process(["-c", code, str(path)])

    def _process(self, arguments: list[str]) -> None:
        process = subprocess.run(
            [sys.executable, *arguments], cwd=self.folder, capture_output=True, text=True, check=False
        )
        if process.returncode != 0:
            raise SystemExit(process.stderr)


if __name__ == "__main__":
    main()
