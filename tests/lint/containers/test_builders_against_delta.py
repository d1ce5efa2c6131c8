"""What Delta makes of a chain, and of the MERGE that lint reads it as: the same rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from merge_runner.lint.containers.python_code import read_python
from merge_runner.merge.syntax.placeholder import as_written
from merge_runner.text import SourceText
from tests.yaml_data import read_yaml

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CHAINS = read_yaml(Path(__file__).parent / "chains.yml")
TABLE = 'dt = DeltaTable.forName(spark, "lint_builders.t")\n'
ROWS = "(1, 10, 'EU'), (2, 20, 'US'), (3, 30, null), (4, 40, 'EU'), (5, 3, 'AP')"
UPDATES = "(1, 2, 'EU'), (2, 3, null), (3, 4, 'XX'), (9, 5, 'US'), (8, 1, 'EU')"


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Any:
    spark.sql("create schema if not exists lint_builders")
    for name, rows in (("t", ROWS), ("s", UPDATES)):
        spark.sql(f"create or replace table lint_builders.{name} (id int, n int, region string) using delta")
        spark.sql(f"insert into lint_builders.{name} values {rows}")
    spark.table("lint_builders.s").createOrReplaceTempView("updates")
    yield
    spark.sql("drop schema lint_builders cascade")


@pytest.mark.parametrize(
    "chains",
    [
        pytest.param(CHAINS[::16], id="some", marks=pytest.mark.slow),
        pytest.param(CHAINS, id="all", marks=pytest.mark.nightly),
    ],
)
def test_a_chain_is_the_merge_that_it_is_read_as(spark: SparkSession, tables: None, chains: list[str]) -> None:
    differ = []
    for code in chains:
        (found,) = read_python([SourceText("job.py", TABLE + code)]).statements
        text = as_written(found.rendered.text)
        before, built = rows(spark, lambda code=code: run(spark, code))
        _, merged = rows(spark, lambda text=text: spark.sql(text))
        if built != merged or built == before:
            differ.append((code, text, built, merged))
    assert differ == []


def rows(spark: SparkSession, change: Callable[[], object]) -> tuple[list[str], list[str]]:
    """The rows of the table before and after a change."""
    spark.sql(f"insert overwrite lint_builders.t values {ROWS}")
    before = sorted(str(row) for row in spark.table("lint_builders.t").collect())
    change()
    return before, sorted(str(row) for row in spark.table("lint_builders.t").collect())


def run(spark: SparkSession, code: str) -> None:
    from delta.tables import DeltaTable
    from pyspark.sql import functions

    updates = spark.table("lint_builders.s")
    exec(TABLE + code, {"spark": spark, "DeltaTable": DeltaTable, "F": functions, "updates": updates})
