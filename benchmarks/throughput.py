"""What the runner adds to the engine: 30 merges in a DAG of the flights project's shape, on one warm driver.

    python benchmarks/throughput.py [--rounds 3] [--rows 20000]

Each round builds the project with one thread and with two, and runs the very statements that the build ran (target/run) one
after another in a plain loop. Whole seconds of each are compared, and the sum of the nodes' own seconds within the build of
one thread. An untimed build and loop create the tables and warm the JVM. Merges are repeated with the same rows: all match, and
are written again.
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

LEVELS = (6, 4, 2, 10, 8)
"""Merges in each level; each reads two of the level before."""

MERGE = """{{{{ config(partition_by='part') }}}}
merge into {{{{ this }}}} as t
using ({query}) as s
   on t.part = s.part and t.id = s.id and t.part in (0, 1)
when matched then update set amount = s.amount, label = s.label
when not matched then insert *
"""
FIRST = """select id, cast(id % 2 as int) as part, concat('label ', id % 100) as label, cast(id as double) as amount
    from range({rows})"""
NEXT = """select a.id, a.part, a.label, a.amount + b.amount as amount
    from {{{{ ref('{a}') }}}} as a join {{{{ ref('{b}') }}}} as b on a.id = b.id and a.part = b.part"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=20_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_project(root, asked.rows)
        driver = start_driver(Project.load(root).prepared.files.profile, root, root / "spark.log", os.environ)
        try:
            run(root, driver, asked.rounds)
        finally:
            driver.stop()


def make_project(root: Path, rows: int) -> None:
    """A project of as many merges as LEVELS says."""
    (root / "models").mkdir()
    (root / "pyproject.toml").write_text('[tool.merge-runner]\nname = "bench"\n')
    (root / "profiles.yml").write_text("bench: {outputs: {local: {schema: bench}}}\n")
    before: list[str] = []
    for level, width in enumerate(LEVELS):
        names = [f"m{level}_{place}" for place in range(width)]
        for place, name in enumerate(names):
            query = FIRST.format(rows=rows)
            if before:
                query = NEXT.format(a=before[place % len(before)], b=before[(place + 1) % len(before)])
            (root / "models" / f"{name}.sql").write_text(MERGE.format(query=query))
        before = names


def run(root: Path, driver: Driver, rounds: int) -> None:
    """Builds and loops in turns, and prints what it took."""
    seconds: dict[str, list[float]] = {}
    loop(driver, build(root, driver, 2)[2])
    for _ in range(rounds):
        for threads in (1, 2):
            elapsed, own, statements = build(root, driver, threads)
            seconds.setdefault(f"build, threads {threads}", []).append(elapsed)
            if threads == 1:
                seconds.setdefault("the sum of its nodes' own seconds", []).append(own)
        seconds.setdefault("the statements in a loop", []).append(loop(driver, statements))
    median = {name: statistics.median(times) for name, times in seconds.items()}
    base = median["the statements in a loop"]
    print("| what | median | smallest | ratio to the loop |\n|---|---|---|---|")
    for name, times in seconds.items():
        print(f"| {name} | {median[name]:.2f} s | {min(times):.2f} s | {median[name] / base:.2f} |")
    print(f"\none thread over two: {median['build, threads 1'] / median['build, threads 2']:.2f}")


def build(root: Path, driver: Driver, threads: int) -> tuple[float, float, list[str]]:
    """Seconds of a build, the sum of its nodes' own, and the statements that ran in their order."""
    started = time.perf_counter()
    results = Project.load(root).build(driver=driver, threads=threads, lint=False)
    elapsed = time.perf_counter() - started
    if not results.ok:
        raise SystemExit("\n".join(str(result.message) for result in results.results))
    names = [result.unique_id.split(".")[-1] for result in results.results]
    texts = [(root / "target" / "run" / "bench" / "models" / f"{name}.sql").read_text() for name in names]
    return elapsed, sum(result.execution_time for result in results.results), texts


def loop(driver: Driver, statements: list[str]) -> float:
    """Seconds that the plain engine takes for the statements."""
    started = time.perf_counter()
    for statement in statements:
        driver.spark.newSession().sql(statement).collect()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
