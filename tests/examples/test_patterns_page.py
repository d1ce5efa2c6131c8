"""The models and unit tests of docs/guides/patterns.md, as they are written there."""

import re
from datetime import date
from pathlib import Path

import pytest

from merge_runner import Project

PAGE = (Path(__file__).parents[2] / "docs/guides/patterns.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(sql|toml|yaml)\n(.*?)^```", PAGE, re.M | re.S)
MODELS = {"customer", "dim_customer", "dim_customer_history", "fct_sale", "agg_sale_day", "event"}

SEEDS = {
    "stg_customer_log": "customer_id,name,city,seq,op\n1,Ann,Rome,1,I\n2,Bob,Oslo,2,I\n",
    "stg_customer": "customer_id,name,city,updated_at\n1,Ann,Rome,2026-01-01T00:00:00Z\n2,Bob,Oslo,2026-01-01T00:00:00Z\n",
    "stg_customer_change": "customer_id,name,city,updated_at\n1,Ann,Rome,2026-01-01T00:00:00Z\n",
    "stg_sale": "sale_date,sale_id,amount,loaded_at\n2026-01-01,1,10,2026-01-01T06:00:00Z\n2026-01-03,2,20,2026-01-03T06:00:00Z\n",
    "stg_event": "event_id,kind,loaded_at\n1,view,2026-01-01T00:00:00Z\n1,view,2026-01-01T00:00:00Z\n",
}
LATER = {
    "stg_customer_log": "1,Ann,Bari,3,U\n2,,,4,D\n3,Cid,Lima,5,I\n3,,,6,D\n",
    "stg_customer_change": "1,Ann,Bonn,2026-01-02T00:00:00Z\n1,Ann,Bari,2026-01-04T00:00:00Z\n1,Ann,Bari,2026-01-05T00:00:00Z\n",
    "stg_sale": "2026-01-01,3,30,2026-01-03T09:00:00Z\n2026-01-03,2,25,2026-01-03T09:00:00Z\n",
    "stg_event": "1,sale,2026-01-02T00:00:00Z\n2,view,2026-01-02T00:00:00Z\n",
}


@pytest.fixture
def root(make_project):
    files = {f"seeds/{name}.csv": text for name, text in SEEDS.items()}
    for number, (kind, text) in enumerate(BLOCKS):
        named = re.match(r"-- (\S+\.sql)\n", text)
        if kind == "toml":
            files["pyproject.toml"] = f'[tool.merge-runner]\nname = "shop"\n{text}'
        else:
            files[named[1] if named else f"models/block{number}.yml"] = text
    return make_project(files)


def test_lint_reports_no_error(root):
    report = Project.load(root).lint()
    assert {Path(merge.path).stem for merge in report.merges} == MODELS
    assert [str(finding) for finding in report.findings if finding.severity == "error"] == []
    verdicts = {Path(merge.path).stem: merge.verdict for merge in report.merges}
    assert (verdicts["fct_sale"], verdicts["agg_sale_day"]) == ("static", "static")


@pytest.mark.spark
@pytest.mark.nightly
def test_the_unit_tests_pass(root, driver):
    results = Project.load(root).build(driver=driver).results
    tests = [result for result in results if result.unique_id.startswith("unit_test.")]
    assert {result.status for result in tests} == {"pass"}
    assert len(tests) == PAGE.count("    model: ")


@pytest.mark.spark
@pytest.mark.nightly
def test_a_repeated_build_changes_no_row(root, driver, spark):
    schema = re.search(r"schema: (\w+)", (root / "profiles.yml").read_text())[1]

    def build():
        results = Project.load(root).build(driver=driver, exclude="resource_type:unit_test")
        assert results.ok, [(result.unique_id, result.message) for result in results.results]
        return results

    def rows(columns, table):
        return sorted(tuple(row) for row in spark.sql(f"select {columns} from {schema}.{table}").collect())

    def written(results):
        counts = ("rows_inserted", "rows_updated", "rows_deleted")
        return {name: sum(results[name].adapter_response[count] for count in counts) for name in MODELS}

    assert all(written(build()).values())

    for name, lines in LATER.items():
        with (root / f"seeds/{name}.csv").open("a") as file:
            file.write(lines)
    moved = (root / "seeds/stg_customer.csv").read_text().replace("Rome,2026-01-01", "Bari,2026-01-05")
    (root / "seeds/stg_customer.csv").write_text(moved)
    build()

    def check():
        assert rows("*", "customer") == [(1, "Ann", "Bari", 3)]
        versions = "customer_id, city, cast(valid_from as date), cast(valid_to as date), is_current"
        days = [date(2026, 1, day) for day in range(1, 6)]
        assert rows(versions, "dim_customer") == [
            (1, "Bari", days[4], None, True),
            (1, "Rome", days[0], days[4], False),
            (2, "Oslo", days[0], None, True),
        ]
        assert rows(versions, "dim_customer_history") == [
            (1, "Bari", days[3], None, True),
            (1, "Bonn", days[1], days[3], False),
            (1, "Rome", days[0], days[1], False),
        ]
        assert rows("sale_id, amount", "fct_sale") == [(1, 10), (2, 25), (3, 30)]
        assert rows("*", "agg_sale_day") == [(days[0], 2, 40), (days[2], 1, 25)]
        assert rows("event_id, kind", "event") == [(1, "sale"), (2, "view")]

    check()
    assert set(written(build()).values()) == {0}
    check()
