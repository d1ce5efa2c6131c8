"""`source freshness`: how old the newest rows of sources are, in dbt's shape."""

import json

import pytest

from merge_runner import Project
from merge_runner.errors import ProblemsError
from tests.dbt_schemas import schema_errors

YAML = """
sources:
  - name: raw
    schema: SCHEMA
    freshness: {warn_after: {count: 1, period: hour}, error_after: {count: 2, period: day}}
    loaded_at_field: at
    tables:
      - {name: fresh, identifier: loads}
      - {name: late, identifier: loads, freshness: {filter: "days = 1"}}
      - {name: old, identifier: loads, freshness: {filter: "days = 3"}}
      - {name: older, identifier: loads, freshness: {error_after: {count: 9, period: day}, filter: "days = 3"}}
      - {name: never, identifier: loads, freshness: {filter: "days = 7"}}
      - {name: broken, identifier: loads, loaded_at_field: nothing}
      - {name: quiet, identifier: loads, freshness: null}
"""


@pytest.mark.spark
def test_each_source_is_held_against_its_thresholds(make_project, driver, spark, call, capsys):
    root = make_project({"models/a.sql": "select 1 as n"})
    schema = (root / "profiles.yml").read_text().split("schema: ")[1].split("}")[0]
    (root / "models/m.yml").write_text(YAML.replace("SCHEMA", schema))
    spark.sql(f"create schema if not exists {schema}")
    spark.sql(
        f"create table {schema}.loads using delta as select timestampadd(DAY, -days, current_timestamp()) as at, days "
        "from values (0), (1), (3) as v(days)"
    )
    results = Project.load(root).source_freshness(driver=driver)
    found = {result.unique_id.split(".")[-1]: result for result in results.results}
    assert {name: result.status for name, result in found.items()} == {
        "fresh": "pass",
        "late": "warn",
        "old": "fail",
        "older": "warn",
        "never": "fail",
        "broken": "error",
    }
    assert found["old"].message == "its newest row is 3 days old, and is to be an error after 2 days"
    document = json.loads((root / "target/sources.json").read_text())
    assert document["metadata"]["dbt_schema_version"] == "https://schemas.getdbt.com/dbt/sources/v3.json"
    assert schema_errors(document) == []
    told = {entry["unique_id"].split(".")[-1]: entry for entry in document["results"]}
    assert {name: entry["status"] for name, entry in told.items()} == {
        "fresh": "pass",
        "late": "warn",
        "old": "error",
        "older": "warn",
        "never": "error",
        "broken": "runtime error",
    }
    assert set(told["broken"]) == {"unique_id", "error", "status"}
    assert told["late"]["criteria"] == {
        "warn_after": {"count": 1, "period": "hour"},
        "error_after": {"count": 2, "period": "day"},
        "filter": "days = 1",
    }
    assert 86_400 <= told["late"]["max_loaded_at_time_ago_in_s"] < 87_000
    assert told["never"]["max_loaded_at"] == "0001-01-01T00:00:00+00:00"

    assert call(root, "source", "freshness", "-s", "source:raw.late", "-o", str(root / "mine.json")) == 0
    assert [entry["status"] for entry in json.loads((root / "mine.json").read_text())["results"]] == ["warn"]
    assert "WARN" in capsys.readouterr().err


def test_what_cannot_be_asked_is_told_before_anything_is(make_project):
    table = "{name: t, freshness: {warn_after: {count: 1, period: day}}}"
    root = make_project({"models/m.yml": f"sources: [{{name: raw, tables: [{table}]}}]"})
    with pytest.raises(ProblemsError, match=r'source raw\.t has "freshness" and no "loaded_at_field"'):
        Project.load(root).source_freshness()
    (root / "models/m.yml").write_text(
        f"sources: [{{name: raw, tables: [{table.replace('warn_after', 'warn_afer')}]}}]"
    )
    with pytest.raises(ProblemsError, match='unknown key "warn_afer"'):
        Project.load(root)
