"""Tables that promise something else than is declared: what is altered, what is told, and what they are afterwards."""

import itertools
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from merge_runner.engine.table_format.registry import table_format
from merge_runner.engine.tables import ddl
from merge_runner.engine.tables.alter import alter
from merge_runner.plan.layout.table_layout import table_checks, table_columns
from merge_runner.plan.steps.table import Column, Layout
from merge_runner.project.schema.properties import ModelProperties
from merge_runner.relation import Relation
from tests.yaml_data import read_yaml

pytestmark = pytest.mark.spark

CASES = read_yaml(Path(__file__).parent / "constraint_drift.yml")
NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def schemas(spark):
    found = {"delta": ("constraints", None), "iceberg": ("constraints", "ice")}
    for schema, catalog in found.values():
        spark.sql(f"create schema {Relation(schema, catalog)}")
    return found


@pytest.fixture
def table(spark, schemas):
    """Makes the table of a case; gives its relation."""

    def make(case):
        relation = Relation(f"t{next(NUMBERS)}", *schemas[case["format"]])
        properties = f"tblproperties ({case['properties']})" if "properties" in case else ""
        spark.sql(f"create table {relation} ({case['table']}) using {case['format']} {properties}")
        if "rows" in case:
            spark.sql(f"insert into {relation} {case['rows']}")
        for statement in case.get("before", ()):
            spark.sql(statement.format(t=relation))
        return relation

    return make


def declared(case, relation):
    properties = TypeAdapter(ModelProperties).validate_python({"name": "fct", **case["declared"]})
    return Layout(
        relation,
        case["format"],
        columns=table_columns(properties),
        checks=table_checks(properties),
        properties=case.get("config", {}),
        comment=properties.description,
    )


def real_columns(spark, relation):
    found = {}
    for field in spark.table(str(relation)).schema.fields:
        words = [field.dataType.simpleString() + ("" if field.nullable else " not null")]
        words += [f"default {field.metadata[key]}" for key in ("CURRENT_DEFAULT",) if key in field.metadata]
        words += [f"comment {field.metadata['comment']}"] if field.metadata.get("comment") else []
        found[field.name] = ", ".join(words)
    return found


def real_checks(spark, relation):
    prefix = "delta.constraints."
    rows = spark.sql(f"show tblproperties {relation}").collect()
    return {row["key"].removeprefix(prefix): row["value"] for row in rows if row["key"].startswith(prefix)}


# Every third case in `make test`, the others in `make test-slow`.
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=f"{case['format']}: {case['case']}", marks=pytest.mark.slow if number % 3 else [])
        for number, case in enumerate(CASES)
    ],
)
def test_case(spark, table, case):
    relation = table(case)
    layout = declared(case, relation)
    found = alter(spark, layout, table_format(layout.format))
    altered, left = found.altered, found.left
    assert list(altered) == case.get("altered", [])
    expected = [text.format(t=relation) for text in case.get("left", ())]
    assert [words[: len(begin)] for words, begin in zip(left, expected, strict=True)] == expected
    assert real_columns(spark, relation) == case["columns"]
    assert real_checks(spark, relation) == case.get("checks", {})
    again = alter(spark, layout, table_format(layout.format))
    assert (again.altered, again.left) == ((), left)  # and nothing is done twice
    if "comment" in case:
        described = {row["col_name"]: row["data_type"] for row in spark.sql(f"describe extended {relation}").collect()}
        assert described["Comment"] == case["comment"]


@pytest.mark.parametrize("format", ["delta", "iceberg"])
def test_a_table_is_created_with_its_description(spark, schemas, format):
    relation = Relation(f"t{next(NUMBERS)}", *schemas[format])
    layout = Layout(relation, format, columns=(Column("id", "int"),), comment="the 'new' one")
    for statement in (ddl.create_table(layout, layout.columns), ddl.replace_table_as(layout, "select 1 as id")):
        spark.sql(statement)
        described = {row["col_name"]: row["data_type"] for row in spark.sql(f"describe extended {relation}").collect()}
        assert described["Comment"] == "the 'new' one"
        again = alter(spark, layout, table_format(layout.format))
        assert (again.altered, again.left) == ((), ())
