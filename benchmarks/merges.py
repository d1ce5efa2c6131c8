"""Eight independent merges as a whole process: merge-runner cold and warm, dbt, a plain loop, a hand-written ThreadPool.

    python benchmarks/merges.py [--rounds 3] [--only NAME …]

Every contender starts from the same eight Delta tables (100,000 rows in 20 partitions each, copied afresh for every
run), merges the same 1,600 source rows of 2 partitions into each, with the same jars and Spark confs, in a process of its
own. The scripts are run as people write them, and the ThreadPool once more with the JVM options that merge-runner gives
its local driver, so that what is left is the runner's own overhead. dbt (dbt-core<1.12, dbt-spark's session method, four
threads) runs the very same MERGE statements through a materialization that does nothing else, which is less than its
incremental models do; its tables are attached by on-run-start. merge-runner's class-data archive is written before the
first round, and its warm driver has built once. Contenders take turns, so that a slow moment of the machine hits all of
them; what counts are the ratios of the medians.
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
from collections.abc import Callable, Collection, Mapping
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType

from dbt_environment import CACHE, QUIET, dbt_command

from merge_runner.engine.spark.confs import spark_confs
from merge_runner.engine.spark.jars import fetch_jars
from merge_runner.engine.spark.java import require_java
from merge_runner.project.schema.profile import Profile

TABLES = 8
ROWS = 100_000
MERGE = """merge into {target} as t
using (
    select *
      from (select id * 5 as id, date_add(date'2024-01-01', cast(id % 2 as int)) as day, 'new' as label,
                   cast(id as double) as amount
              from range(1600))
     where day in (date'2024-01-01', date'2024-01-02')
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


DBT_MACRO = """
{% materialization statement, adapter='spark' %}
  {%- call statement('main') -%}
    {{ sql }}
  {%- endcall -%}
  {{ return({'relations': []}) }}
{% endmaterialization %}
"""

OURS, ARCHIVE_OFF, WARM = "merge-runner build", "merge-runner build, no archive", "merge-runner build, warm driver"
LOOPED, POOLED, TUNED = "plain loop", "ThreadPool of 4", "ThreadPool of 4, our JVM options"
RAN_BY_DBT = "dbt run, 4 threads"
REQUIRED = ((OURS, RAN_BY_DBT, 0.55), (OURS, POOLED, 0.75), (WARM, RAN_BY_DBT, 0.30))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", help="measure these contenders alone")
    parser.add_argument("--dbt", help="the dbt to run; default: one installed into the cache folder")
    parser.add_argument("--cache", type=Path, default=CACHE)
    arguments = parser.parse_args()
    os.environ["JAVA_HOME"] = str(require_java(os.environ))
    for name in ("CI", "MERGE_RUNNER_CDS", "MERGE_RUNNER_WARM"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        bench.make_tables()
        contenders: dict[str, Callable[[], None]] = {
            OURS: lambda: bench.merge_runner(MERGE_RUNNER_WARM="0"),
            ARCHIVE_OFF: lambda: bench.merge_runner(MERGE_RUNNER_WARM="0", MERGE_RUNNER_CDS="0"),
            WARM: bench.merge_runner,
            LOOPED: lambda: bench.script(LOOP),
            POOLED: lambda: bench.script(POOL),
            TUNED: lambda: bench.script(POOL, jvm_options=True),
            RAN_BY_DBT: bench.dbt,
        }
        chosen = {name: run for name, run in contenders.items() if not arguments.only or name in arguments.only}
        try:
            bench.prepare(chosen, arguments)
            seconds = measured(bench, chosen, arguments.rounds)
        finally:
            bench.call("warm", "stop")
    report({name: (statistics.median(values), min(values)) for name, values in seconds.items()})


def measured(bench: Bench, contenders: dict[str, Callable[[], None]], rounds: int) -> dict[str, list[float]]:
    """Seconds of every round by contender."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds):
        for name, run in contenders.items():
            seconds[name].append(bench.timed(run))
            print(f"round {number + 1}: {name}: {seconds[name][-1]:.1f} s", file=sys.stderr)
    return seconds


def report(seconds: dict[str, tuple[float, float]]) -> None:
    """Prints median and smallest by contender, and the ratios with what is required of them."""
    print("| contender | median | smallest |\n|---|---|---|")
    for name, (median, smallest) in seconds.items():
        print(f"| {name} | {median:.1f} s | {smallest:.1f} s |")
    rows = [(ours, other, required) for ours, other, required in REQUIRED if {ours, other} <= seconds.keys()]
    if rows:
        print("\n| ratio of medians | measured | required |\n|---|---|---|")
    for ours, other, required in rows:
        print(f"| {ours} to {other} | {seconds[ours][0] / seconds[other][0]:.2f} | ≤ {required:.2f} |")


class Bench:
    """The tables, the project, and the runs of the contenders in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pristine = folder / "pristine"
        self.root = folder / "project"
        self.dbt_root = folder / "dbt"
        self.dbt_path = ""
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

    def prepare(self, contenders: Collection[str], arguments: argparse.Namespace) -> None:
        """Makes what contenders have before they are measured: the archive, a warm driver, a dbt with its project."""
        if OURS in contenders:
            self.timed(lambda: self.merge_runner(MERGE_RUNNER_WARM="0", MERGE_RUNNER_CDS="1"))
        if WARM in contenders:
            self.call("warm", "start")
            self.timed(self.merge_runner)
        if RAN_BY_DBT in contenders:
            self.dbt_path = dbt_command(arguments.dbt, arguments.cache, f"pyspark=={version('pyspark')}")
            self._write_dbt()

    def merge_runner(self, **env: str) -> None:
        """One `merge-runner build`."""
        self.call("build", **env)

    def call(self, *words: str, **env: str) -> None:
        """One call of merge-runner in the project."""
        project = [] if words[0] == "deps" else ["--project-dir", str(self.root)]
        self._process([sys.executable, "-m", "merge_runner", *words, *project], env)

    def dbt(self) -> None:
        """One `dbt run`."""
        words = ["run", "--project-dir", str(self.dbt_root), "--profiles-dir", str(self.dbt_root)]
        self._process([self.dbt_path, *words], QUIET)

    def _write_dbt(self) -> None:
        root = self.dbt_root
        for folder in ("models", "macros"):
            (root / folder).mkdir(parents=True)
        (root / "macros" / "statement.sql").write_text(DBT_MACRO)
        attach = ["create schema if not exists bench"]
        attach += [
            f"create table if not exists bench.{name} using delta location '{self.location(name)}'"
            for name in self.tables
        ]
        project = {"name": "bench", "profile": "bench", "version": "1.0", "config-version": 2, "on-run-start": attach}
        (root / "dbt_project.yml").write_text(json.dumps(project))
        # enableHiveSupport comes first in dbt-spark, so that the catalog of everybody else's confs holds here too.
        output = {"type": "spark", "method": "session", "schema": "bench", "host": "NA", "threads": 4}
        output["server_side_parameters"] = self._confs(jvm_options=False)
        (root / "profiles.yml").write_text(json.dumps({"bench": {"target": "bench", "outputs": {"bench": output}}}))
        for name in self.tables:
            text = "{{ config(materialized='statement') }}\n" + MERGE.format(target=f"bench.{name}")
            (root / "models" / f"run_{name}.sql").write_text(text)

    def script(self, code: str, jvm_options: bool = False) -> None:
        """One of the scripts, with the confs that merge-runner uses, its JVM options only on request."""
        setup = {
            "confs": self._confs(jvm_options),
            "merge": MERGE,
            "tables": {name: self.location(name) for name in self.tables},
        }
        path = self.folder / "setup.json"
        path.write_text(json.dumps(setup))
        self._process([sys.executable, "-c", code, str(path)])

    def location(self, name: str) -> str:
        """The folder of a table."""
        return str(self.root / "warehouse" / "bench" / name)

    def _confs(self, jvm_options: bool) -> dict[str, str]:
        confs = spark_confs(self.profile, self.root, fetch_jars(["delta"], os.environ))
        if not jvm_options:
            del confs["spark.driver.extraJavaOptions"]
        return confs

    def _process(self, command: list[str], env: Mapping[str, str] = MappingProxyType({})) -> None:
        process = subprocess.run(
            command, cwd=self.folder, env={**os.environ, **env}, capture_output=True, text=True, check=False
        )
        if process.returncode != 0:
            raise SystemExit(process.stdout + process.stderr)


if __name__ == "__main__":
    main()
