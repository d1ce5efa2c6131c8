"""Names with a qualifier that is neither target nor source: what is reported, and what the engines do."""

import re
from pathlib import Path

import pytest

from merge_runner.formats.types import parse_type
from merge_runner.merge.parse import parse
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.judge.unknown_qualifiers import unknown_qualifiers
from merge_runner.pruning.layout.layout import UNKNOWN, TableColumn, TableLayout
from merge_runner.pruning.query.source import KnownTable
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_suffix("").with_name("unknown_qualifiers.yml"))
COLUMNS = {
    "gold": {"id": "bigint", "name": "string", "addr": "struct<city:string>"},
    "src": {
        "id": "bigint",
        "name": "string",
        "saddr": "struct<city:string,zip:bigint,geo:struct<lat:int>>",
        "items": "array<struct<k:int>>",
    },
}
LAYOUTS = {
    name: TableLayout(columns=tuple(TableColumn(each, parse_type(text)) for each, text in types.items()), complete=True)
    for name, types in COLUMNS.items()
}


def found(sql, *, known):
    def lookup(parts):
        return KnownTable(LAYOUTS[parts[-1]]) if known and parts[-1] in LAYOUTS else None

    statement = parse(sql.replace("{t}", "q.gold").replace("{s}", "q.src").replace("{c}", "spark_catalog"))
    merge = judge_merge(statement, LAYOUTS["gold"] if known else UNKNOWN, lookup)
    return unknown_qualifiers(statement, merge.layout, merge.source, merge.scope)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_what_is_reported(case):
    for key, known in (("found", True), ("plain", False)):
        assert {each.word: each.evidence for each in found(case["sql"], known=known)} == case.get(key, {})


@pytest.mark.parametrize(("word", "alias"), [("cdr", "cdf"), ("sorce", "source"), ("updaets", "updates")])
def test_a_slip_is_one_letter(word, alias):
    sql = f"merge into q.t t using q.s {alias} on t.id = {word}.id when matched then delete"
    assert [(each.word, each.suggestion) for each in found(sql, known=False)] == [(word, alias)]


@pytest.mark.parametrize(("word", "alias"), [("events", "event"), ("addr1", "addr2"), ("u", "s"), ("payload", "src")])
def test_a_word_that_may_be_a_column_with_fields_is_none(word, alias):
    sql = f"merge into q.t t using q.s {alias} on t.id = {word}.id when matched then delete"
    assert found(sql, known=False) == ()


@pytest.mark.spark
@pytest.mark.parametrize(
    ("table_format", "one_in"),
    [
        pytest.param("delta", 4, id="delta, some", marks=pytest.mark.slow),
        pytest.param("iceberg", 4, id="iceberg, some"),
        pytest.param("iceberg", 1, id="iceberg, all", marks=pytest.mark.nightly),
        pytest.param("delta", 1, id="delta, all", marks=pytest.mark.nightly),
    ],
)
def test_the_engines_take_what_is_recorded(spark, table_format, one_in):
    catalog, schema = ("ice", "ice.qualified") if table_format == "iceberg" else ("spark_catalog", "qualified")
    session = spark.newSession()
    session.sql(f"create schema if not exists {schema}")
    for name, types in COLUMNS.items():
        columns = ", ".join(f"{column} {text}" for column, text in types.items())
        session.sql(f"create table if not exists {schema}.{name} ({columns}) using {table_format}")  # no row is written
    session.sql("declare variable v bigint")
    session.sql("declare variable w string")
    session.sql(f"use {schema}")
    marks = {"{t}": f"{schema}.gold", "{s}": f"{schema}.src", "{c}.q": f"{catalog}.qualified", "q.": "qualified."}
    wrong = []
    for case in CASES[::one_in]:
        sql = re.sub(r"\{t\}|\{s\}|\{c\}\.q|\bq\.", lambda mark: marks[mark[0]], case["sql"])
        if runs(session, sql) is not (case["engines"] in ("both", table_format)):
            wrong.append(sql)
    assert wrong == []


def runs(spark, sql):
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        spark.sql(sql).collect()
    except (PySparkException, Py4JJavaError):
        return False
    return True
