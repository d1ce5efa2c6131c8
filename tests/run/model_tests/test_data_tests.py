"""Data tests on real tables: what each finds, and the rows that are kept of it."""

from xml.etree import ElementTree

import pytest

from merge_runner import Project
from merge_runner.run.compile import compile_nodes
from merge_runner.run.results.junit import junit

STG = (
    "{{ config(materialized='table') }} select * from values (1, 'a', 0), (2, 'b', 0), (2, 'c', 5) as v(id, name, days)"
)
YAML = """
models:
  - name: stg
    columns:
      - name: id
        data_tests:
          - unique: {name: doubled, store_failures: true, tags: [kept]}
          - unique: {name: not_doubled, where: id < 2}
          - accepted_values: {name: limited, values: [7], quote: false, limit: 1, severity: warn}
          - accepted_values: {name: few, values: [7], quote: false, error_if: ">5", warn_if: ">2"}
    data_tests:
      - unique_combination: {name: pairs, combination_of_columns: [id, name]}
      - row_count_between: {name: too_many, max_value: 2, severity: warn}
      - row_count_between: {name: enough, min_value: 3}
      - recency: {name: recent, field: "timestampadd(DAY, -days, current_timestamp())", datepart: day, interval: 1}
      - recency:
          {name: stale, datepart: day, interval: 1, field: "timestampadd(DAY, -days, current_timestamp())",
           group_by_columns: [name], severity: warn}
      - recency: {name: never, datepart: day, interval: 1, field: now(), where: id > 9, severity: warn}
"""
FOUND = {
    "doubled": ("fail", 1),
    "not_doubled": ("pass", 0),
    "limited": ("warn", 1),
    "few": ("pass", 2),
    "pairs": ("pass", 0),
    "too_many": ("warn", 1),
    "enough": ("pass", 0),
    "recent": ("pass", 0),
    "stale": ("warn", 1),
    "never": ("warn", 1),
}


@pytest.mark.spark
def test_what_tests_find_and_what_is_kept_of_it(make_project, driver, spark):
    child = "{{ config(materialized='table') }} select count(*) as n from {{ ref('stg') }}"
    root = make_project({"models/stg.sql": STG, "models/child.sql": child, "models/m.yml": YAML})
    project = Project.load(root)
    results = project.build(driver=driver, lint=False)
    found = {result.unique_id.split(".")[2]: result for result in results.results}
    assert {name: (found[name].status, found[name].failures) for name in FOUND} == FOUND
    assert found["child"].status == "skipped"
    kept = found["doubled"].adapter_response["failures_table"]
    schema = project.graph.nodes["model.shop.stg"].relation.schema
    assert kept == f"{schema}_dbt_test__audit.doubled"
    assert found["doubled"].message == (
        f"models/m.yml:7:13: 1 failure of unique on stg.id; they are kept in {kept}\n"
        "| id | n_records |\n| -- | --------- |\n|  2 |         2 |\n"
        "query: target/compiled/shop/models/m.yml/doubled.sql"
    )
    assert [tuple(row) for row in spark.table(kept).collect()] == [(2, 2)]
    assert (root / "warehouse" / f"{schema}_dbt_test__audit/doubled/_delta_log").is_dir()

    (root / "models/stg.sql").write_text(STG.replace("(2, 'c', 5)", "(3, 'c', 5)"))
    again = Project.load(root).build(select=["stg", "tag:kept"], driver=driver, lint=False)
    assert {result.status for result in again.results if ".doubled." in result.unique_id} == {"pass"}
    assert spark.table(kept).count() == 0


@pytest.mark.parametrize(
    ("test", "problem"),
    [
        ("recency: {datepart: fortnight, interval: 1}", 'test recency: "datepart" must be'),
        ("recency: {datepart: day, interval: 0}", 'test recency: "interval" must be at least 1, not 0'),
        ("row_count_between: {min: 3}", 'unknown key "min"'),
        ("row_count_between: {min_value: 3, max_value: 2}", "no count is between 3 and 2"),
        ("row_count_between", 'it needs "min_value", "max_value" or both'),
        ("dbt_utils.unique_combination_of_columns: {columnz: [id]}", 'unknown key "columnz"'),
        ("not_null", "it belongs under a column"),
        ("row_count_between: {min_value: 1, since: bounds}", "`since: bounds` is withdrawn, as a test passed"),
        ("row_count_between: {min_value: 1, config: {since: bounds}}", "the test reads all rows then"),
    ],
)
def test_a_mistake_is_told(make_project, test, problem):
    from merge_runner.errors import ProblemsError
    from merge_runner.plan.explain.explain import explain

    root = make_project({"models/stg.sql": STG, "models/m.yml": f"models: [{{name: stg, data_tests: [{test}]}}]"})
    with pytest.raises(ProblemsError) as raised:
        project = Project.load(root)
        explain(project.prepared, tuple(project.graph.nodes))
    assert problem in str(raised.value)


FAILING = """
{{ config(materialized='table', unique_key=['id']) }}
select id, if(id = 3, id, null) as v, if(id = 4, 'pass-word-1', 'x') as note, date '12000-01-01' as late
from range(1, 9)
"""
FAILING_YAML = """
models:
  - name: stg
    columns:
      - name: v
        data_tests:
          - not_null
          - not_null: {name: never, where: id > 99}
      - {name: nope, data_tests: [{not_null: {name: no_column}}]}
    data_tests:
      - expression_is_true: {name: positive, expression: v >= 0, severity: warn, where: id = 4, error_if: ">9"}
      - expression_is_true: {name: no_expression, expression: v >> = 0}
"""
SINGULAR = {
    "tests/pair.sql": """-- two columns of one name
        select v, id, id, interval 1 day as span from {{ ref('stg') }} where id > 6
    """,
    "tests/no_word.sql": "select * from {{ ref('stg') }} wher id > 0",
}
"""A query that gives few columns: its rows come in the pass that counts them. The other one is no query."""


@pytest.mark.spark
def test_a_test_that_fails_shows_rows_its_place_and_its_query(make_project, driver, spark, monkeypatch):
    monkeypatch.setenv("MY_PASSWORD", "pass-word-1")
    profile = """
        shop: {outputs: {dev: {master: 'local[2]', schema: failing, conf: {spark.my.password: "{{ env_var('MY_PASSWORD') }}"}}}}
    """
    files = {"models/stg.sql": FAILING, "models/m.yml": FAILING_YAML, "profiles.yml": profile, **SINGULAR}
    root = make_project(files)
    results = Project.load(root).build(driver=driver, lint=False)
    found = {result.unique_id.split(".")[2]: result for result in results.results}

    failed = found["not_null_stg_v"]
    assert (failed.status, failed.failures) == ("fail", 7)
    assert failed.message == (
        "models/m.yml:7:13: 7 failures of not_null on stg.v\n"
        "| id | v    | note  | late         |\n"
        "| -- | ---- | ----- | ------------ |\n"
        "|  1 | NULL | x     | +12000-01-01 |\n"
        "|  2 | NULL | x     | +12000-01-01 |\n"
        "|  4 | NULL | ***** | +12000-01-01 |\n"
        "|  5 | NULL | x     | +12000-01-01 |\n"
        "|  6 | NULL | x     | +12000-01-01 |\n"
        "… only 5 rows are shown\n"
        "query: target/compiled/shop/models/m.yml/not_null_stg_v.sql"
    )
    response = failed.adapter_response
    assert response["failing_rows"][2] == {"id": 4, "v": None, "note": "*****", "late": "+12000-01-01"}
    assert response["more_failing_rows"] is True
    assert response["place"] == {"path": "models/m.yml", "line": 7, "column": 13}
    compiled = (root / response["compiled_path"]).read_text()
    assert spark.sql(compiled).count() == 7

    warned = found["positive"]
    assert warned.status == "warn"
    assert warned.message.splitlines()[0] == ("models/m.yml:11:9: 1 failure of expression_is_true on stg (fails if >9)")
    assert [row["id"] for row in warned.adapter_response["failing_rows"]] == [4]
    assert found["never"].status == "pass"
    assert "failing_rows" not in found["never"].adapter_response

    pair = found["pair"]
    assert pair.message.splitlines()[0] == "tests/pair.sql:1:1: 2 failures"
    span = "INTERVAL '1' DAY"
    rows = [{"v": None, "id": number, "id (2)": number, "span": span} for number in (7, 8)]
    assert sorted(pair.adapter_response["failing_rows"], key=lambda row: row["id"]) == rows

    suites = ElementTree.fromstring(junit(results, Project.load(root).graph.nodes))
    failure = suites.find(".//testcase[@name='not_null_stg_v']/failure")
    assert failure.get("message") == failed.message.splitlines()[0]
    assert failure.text == failed.message

    assert found["no_column"].status == "error"
    assert found["no_column"].message.startswith("models/m.yml:9:35: ")
    assert found["no_expression"].message.startswith("models/m.yml:12:9: ")
    assert found["no_word"].message == "tests/no_word.sql:1:37: Syntax error at or near 'id' [PARSE_SYNTAX_ERROR]"


def test_two_tests_of_one_name_have_a_query_each(make_project):
    tests = "[{not_null: {where: id > 1}}, {not_null: {where: id > 2}}]"
    yaml = f"models: [{{name: stg, columns: [{{name: id, data_tests: {tests}}}]}}]"
    root = make_project({"models/stg.sql": STG, "models/m.yml": yaml})
    prepared = Project.load(root).prepared
    compiled = compile_nodes(prepared, prepared.graph.nodes, "an-id")
    queries = {path.read_text() for path in (root / "target/compiled/shop/models/m.yml").iterdir()}
    assert queries == {text for node, text in compiled.items() if node.startswith("test.")}
    assert len(queries) == 2
