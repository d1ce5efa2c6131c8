"""What a MERGE does where source and target have other columns: docs/guides/schema-evolution.md, held against the engines."""

import itertools
import zlib
from pathlib import Path

import pytest

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.sql import run_statement
from tests.yaml_data import read_yaml

pytestmark = pytest.mark.spark

CASES = read_yaml(Path(__file__).parent / "schema_evolution.yml")
NUMBERS = itertools.count()
STAR = "when matched then update set * when not matched then insert *"


@pytest.fixture(scope="module")
def schemas(spark):
    found = {"delta": "evolving", "iceberg": "ice.evolving"}
    for schema in found.values():
        spark.sql(f"create schema {schema}")
    return found


def named(spark, source):
    """The clauses of STAR, with the columns of the source by name."""
    names = spark.sql(source).columns
    sets = ", ".join(f"{name} = s.{name}" for name in names)
    values = ", ".join(f"s.{name}" for name in names)
    return f"when matched then update set {sets} when not matched then insert ({', '.join(names)}) values ({values})"


def cases():
    """Return all cases, in tiers by a hash of the name: an eighth in `make test`, an eighth in `make test-slow`."""
    for case in CASES:
        for format, outcomes in case["outcomes"].items():
            for words, outcome in outcomes.items():
                name = f"{case['name']}, {format}: {words}"
                eighth = zlib.crc32(name.encode()) % 8
                marks = () if eighth == 0 else pytest.mark.slow if eighth == 1 else pytest.mark.nightly
                yield pytest.param(case, format, words, outcome, id=name, marks=marks)


@pytest.mark.parametrize(("case", "format", "words", "outcome"), list(cases()))
def test_what_becomes_of_the_table(spark, schemas, case, format, words, outcome):
    table = f"{schemas[format]}.t{next(NUMBERS)}"
    properties = f"tblproperties ({case['properties']})" if "properties" in case else ""
    spark.sql(f"create table {table} ({case['target']}) using {format} {properties}")
    spark.sql(f"insert into {table} {case['rows']}")
    clauses = STAR if words.startswith("star") else named(spark, case["source"])
    evolves = "with schema evolution" if words.endswith("evolves") else ""
    statement = f"merge {evolves} into {table} as t using ({case['source']}) as s on t.id = s.id {clauses}"
    before = spark.table(table).schema.simpleString()
    if "error" in outcome:
        with pytest.raises(EngineError) as caught:
            run_statement(spark, statement)
        assert caught.value.code == outcome["error"]
        assert spark.table(table).schema.simpleString() == before
        return
    run_statement(spark, statement)
    assert spark.table(table).schema.simpleString() == f"struct<{outcome['columns']}>"
    assert [str(list(row)) for row in spark.table(table).orderBy("id").collect()] == outcome["rows"]
