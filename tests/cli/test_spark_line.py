"""Verdicts are for the Spark that an output names, and lint says for which."""

import json

import pytest

MERGE = """
{{ config(format='delta') }}
merge into {{ this }} as t
using (select id, day from {{ ref('stg') }}) as s
   on t.id = s.id and t.day >= timestamp'2024-01-01 00:00:00'
when matched then update set *
"""
COLUMNS = "models: [{name: fct, columns: [{name: id, data_type: bigint}, {name: day, data_type: date}]}]\n"
PROFILE = "shop: {{outputs: {{dev: {{master: 'local[2]', schema: shop{engine}}}}}}}\n"


@pytest.fixture
def report(make_project, call):
    def lint(engine, *options):
        files = {"models/stg.sql": "select 1L as id, date'2024-01-01' as day", "models/fct.sql": MERGE}
        root = make_project({**files, "models/m.yml": COLUMNS, "profiles.yml": PROFILE.format(engine=engine)})
        return call("lint", *options, cwd=root)

    return lint


@pytest.mark.parametrize(
    ("engine", "spark", "verdict"),
    [("", "4.1", "static"), (", engine: {spark: '4.0'}", "4.0", "static"), (", engine: {spark: '3.5'}", "3.5", "none")],
)
def test_the_verdict_is_for_the_line_of_the_output(report, engine, spark, verdict):
    (merge,) = json.loads(report(engine, "--format", "json").stdout)["merges"]
    assert (merge["spark"], merge["verdict"]) == (spark, verdict)


@pytest.mark.parametrize(("spark", "table_format"), [("4.3", "delta"), ("4.3", "iceberg"), ("4.2", "iceberg")])
def test_what_was_never_measured_is_unknown(make_project, call, spark, table_format):
    profile = "catalogs: {ice: {type: embedded}}, " if table_format == "iceberg" else ""
    files = {
        "models/stg.sql": "select 1L as id, date'2024-01-01' as day",
        "models/fct.sql": MERGE.replace("'delta'", f"'{table_format}', schema='shop'"),
        "models/m.yml": COLUMNS,
        "profiles.yml": f"shop: {{outputs: {{dev: {{master: 'local[2]', schema: shop, {profile}engine: {{spark: '{spark}'}}}}}}}}\n",
    }
    (merge,) = json.loads(call("lint", "--format", "json", cwd=make_project(files)).stdout)["merges"]
    assert (merge["spark"], merge["verdict"]) == (spark, "unknown")
    assert all(conjunct["prunes"] is None for conjunct in merge["conjuncts"])
    assert f"has no build for Spark {spark}" in merge["conjuncts"][0]["reason"]


def test_the_summary_names_a_line_that_is_not_the_recommended_one(report):
    assert "1 merge: 1 none, on Spark 3.5;" in report(", engine: {spark: '3.5'}").stdout
    assert "Spark" not in report("").stdout.splitlines()[-1]


def test_a_line_that_there_is_not_is_refused_at_its_place(report):
    refused = report(", engine: {spark: '2.4'}")
    assert refused.returncode == 2
    assert "profiles.yml:1:" in refused.stderr
    assert "4.3" in refused.stderr
