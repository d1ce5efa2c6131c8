"""`expect_merge`: a MERGE that goes beyond its limits is not committed."""

import pytest

from merge_runner import Project

YAML = """
version: 2
sources:
  - name: raw
    tables:
      - name: item
        path: data/item.csv
        format: csv
        options: {header: "true"}
        columns: [{name: id, data_type: int}, {name: v, data_type: int}]
models:
  - {name: child}
"""
MERGE = """
{{ config(expect_merge=LIMITS) }}
merge into {{ this }} as t using (select * from {{ source('raw', 'item') }}) as s on t.id = s.id
when matched and s.v <> t.v then update set *
when not matched then insert *
when not matched by source then delete
"""
MODELS = {
    "at_least_one": {"min_source_rows": 1},
    "few_deletes": {"max_percent_deleted": 30, "no_inserts": True},
    "unique": {"unique_source": True, "max_deletes": 4, "max_percent_touched": 100},
}


@pytest.fixture(params=[pytest.param("delta", marks=pytest.mark.slow), "iceberg"])
def shop(request, make_project, driver, spark):
    files = {"models/m.yml": YAML, "data/item.csv": "id,v\n"}
    files |= {f"models/{name}.sql": MERGE.replace("LIMITS", repr(limits)) for name, limits in MODELS.items()}
    files["models/child.sql"] = "{{ config(materialized='table') }} select * from {{ ref('at_least_one') }}"

    class Shop:
        format = request.param
        root = make_project(files, request.param)

        def build(self, rows, select=(), batch_id=None, driver=driver, **flags):
            (self.root / "data/item.csv").write_text("id,v\n" + "".join(f"{id},{v}\n" for id, v in rows))
            project = Project.load(self.root, **flags)
            self.relations = {name: project.graph.nodes[f"model.shop.{name}"].relation for name in MODELS}
            return project.build(select=select, driver=driver, lint=False, batch_id=batch_id)

        def rows(self, name):
            return sorted(tuple(row) for row in spark.table(str(self.relations[name])).collect())

        def branches(self, name):
            return [row["name"] for row in spark.sql(f"select name from {self.relations[name]}.refs").collect()]

    return Shop()


FOUR = [(1, 1), (2, 2), (3, 3), (4, 4)]


@pytest.mark.spark
def test_what_goes_beyond_its_limits_is_not_committed(shop):
    first = shop.build(FOUR)
    assert first.ok, [result.message for result in first.results]
    how = "branch" if shop.format == "iceberg" else "query"
    told = first["few_deletes"].adapter_response["expect_merge"]
    assert told == {"counted_by": how, "rows_target": 0, "rows_inserted": 4, "rows_deleted": 0} | (
        {"rows_updated": 0} if how == "branch" else {}
    )
    assert first["at_least_one"].adapter_response["expect_merge"] == {"counted_by": "query", "rows_source": 4}

    empty = shop.build([])
    assert empty["at_least_one"].status == "error"
    assert empty["at_least_one"].message.startswith(
        "models/at_least_one.sql: the MERGE would go beyond `expect_merge`, and nothing is committed: "
        "a source of 0 rows (`min_source_rows: 1`) [expect-merge]\n    look at what the source gives"
    )
    assert "4 of 4 rows deleted, 100 % (`max_percent_deleted: 30`)" in empty["few_deletes"].message
    assert empty["few_deletes"].adapter_response["expect_merge"]["rows_deleted"] == 4
    assert empty["child"].status == "skipped"
    assert shop.rows("at_least_one") == shop.rows("few_deletes") == FOUR
    assert empty["unique"].status == "success"
    assert shop.rows("unique") == []

    again = shop.build([*FOUR, (5, 5), (5, 5)], select=["few_deletes", "unique"])
    assert "2 rows inserted (`no_inserts: true`)" in again["few_deletes"].message
    assert "`unique_source`: several source rows have one key: s.id = 5 (2 source rows)" in again["unique"].message
    assert shop.rows("few_deletes") == FOUR
    if shop.format == "iceberg":
        assert {tuple(shop.branches(name)) for name in MODELS} == {("main",)}

    refreshed = shop.build([], select="at_least_one", full_refresh=True)
    assert "min_source_rows" in refreshed["at_least_one"].message
    assert shop.rows("at_least_one") == FOUR


@pytest.mark.spark
@pytest.mark.parametrize("shop", ["iceberg"], indirect=True)
def test_a_branch_is_begun_again_where_main_moves_and_none_is_left(shop, spark, watched):
    shop.build(FOUR, select="few_deletes")
    table = shop.relations["few_deletes"]
    # What a run that was killed has left.
    spark.sql(f"alter table {table} create branch merge_runner_expects_0123456789ab_1")
    moved = []

    def late(_branch):
        if not moved:
            moved.append(spark.sql(f"insert into {table} values (9, 9)"))

    rows = [(1, 1), (2, 2), (3, 3), (4, 5)]
    results = shop.build(rows, select="few_deletes", batch_id=7, driver=watched(forward=late))
    response = results["few_deletes"].adapter_response
    assert results["few_deletes"].status == "success", results["few_deletes"].message
    assert response["attempts"] == 2
    assert (response["rows_updated"], response["rows_deleted"]) == (1, 1)
    assert response["expect_merge"]["rows_target"] == 5
    assert response["files_scanned"] is not None
    assert shop.rows("few_deletes") == rows
    # What became main is the snapshot of the branch, with its batch.
    assert shop.build(rows, select="few_deletes", batch_id=7)["few_deletes"].status == "no-op"
    assert shop.branches("few_deletes") == ["main"]
    assert spark.sql(f"show tblproperties {table} ('write.wap.enabled')").collect()[0]["value"] != "true"


@pytest.mark.spark
@pytest.mark.slow
def test_changes_that_go_beyond_are_read_again(make_project, driver, spark):
    files = {
        "models/base.sql": """
            merge into {{ this }} as t using (select id, id as v from range({{ var('rows') }})) as s on t.id = s.id
            when not matched then insert *
        """,
        "models/copied.sql": """
            {{ config(expect_merge={'max_inserts': var('most')}) }}
            merge into {{ this }} as t using (select id, v from {{ changes('base') }}) as s on t.id = s.id
            when not matched then insert *
        """,
    }
    root = make_project(files)

    def build(rows, most):
        project = Project.load(root, vars={"rows": rows, "most": most})
        result = project.build(driver=driver, lint=False)["copied"]
        table = spark.table(str(project.graph.nodes["model.shop.copied"].relation))
        return result, sorted(row["id"] for row in table.collect())

    assert build(4, 1)[1] == [0, 1, 2, 3]  # an empty target is filled
    result, rows = build(7, 2)
    assert "3 rows inserted (`max_inserts: 2`)" in result.message
    assert rows == [0, 1, 2, 3]
    result, rows = build(7, 3)
    assert (result.status, result.adapter_response["expect_merge"]["rows_inserted"]) == ("success", 3)
    assert rows == [0, 1, 2, 3, 4, 5, 6]
    assert build(7, 0)[0].status == "no-op"
