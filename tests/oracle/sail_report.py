"""Compare Sail, a server of Spark Connect without a JVM, with Spark: values of expressions, and rows of random MERGEs.

    pip install pysail pyspark-client
    python -m tests.oracle.sail_report --merges 2000 --seed 7     # prints the tables of docs/contributing/sail.md
    python -m tests.oracle.sail_report --record                   # asks Spark, of the extra `spark`, for its values

`sail_expressions.yml` has the expressions with what Spark 4.1 answers. The MERGEs and their outcomes are the oracle's, which
agrees with Spark (docs/contributing/quality-report.md).
"""

from __future__ import annotations

import argparse
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import yaml
from pyspark.sql import SparkSession

from tests.oracle.expression import Row
from tests.oracle.generate import COLUMNS, Generator
from tests.oracle.merge import MultipleMatchesError
from tests.oracle.query import rows_of
from tests.oracle.spark_sql import literal_text, merge_text
from tests.oracle.tables import counted, listed, outcome_on, stored

EXPRESSIONS = Path(__file__).with_name("sail_expressions.yml")
_PARTITIONS = ((), ("d",), ("n",), ("f",), ("d", "f"))
"""No `w`: Sail keeps the strings that Delta 4.4.0 stores as NULL where they are values of partitions."""


@contextmanager
def sail_session(folder: Path) -> Iterator[Any]:
    """Give a session on a Sail server that runs while the block does."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (folder / "sail.log").open("w") as log:
        command = [str(Path(sys.executable).with_name("sail")), "spark", "server", "--port", str(port)]
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
        session.conf.set("spark.sql.session.timeZone", "UTC")
        yield session
    finally:
        server.kill()
        server.wait()


def answer(session: Any, expression: str) -> str:
    """Return the type and the values of an expression, or `error`. What is behind FROM is not part of it."""
    inner = expression.startswith("array_agg(")
    value, separator, rows = expression.partition(" from (" if inner else " from values ")
    try:
        found = session.sql(f"select {value} as v{separator}{rows}")
        return f"{found.schema['v'].dataType.simpleString()} {[row['v'] for row in found.collect()]!r}"
    except Exception:
        return "error"


def compare_expressions(session: Any) -> Iterator[str]:
    """Yield the lines of a table: how many expressions of each kind are equal, refused, or differ silently."""
    yield "| expressions | asked | equal | refused by both | refused by Sail alone | silently different |"
    yield "|---|---|---|---|---|---|"
    differences = []
    for kind, expected in yaml.safe_load(EXPRESSIONS.read_text(encoding="utf-8")).items():
        answers = {expression: answer(session, expression) for expression in expected}
        outcomes = Counter(_outcome(expected[expression], answers[expression]) for expression in expected)
        figures = (outcomes[name] for name in ("equal", "refused by both", "refused", "different"))
        yield f"| {kind} | {len(expected)} | " + " | ".join(map(str, figures)) + " |"
        differences += [
            (expression, expected[expression], given)
            for expression, given in answers.items()
            if _outcome(expected[expression], given) == "different"
        ]
    yield "\n| silently different | Spark | Sail |\n|---|---|---|"
    for expression, spark, sail in differences:
        cells = (f"`{text}`".replace("|", "\\|") for text in (expression, spark, sail))
        yield f"| {' | '.join(cells)} |"


def _outcome(spark: str, sail: str) -> str:
    if spark == sail:
        return "refused by both" if spark == "error" else "equal"
    return "refused" if sail == "error" else "different"


def compare_merges(session: Any, folder: Path, merges: int, seed: int) -> Iterator[str]:
    """Yield the lines of a table: how many random MERGEs leave the oracle's rows, are refused, or leave others."""
    outcomes = Counter(_merge_outcome(session, folder, seed, number) for number in range(merges))
    yield f"\n| {merges:,} random MERGEs into Delta tables | |\n|---|---|"
    for outcome, count in outcomes.most_common():
        yield f"| {outcome} | {count:,} |"


def _merge_outcome(session: Any, folder: Path, seed: int, number: int) -> str:
    make = Generator(Random(f"{seed} {number}"), texts=["", " a"])
    partition = list(make.random.choice(_PARTITIONS))
    target = [stored(row, "delta", partition) for row in make.rows(10)]
    source = make.rows(7, target, ["id", *partition], unique=make.random.random() < 0.8)
    merge = make.merge(partition)
    reads_target = make.random.random() < 0.1
    query = make.query(["src", "this"] if reads_target else ["src"], newer_than="this")
    has_cte = make.random.random() < 0.15
    names = {"this": f"target{number}", "src": f"source{number}"}
    text = merge_text(merge, names["this"], query, names.__getitem__, {"t": "t", "s": "s"}, cte=has_cte)
    _create(session, folder, names["this"], target, partition)
    _create(session, folder, names["src"], source, ())
    try:
        outcome = outcome_on("delta", partition, merge, target, rows_of(query, {"src": source, "this": target}))
        expected = listed(outcome.rows)
    except MultipleMatchesError:
        expected = None
    try:
        session.sql(text).collect()
    except Exception as error:
        if expected is None:
            return "refused by both, since several rows of the source match one of the target"
        message = "a CTE before MERGE" if has_cte else re.split(r'[\d"]', str(error))[0].strip()
        return f"refused: {message}"
    rows = counted(tuple(row) for row in session.sql(f"select {', '.join(COLUMNS)} from {names['this']}").collect())
    if expected is None:
        return "**silently run**, though several rows of the source match one of the target"
    return "equal" if rows == expected else "**silently different rows**"


def _create(session: Any, folder: Path, name: str, rows: Sequence[Row], partition: Sequence[str]) -> None:
    columns = ", ".join(f"{column} {kind}" for column, kind in COLUMNS.items())
    by = f" partitioned by ({', '.join(partition)})" if partition else ""
    session.sql(f"create table {name} ({columns}) using delta{by} location '{folder / name}'").collect()
    if rows:
        values = (
            ", ".join(f"cast({literal_text(row[key])} as {kind})" for key, kind in COLUMNS.items()) for row in rows
        )
        session.sql(f"insert into {name} values {', '.join(f'({value})' for value in values)}").collect()


def record() -> None:
    """Write what Spark answers into the file of expressions."""
    builder = SparkSession.builder.master("local[2]").config("spark.sql.session.timeZone", "UTC")
    session = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "1").getOrCreate()
    kinds = yaml.safe_load(EXPRESSIONS.read_text(encoding="utf-8"))
    answers = {kind: {text: answer(session, text) for text in expressions} for kind, expressions in kinds.items()}
    EXPRESSIONS.write_text(yaml.safe_dump(answers, allow_unicode=True, sort_keys=False, width=1000), encoding="utf-8")


def main() -> None:
    """Print the tables, or record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--merges", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    if options.record:
        record()
        return
    with tempfile.TemporaryDirectory() as folder, sail_session(Path(folder)) as session:
        for line in compare_expressions(session):
            print(line)
        for line in compare_merges(session, Path(folder), options.merges, options.seed):
            print(line)


if __name__ == "__main__":
    main()
