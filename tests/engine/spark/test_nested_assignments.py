"""A MERGE sets a field of a struct of an Iceberg table, with Delta's extension loaded too."""

from pathlib import Path

import pytest

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.nested_assignments import assign_columns_before_delta
from merge_runner.engine.spark.sql import run_command
from merge_runner.formats.lines import installed_line
from tests.yaml_data import read_yaml

REFUSED = "DELTA_MERGE_UNEXPECTED_ASSIGNMENT_KEY"
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
def test_a_field_of_a_struct_is_set_or_the_merge_is_refused(session, mode):
    found, expected = {}, {}
    for number, case in enumerate(CASES):
        if ("after" not in case or case.get("evolves")) and installed_line().spark != "4.1":
            continue  # no other line was asked
        evolution, alias = "with schema evolution " * case.get("evolves", False), case.get("alias", "s")
        table, expected[case["case"]] = f"ice.nested.t{number}_{mode[0]}", case.get("after", REFUSED)
        session.sql(
            f"create table {table} ({case['table']}) using iceberg tblproperties ('write.merge.mode' = '{mode}')"
        )
        session.sql(f"insert into {table} values {case['rows']}")
        before = rows_of(session, table)
        try:
            run_command(session, f"merge {evolution}into {table} t using ({case['source']}) {alias} {case['merge']}")
        except EngineError as error:
            found[case["case"]] = error.code
            assert "named_struct" in str(error.hint)
            assert rows_of(session, table) == before
        else:
            found[case["case"]] = rows_of(session, table)
    assert found == expected


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
