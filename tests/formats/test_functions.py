"""The names are those that PySpark groups in the same way; its package is read as text, no Spark is started."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from merge_runner.formats.functions import AGGREGATES, CLOCK, GENERATORS, NON_DETERMINISTIC, SCALAR, WINDOW_ONLY

PYTHON_ONLY = {"count_distinct", "sum_distinct", "listagg_distinct", "string_agg_distinct", "product"}


@pytest.fixture(scope="module")
def groups():
    package = find_spec("pyspark")
    assert package is not None
    assert package.origin is not None
    text = (Path(package.origin).parent / "sql" / "functions" / "__init__.py").read_text(encoding="utf-8")
    parts = re.split(r"\n\s*# (\w[\w ]*) Functions\n", text)
    return {
        name: set(re.findall(r'^\s*"(\w+)",', body, re.M)) for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def test_aggregates(groups):
    assert groups["Aggregate"] - PYTHON_ONLY <= AGGREGATES


def test_window_functions(groups):
    assert groups["Window"] == WINDOW_ONLY


def test_generators(groups):
    assert groups["Generator"] <= GENERATORS


def test_no_function_is_of_two_sorts():
    sorts = [AGGREGATES, GENERATORS, NON_DETERMINISTIC, WINDOW_ONLY, CLOCK, SCALAR]
    assert len(frozenset().union(*sorts)) == sum(map(len, sorts))


@pytest.mark.spark
def test_spark_has_them_all(spark):
    real = {row[0] for row in spark.sql("show system functions").collect() if re.fullmatch(r"\w+", row[0])}
    of_tables = {"collations", "python_worker_logs", "range", "sql_keywords"}
    of_streams = {"session_window", "window", "window_time"}
    rest = AGGREGATES | GENERATORS | NON_DETERMINISTIC | WINDOW_ONLY | CLOCK | of_tables | of_streams | {"aes_encrypt"}
    assert real - rest == SCALAR
