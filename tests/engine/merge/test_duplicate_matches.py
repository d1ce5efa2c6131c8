"""Which keys are named where several source rows match one target row."""

import pytest

from merge_runner import Project
from merge_runner.engine.merge.duplicate_matches import DuplicateMatch, duplicates_query
from merge_runner.merge.parse import parse
from merge_runner.relation import Relation


def test_values_are_shown_as_they_are_but_shortened():
    match = DuplicateMatch((("t.id", "1"), ("t.name", "x" * 60), ("t.z", None), ("t.e", " ")), 1234)
    assert str(match) == f"t.id = 1, t.name = {'x' * 39}…, t.z = NULL, t.e = ' ' (1,234 source rows)"


def test_the_query_is_made_of_the_statements_own_text():
    statement = parse(
        "with recent as (select 1 as id)\nmerge into shop.fct using recent on fct.id = recent.id when matched then delete"
    )
    query = duplicates_query(Relation("fct", "shop"), statement, ("fct.id",), ("fct.p = 1 -- x",))
    assert query == (
        "with recent as (select 1 as id)\n"
        "SELECT CAST(k0 AS STRING), max(n) FROM (\n"
        "SELECT any_value(fct.id) AS k0, count(*) AS n\n"
        "FROM (SELECT *, monotonically_increasing_id() AS merge_runner_row FROM shop.fct AS fct WHERE (fct.p = 1 -- x\n"
        ")) AS fct\n"
        "JOIN recent\n"
        "ON fct.id = recent.id\n"
        "GROUP BY merge_runner_row HAVING count(*) > 1\n"
        ") GROUP BY k0 ORDER BY max(n) DESC, k0 LIMIT 5"
    )


def test_without_keys_the_largest_number_alone_is_asked_for():
    statement = parse("merge into shop.fct as t using s on t.id - s.id = 0 when not matched by source then delete")
    assert duplicates_query(Relation("fct", "shop"), statement, ()) == (
        "SELECT max(n) FROM (\n"
        "SELECT count(*) AS n\n"
        "FROM (SELECT *, monotonically_increasing_id() AS merge_runner_row FROM shop.fct AS t) AS t\n"
        "JOIN s\n"
        "ON t.id - s.id = 0\n"
        "GROUP BY merge_runner_row HAVING count(*) > 1\n"
        ") HAVING max(n) IS NOT NULL"
    )
    assert str(DuplicateMatch((), 2)) == "2 source rows"


@pytest.mark.spark
def test_the_error_of_a_merge_names_model_keys_and_counts(make_project, driver, spark):
    columns = "columns: [{name: id, data_type: bigint}, {name: day, data_type: date}, {name: v, data_type: bigint}]"
    root = make_project(
        {
            "models/aliased.sql": """
                {{ config(partition_by='day') }}
                with doubled as (select * from values (1L, 1L), (1L, 2L), (1L, 3L), (2L, 1L), (2L, 1L), (3L, 1L), (9L, 1L),
                                 (9L, 2L), (4L, 1L), (4L, 2L), (5L, 1L), (5L, 2L), (6L, 1L), (6L, 2L), (7L, 1L), (7L, 2L)
                                 as v(id, v))
                merge into {{ this }} as t
                using (select id, date'2024-01-01' as day, v from doubled) as s
                   on s.id = t.id and (t.day = s.day) and t.day >= date'2023-01-01'
                when matched and s.v > 100 then update set *
            """,
            "models/plain.sql": """
                merge into {{ this }} using (values (1L), (1L) as v(id)) as s on plain.id = s.id
                when matched then update set plain.v = 1
            """,
            "models/no_key.sql": """
                merge into {{ this }} as t using (values (1L), (1L) as v(id)) as s on t.id <= s.id
                when matched then update set t.v = 1
            """,
            "models/m.yml": f"models: [{{name: aliased, {columns}}}, {{name: plain, {columns}}}, {{name: no_key, {columns}}}]",
        }
    )
    project = Project.load(root)
    for name in ("aliased", "plain", "no_key"):
        relation = project.graph.nodes[f"model.shop.{name}"].relation
        spark.sql(f"create schema if not exists {relation.schema}")
        layout = "partitioned by (day)" if name == "aliased" else ""
        spark.sql(
            f"create table {relation} (id bigint, day date, v bigint) using delta {layout} "
            f"location '{root}/warehouse/{relation.schema}/{name}'"
        )
        # Key 2 stands twice in the target: it is named once.
        spark.sql(
            f"insert into {relation} select id, date'2024-01-01', 0L from values (1L), (2L), (2L), (3L), (4L), (5L), (6L), (7L) v(id)"
        )
    results = project.build(driver=driver, lint=False)
    told = {name: results[name].message for name in ("aliased", "plain", "no_key")}
    words = "several source rows match one target row"
    code = "[DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE]"
    hint = "\n    keep one source row for each key: GROUP BY, or row_number() = 1"
    keys = [
        f"t.id = {key}, t.day = 2024-01-01 ({rows} source rows)"
        for key, rows in ((1, 3), (2, 2), (4, 2), (5, 2), (6, 2))
    ]
    assert told["aliased"] == f"models/aliased.sql:8:7: {words}: {'; '.join(keys)} {code}{hint}"
    assert told["plain"] == f"models/plain.sql:2:66: {words}: plain.id = 1 (2 source rows) {code}{hint}"
    assert told["no_key"].startswith("models/no_key.sql:2:71: Cannot perform Merge as multiple source rows matched")
