"""Data tests on real tables: what each finds, and the rows that are kept of it."""

import pytest

from merge_runner import Project

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
    assert found["doubled"].message == f"1 failures; they are kept in {kept}"
    assert [tuple(row) for row in spark.table(kept).collect()] == [(2, 2)]
    assert (root / "warehouse" / f"{schema}_dbt_test__audit/doubled/_delta_log").is_dir()

    (root / "models/stg.sql").write_text(STG.replace("(2, 'c', 5)", "(3, 'c', 5)"))
    again = Project.load(root).build(select=["stg", "tag:kept"], driver=driver, lint=False)
    assert {result.status for result in again.results if ".doubled." in result.unique_id} == {"pass"}
    assert spark.table(kept).count() == 0


BOUNDED = """
{{ config(partition_by='day', bounds=['day']) }}
merge into {{ this }} as t using (select * from values ROWS as v(id, day, v)) as s on t.id = s.id and t.day = s.day
when matched then update set id = s.id
when not matched then insert *
"""
SINCE = """
models:
  - name: fct
    columns: [{name: id, data_type: int}, {name: day, data_type: int}, {name: v, data_type: int}]
    data_tests: [{expression_is_true: {name: positive, expression: v > 0, since: bounds}}]
"""


@pytest.mark.spark
def test_since_bounds_looks_at_what_the_merge_has_touched(make_project, driver, spark):
    root = make_project({"models/fct.sql": "", "models/m.yml": SINCE})

    def tested(rows, command="build", **options):
        (root / "models/fct.sql").write_text(BOUNDED.replace("ROWS", rows))
        project = Project.load(root)
        results = getattr(project, command)(driver=driver, **options).results
        found = next(result for result in results if result.unique_id.startswith("test."))
        return found.status, found.failures, found.adapter_response["tested"], project

    *found, project = tested("(1, 1, 1), (2, 2, 2)", lint=False)
    assert found == ["pass", 0, "bounds"]
    spark.sql(f"update {project.graph.nodes['model.shop.fct'].relation} set v = -1 where day = 1")
    assert tested("(2, 2, 2), (3, 2, 3)", lint=False)[:3] == ("pass", 0, "bounds")
    assert tested("(2, 2, 2)", "test")[:3] == ("fail", 1, "all rows")
    assert tested("(1, 1, 1)", lint=False)[:3] == ("fail", 1, "bounds")
    # A row without a day is in no bounds, and is inserted.
    assert tested("(4, cast(null as int), -4)", lint=False)[:3] == ("fail", 1, "bounds")


def test_a_singular_test_says_itself_which_rows_it_reads(make_project):
    from merge_runner.errors import ProblemsError
    from merge_runner.plan.explain import explain

    root = make_project({"tests/t.sql": "{{ config(since='bounds') }} select 1 as n"})
    with pytest.raises(ProblemsError, match="`since` is for tests in YAML"):
        project = Project.load(root)
        explain(project.prepared, tuple(project.graph.nodes))


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
        ("row_count_between: {min_value: 1, since: bounds}", "`since: bounds` is about what a MERGE has touched"),
    ],
)
def test_a_mistake_is_told(make_project, test, problem):
    from merge_runner.errors import ProblemsError
    from merge_runner.plan.explain import explain

    root = make_project({"models/stg.sql": STG, "models/m.yml": f"models: [{{name: stg, data_tests: [{test}]}}]"})
    with pytest.raises(ProblemsError) as raised:
        project = Project.load(root)
        explain(project.prepared, tuple(project.graph.nodes))
    assert problem in str(raised.value)
