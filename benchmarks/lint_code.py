"""`merge-runner lint` over Python files outside of a project: how long reading code takes.

    python benchmarks/lint_code.py [--files 1000] [--lines 300] [--rounds 3] [--every 10]

Generated jobs of `--lines` lines each; one in `--every` runs a MERGE, in turn an f-string given to `spark.sql`, a chain of
`DeltaTable.merge` and a constant that a helper is given. The others use DataFrames, some of them pandas' `merge`.

parse    Python's own parser over all files: what the others are compared with
read     the readers alone, in this process
command  the command as a whole process, parsing, judging and printing included

All are seconds of processor time, in one process each; they take turns.
"""

from __future__ import annotations

import argparse
import ast
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MERGES = (
    '''
def load_{n}(spark, day):
    spark.sql(f"""
        MERGE INTO gold.table_{n} AS t
        USING (SELECT * FROM stage.table_{n} WHERE dt = '{{day}}') AS s
        ON t.id = s.id AND t.dt = '{{day}}'
        WHEN MATCHED THEN UPDATE SET *
        WHEN NOT MATCHED THEN INSERT *
    """)
''',
    """
def upsert_{n}(batch_df, batch_id):
    latest = batch_df.dropDuplicates(["id"])
    (
        DeltaTable.forName(batch_df.sparkSession, "gold.table_{n}")
        .alias("t")
        .merge(latest.alias("s"), "t.id = s.id and t.dt = s.dt")
        .whenMatchedUpdate(condition="s.ts > t.ts", set={{"ts": "s.ts", "state": "s.state"}})
        .whenNotMatchedInsert(values={{"id": "s.id", "dt": "s.dt", "ts": "s.ts", "state": "s.state"}})
        .execute()
    )
""",
    '''
SQL_{n} = """
    merge into gold.table_{n} t using stage.table_{n} s on t.id = s.id when matched then delete
"""


def run_{n}(session, text):
    session.sql(text)


def main_{n}(spark):
    run_{n}(spark, SQL_{n})
''',
)
OTHER = '''
def step_{n}_{k}(spark, frame, day):
    """Clean and join the rows of one day."""
    columns = [name for name in frame.columns if not name.startswith("_")]
    cleaned = frame.select(*columns).where(F.col("dt") == F.lit(day)).withColumn("n", F.col("a") + {k})
    if cleaned.count() == 0:
        log.info("nothing to do for %s", day)
        return None
    joined = cleaned.join(spark.table("dim.customer"), "customer_id", "left").groupBy("region").agg(F.sum("n"))
    joined.write.mode("overwrite").partitionBy("dt").saveAsTable(f"silver.step_{n}_{k}")
    return joined
'''
PANDAS = """
def report_{n}(left, right):
    return left.merge(right, on="id", how="left").fillna(0)
"""


def source(number: int, lines: int, every: int) -> str:
    """The text of one job."""
    parts = ["import logging\n\nfrom delta.tables import DeltaTable\nfrom pyspark.sql import functions as F\n"]
    parts.append("\nlog = logging.getLogger(__name__)\n")
    if number % every == 0:
        parts.append(MERGES[number // every % len(MERGES)].format(n=number))
    elif number % 7 == 0:
        parts.append(PANDAS.format(n=number))
    count = 0
    while sum(part.count("\n") for part in parts) < lines:
        parts.append("\n" + OTHER.format(n=number, k=count))
        count += 1
    return "".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--lines", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--every", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(options.files):
            file = folder / f"team_{number % 20}" / f"job_{number}.py"
            file.parent.mkdir(exist_ok=True)
            file.write_text(source(number, options.lines, options.every))
        measured: dict[str, list[float]] = {"parse": [], "read": [], "command": []}
        for _ in range(options.rounds):
            for label, contender in (("parse", parse), ("read", read), ("command", command)):
                measured[label].append(contender(folder))
    print(f"{options.files} files of {options.lines} lines, a MERGE in one of {options.every}")
    base = statistics.median(measured["parse"])
    for label, times in measured.items():
        median = statistics.median(times)
        print(f"{label:8} {median:6.2f} s  {median / base:5.2f}  (of {', '.join(f'{each:.2f}' for each in times)})")


def parse(folder: Path) -> float:
    """Seconds of processor time that Python's parser takes for all files."""
    start = time.process_time()
    for file in sorted(folder.rglob("*.py")):
        ast.parse(file.read_text())
    return time.process_time() - start


def read(folder: Path) -> float:
    """Seconds of processor time that the reader takes for all files."""
    from merge_runner.lint.containers.python_code import read_python
    from merge_runner.text import SourceText

    start = time.process_time()
    found = 0
    for file in sorted(folder.rglob("*.py")):
        found += len(read_python([SourceText(file.name, file.read_text())]).statements)
    assert found > 0
    return time.process_time() - start


def command(folder: Path) -> float:
    """Seconds of processor time that the command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    arguments = [sys.executable, "-m", "merge_runner", "lint", str(folder)]
    subprocess.run(arguments, stdout=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
