"""A MERGE sets a field of a struct of an Iceberg table, with Delta's extension loaded too."""

from pathlib import Path

import pytest

from merge_runner.engine.spark.nested_assignments import assign_columns_before_delta
from merge_runner.formats.lines import installed_line
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "nested_assignments.yml")
pytestmark = [
    pytest.mark.spark,
    pytest.mark.lines,
    pytest.mark.skipif("iceberg" not in installed_line().formats, reason="no build"),
]


@pytest.fixture
def session(driver):
    with driver.session() as session:
        session.sql("create schema if not exists ice.nested")
        yield session


def rows_of(session, table):
    return [
        row[0]
        for row in session.sql(
            f"select to_json(struct(*), map('ignoreNullFields', 'false')) from (select * from {table} order by id)"
        ).collect()
    ]


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_a_field_of_a_struct_is_set(session, mode):
    found = {}
    for number, case in enumerate(CASES):
        evolves, alias = case.get("evolves", False), case.get("alias", "s")
        if evolves and installed_line().spark != "4.1":
            continue  # the older lines do not have the clause for Iceberg
        table = f"ice.nested.t{number}_{mode[0]}"
        session.sql(
            f"create table {table} ({case['table']}) using iceberg tblproperties ('write.merge.mode' = '{mode}')"
        )
        session.sql(f"insert into {table} values {case['rows']}")
        evolution = "with schema evolution " if evolves else ""
        session.sql(f"merge {evolution}into {table} t using ({case['source']}) {alias} {case['merge']}")
        found[case["case"]] = rows_of(session, table)
    assert found == {case["case"]: case["after"] for case in CASES if case["case"] in found}


def test_a_delta_source_and_a_delta_target(session):
    session.sql("create schema if not exists nested")
    session.sql("create table nested.source using delta as select 1L as id, 9L as v")
    session.sql(
        "create table ice.nested.target (id int, s struct<n1: int, n2: int>) using iceberg "
        "tblproperties ('write.merge.mode' = 'merge-on-read')"
    )
    session.sql("create table nested.target (id int, s struct<n1: int, n2: int>) using delta")
    for table in ("ice.nested.target", "nested.target"):
        session.sql(f"insert into {table} values (1, named_struct('n1', 1, 'n2', 2))")
        session.sql(
            f"merge into {table} t using nested.source s on t.id = s.id when matched then update set t.s.n1 = s.v"
        )
        assert rows_of(session, table) == ['{"id":1,"s":{"n1":9,"n2":2}}']


def test_the_rule_is_added_once(driver):
    extensions = driver.spark._jsparkSession.extensions()
    field = extensions.getClass().getDeclaredField("resolutionRuleBuilders")
    field.setAccessible(True)
    before = field.get(extensions).size()
    assign_columns_before_delta(driver.spark)
    assert field.get(extensions).size() == before
