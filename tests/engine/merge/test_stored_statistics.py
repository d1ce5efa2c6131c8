"""A runtime filter never leaves out a file with the value it is about, whatever the statistics of the file make of it."""

from itertools import combinations_with_replacement
from pathlib import Path

import pytest

from merge_runner import Project
from merge_runner.engine.merge.source_values import AskedValues, source_values
from merge_runner.formats.lines import installed_line
from merge_runner.pruning.runtime_filter.bound_literal import exact_type, literal_type
from merge_runner.pruning.runtime_filter.bound_predicate import bound_predicate
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "stored_statistics.yml")
FORMATS = [
    "delta",
    pytest.param("iceberg", marks=pytest.mark.skipif("iceberg" not in installed_line().formats, reason="no build")),
]
ZONE = "Europe/Berlin"
pytestmark = [pytest.mark.spark, pytest.mark.lines]


@pytest.fixture
def session(driver):
    with driver.session({"spark.sql.session.timeZone": ZONE}) as session:
        session.sql("create schema if not exists stored")
        if "iceberg" in installed_line().formats:
            session.sql("create schema if not exists ice.stored")
        yield session


def written(session, table_format, case, number):
    """Make the table of a case, a file for each pair of values; give its name."""
    values, table = case["values"], f"{'ice.' * (table_format == 'iceberg')}stored.t{number}"
    pairs = enumerate(combinations_with_replacement(range(len(values)), 2))
    rows = ", ".join(f"({file}, {place})" for file, pair in pairs for place in sorted(set(pair)))
    branches = " ".join(f"when {place} then {value}" for place, value in enumerate(values))
    session.sql(
        f"create table {table} (file int, place int, k {case['type']}) using {table_format} partitioned by (file)"
    )
    session.sql(
        f"insert into {table} select /*+ coalesce(1) */ file, place, case place {branches} end from values {rows} as v(file, place)"
    )
    return table


@pytest.mark.parametrize("table_format", FORMATS)
@pytest.mark.parametrize("number", range(len(CASES)), ids=[case["type"] for case in CASES])
def test_each_file_with_the_value_is_read(session, table_format, number):
    case = CASES[number]
    table = written(session, table_format, case, number)
    kind = literal_type(*[exact_type("string" if "char" in case["type"] else case["type"])] * 2)
    missed, left_out = {}, 0
    for place, value in enumerate(case["values"]):
        asked = AskedValues("k", kind, null=False, by_statistics=True)
        found = source_values(session, "", f"(select {value} as k)", [asked])[0]
        if found is None:
            left_out += 1
            continue
        condition = bound_predicate("k", found, most_values=1000).text
        files = {
            row.file for row in session.sql(f"select file from {table} where place = {place} and {condition}").collect()
        }
        if len(files) != len(case["values"]):
            missed[value] = (condition, len(files))
    assert (missed, left_out) == ({}, case.get("left out", 0))


MODEL = """
{{ config(bounds=BOUNDS, partition_by='file') }}
merge into {{ this }} as t using (select 1 as file, k from {{ ref('src') }}) as s on t.k = s.k
when not matched then insert (file, k) values (s.file, s.k)
"""
SOURCE = "{{{{ config(materialized='table') }}}} select explode(array({})) as k"


@pytest.mark.parametrize("table_format", FORMATS)
def test_a_second_merge_inserts_nothing_with_and_without_the_filter(make_project, driver, spark, table_format):
    values = CASES[0]["values"][1:5]  # the smallest one is no UTF-8, and the next one smaller than what stands for it
    columns = "version: 2\nmodels:\n"
    models = {}
    for name, bounds in (("bounded", "['k']"), ("plain", "'off'")):
        models[f"models/{name}.sql"] = MODEL.replace("BOUNDS", bounds)
        columns += f"  - name: {name}\n    columns: [{{name: file, data_type: int}}, {{name: k, data_type: string}}]\n"
    root = make_project(
        {**models, "models/all.yml": columns, "models/src.sql": SOURCE.format(", ".join(values))}, table_format
    )
    project = Project.load(root)
    assert project.build(driver=driver, lint=False).ok
    # One value at a time: each is found in the file that has all of them.
    for value in values:
        (root / "models" / "src.sql").write_text(SOURCE.format(value))
        results = Project.load(root).build(driver=driver, lint=False)
        assert results.ok and "k" in results["bounded"].adapter_response["bounds"]
    schema = str(project.graph.nodes["model.shop.bounded"].relation).rpartition(".")[0]
    counts = {
        name: [
            tuple(row)
            for row in spark.sql(
                f"select hex(cast(k as binary)) as h, count(*) from {schema}.{name} group by 1 order by 1"
            ).collect()
        ]
        for name in ("bounded", "plain")
    }
    assert counts["bounded"] == counts["plain"]
    assert {number for _, number in counts["bounded"]} == {1}
