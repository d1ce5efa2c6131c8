"""`is_incremental()`: a first run takes everything, and a table that was only created has not been built."""

import json

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

FORMATS = ("delta", "iceberg")
COLUMNS = """
version: 2
models:
  - name: fct
    columns: [{name: id, data_type: bigint}, {name: ts, data_type: bigint}]
"""
MODEL = """
merge into {{ this }} as t
using (
    select {{ var('id', 'id') }} as id, id as ts from range({{ var('to') }})
    {% if is_incremental() %}where id > (select max(ts) from {{ this }}){% endif %}
) as s
   on t.id = s.id
when matched then update set ts = s.ts
when not matched then insert (id, ts) values (s.id, s.ts)
"""
FAILS = "id + cast(raise_error('broken') as bigint)"


class Shop:
    def __init__(self, root, driver):
        self.root, self.driver = root, driver

    def project(self, full_refresh=False, **variables):
        return Project.load(self.root, vars=variables, full_refresh=full_refresh)

    def build(self, full_refresh=False, **variables):
        return self.project(full_refresh, **variables).build(driver=self.driver, lint=False)

    def run(self, to, **more):
        """Whether the run was an incremental one, and how many rows it has inserted."""
        results = self.build(to=to, **more)
        assert results.ok, results["fct"].message
        response = results["fct"].adapter_response
        return response["is_incremental"], response["rows_inserted"]

    @property
    def table(self):
        return str(self.project(to=1).graph.nodes["model.shop.fct"].relation)


@pytest.fixture(params=[pytest.param("delta", marks=pytest.mark.nightly), "iceberg"])
def shop(request, make_project, driver):
    files = {"models/fct.sql": MODEL, "models/fct.yml": COLUMNS}
    return Shop(make_project(files, request.param), driver)


@pytest.mark.parametrize("shop", FORMATS, indirect=True)
def test_a_first_run_takes_everything_and_the_next_one_what_is_new(shop, spark):
    assert shop.run(3) == (False, 3)
    first = shop.build(to=3)["fct"]
    assert first.adapter_response["is_incremental"] is True
    assert shop.run(5) == (True, 2)
    assert spark.table(shop.table).count() == 5


def test_the_artifacts_hold_what_ran(shop):
    for to, told in ((2, False), (4, True)):
        result = shop.build(to=to)["fct"]
        texts = [(shop.root / f"target/{folder}/shop/models/fct.sql").read_text() for folder in ("compiled", "run")]
        manifest = json.loads((shop.root / "target/manifest.json").read_text())["nodes"]["model.shop.fct"]
        for text in (*texts, result.compiled_code, manifest["compiled_code"]):
            assert ("max(ts)" in text) is told
        assert ("first run" in result.message) is not told


@pytest.mark.parametrize("shop", [pytest.param("delta", marks=pytest.mark.slow), "iceberg"], indirect=True)
def test_a_table_that_was_only_created_is_not_built(shop, spark):
    failed = shop.build(to=3, id=FAILS)["fct"]
    assert failed.status == "error"
    assert spark.table(shop.table).count() == 0
    assert shop.run(3) == (False, 3)
    assert shop.run(4) == (True, 1)


def test_a_failed_full_refresh_is_a_first_run_again(shop):
    shop.run(3)
    assert shop.build(to=3, id=FAILS, full_refresh=True)["fct"].status == "error"
    assert shop.run(4) == (False, 4)
    assert shop.build(to=4, full_refresh=True)["fct"].adapter_response["rows_inserted"] == 4
    assert shop.run(5) == (True, 1)


def test_a_first_run_without_rows_warns_and_the_next_one_is_a_first_run_again(shop):
    result = shop.build(to=0)["fct"]
    assert (result.status, result.adapter_response["is_incremental"]) == ("success", False)
    assert "is empty after its first run" in result.warnings[0]
    assert shop.run(3) == (False, 3)
    assert shop.build(to=3)["fct"].warnings == ()


def test_an_emptied_table_has_been_built_and_is_warned_of(shop, spark):
    shop.run(3)
    spark.sql(f"delete from {shop.table}")
    result = shop.build(to=3)["fct"]
    assert result.adapter_response["is_incremental"] is True
    assert "max() of an empty table is NULL" in result.warnings[0]


def test_the_table_of_another_writer_counts_as_built_once_it_holds_rows(shop, spark):
    format = shop.project(to=1).graph.nodes["model.shop.fct"].config.format
    spark.sql(f"create schema if not exists {shop.table.rpartition('.')[0]}")
    location = f"location '{shop.root / 'warehouse' / shop.table.replace('.', '/')}'" if format == "delta" else ""
    spark.sql(f"create table {shop.table} (id bigint, ts bigint) using {format} {location}")
    spark.sql(f"alter table {shop.table} set tblproperties ('a' = 'b')")
    assert shop.run(0) == (False, 0)
    spark.sql(f"insert into {shop.table} values (0, 0), (1, 1)")
    assert shop.run(3) == (True, 1)


def test_full_refresh_false_keeps_the_model_incremental(make_project, driver):
    files = {"models/fct.sql": "{{ config(full_refresh=false) }}" + MODEL, "models/fct.yml": COLUMNS}
    shop = Shop(make_project(files, "iceberg"), driver)
    assert shop.run(3, full_refresh=True) == (False, 3)
    assert shop.run(4, full_refresh=True) == (True, 1)
    assert shop.run(5) == (True, 1)


def test_an_error_of_the_author_counts_in_the_run_that_it_guards(make_project, driver):
    guard = "{% if not is_incremental() and not var('history', false) %}"
    guard += "{{ exceptions.raise_compiler_error('load the history with --vars {history: true}') }}{% endif %}"
    shop = Shop(make_project({"models/fct.sql": guard + MODEL, "models/fct.yml": COLUMNS}, "iceberg"), driver)
    refused = shop.build(to=3)["fct"]
    assert (refused.status, "load the history" in refused.message) == ("error", True)
    assert "models/fct.sql:1:" in refused.message
    assert shop.run(3, history=True) == (False, 3)
    assert shop.run(4) == (True, 1)


def test_two_writers_of_one_table_have_first_runs_of_their_own(make_project, driver, spark):
    other = "{{ config(alias='fct') }}\n-- depends_on: {{ ref('fct') }}\n" + MODEL
    files = {
        "models/fct.sql": MODEL,
        "models/fct.yml": COLUMNS,
        "models/more.sql": other.replace("'id') }}", "'id + 100') }}"),
    }
    root = make_project(files, "iceberg")
    project = Project.load(root, vars={"to": 3})
    results = project.build(driver=driver, lint=False)
    assert results.ok, results.results
    assert [results[name].adapter_response["is_incremental"] for name in ("fct", "more")] == [False, False]
    assert spark.table(str(project.graph.nodes["model.shop.fct"].relation)).count() == 6
    again = Project.load(root, vars={"to": 3}).build(driver=driver, lint=False)
    assert [again[name].adapter_response["is_incremental"] for name in ("fct", "more")] == [True, True]


def test_what_another_kind_of_run_reads_alone_need_not_be_there(make_project, driver):
    reads = "{% if not is_incremental() %}select id, ts from {{ source('old', 'fct') }} union all {% endif %}"
    files = {
        "models/fct.sql": MODEL.replace("    select {{", f"    {reads}select {{{{"),
        "models/fct.yml": COLUMNS + "sources: [{name: old, tables: [{name: fct, path: old.csv, format: csv, "
        "options: {header: true}, columns: [{name: id, data_type: bigint}, {name: ts, data_type: bigint}]}]}]\n",
        "old.csv": "id,ts\n-1,-1\n",
    }
    shop = Shop(make_project(files, "iceberg"), driver)
    assert shop.run(3) == (False, 4)
    (shop.root / "old.csv").unlink()
    assert shop.run(4) == (True, 1)


def test_the_own_table_in_using_without_columns_is_explained(make_project, driver):
    text = MODEL.replace("{% if is_incremental() %}", "").replace("{% endif %}", "")
    result = Shop(make_project({"models/fct.sql": text}), driver).build(to=3)["fct"]
    assert result.message.startswith("models/fct.sql:5:37: USING reads ")
    assert "declare the columns with name and data_type" in result.message
    assert "[no-columns]" in result.message


@pytest.mark.slow
def test_a_pre_hook_that_needs_the_table_is_explained_and_may_be_guarded(make_project, driver):
    hook = '{{ config(pre_hook="HOOK") }}' + MODEL
    delete = "delete from {{ this }} where ts < 0"
    shop = Shop(make_project({"models/fct.sql": hook.replace("HOOK", delete), "models/fct.yml": COLUMNS}), driver)
    result = shop.build(to=3)["fct"]
    assert result.message.startswith("models/fct.sql:1:11: a pre_hook names ")
    assert "is_incremental()" in result.message
    guarded = f"{{% if is_incremental() %}}{delete}{{% endif %}}"
    (shop.root / "models/fct.sql").write_text(hook.replace("HOOK", guarded))
    assert shop.run(3) == (False, 3)
    assert shop.run(4) == (True, 1)


SCD2 = """
{{ config(full_refresh=KEEP) }}
merge into {{ this }} as t
using (select id, ts from range(3) join (select 1 as ts) union all select id, ts from {{ this }} where ts = 0) as s
   on t.id = s.id
when not matched then insert *
"""


@pytest.mark.parametrize("format", [pytest.param("delta", marks=pytest.mark.slow), "iceberg"])
def test_a_full_refresh_of_history_is_refused_or_said(make_project, driver, spark, format):
    hook = "insert into {{ this }} values (9, 9)"
    files = {
        "models/fct.sql": SCD2.replace("KEEP", f'none, pre_hook="{{% if is_full_refresh %}}{hook}{{% endif %}}"'),
        "models/fct.yml": COLUMNS,
        "models/child.sql": "{{ config(materialized='table') }}select * from {{ ref('fct') }}",
        "models/other.sql": "{{ config(materialized='table') }}select 1 as id",
    }
    shop = Shop(make_project(files, format), driver)
    assert shop.build()["fct"].status == "success"
    before = spark.table(shop.table).collect()
    results = shop.build(full_refresh=True)
    assert [results[name].status for name in ("fct", "child", "other")] == ["error", "skipped", "success"]
    message = results["fct"].message
    assert message.startswith("models/fct.sql:4:87: --full-refresh would lose the history in ")
    assert "[history-lost]" in message
    assert spark.table(shop.table).collect() == before
    (shop.root / "models/fct.sql").write_text(SCD2.replace("KEEP", "true"))
    result = shop.build(full_refresh=True)["fct"]
    assert (result.status, "the history that the table held is replaced" in result.message) == ("success", True)


@pytest.mark.slow
def test_a_read_of_the_target_that_delta_cannot_plan_is_one_of_a_view(make_project, driver, spark):
    mark = "(select max(ts) from {{ this }})"
    joined = "left join (select id, count(*) as n from range(5) group by id) as n on n.id = s.id"
    merge = """
        merge into {{{{ this }}}} as t
        using (select s.id, s.ts from {source}) as s on t.id = s.id
        when matched then update set * when not matched then insert *
        """
    rows = "(select id, id as ts from range({{ var('to') }})) as s"
    columns = "columns: [{name: id, data_type: bigint}, {name: ts, data_type: bigint}]"
    forms = {
        "after_join": f"{rows} {joined} where s.ts > coalesce({mark}, -1)",
        "cross_join": f"{rows} {joined} cross join (select max(ts) as mark from {{{{ this }}}}) as m "
        "where s.ts > coalesce(m.mark, -1)",
        "converted": f"(select s.id, s.ts from {rows} where s.ts >= 0) as s where s.ts > coalesce({mark}, -1)",
    }
    files = {f"models/{name}.sql": merge.format(source=source) for name, source in forms.items()}
    files["models/m.yml"] = "version: 2\nmodels:\n" + "".join(f"  - {{name: {name}, {columns}}}\n" for name in forms)
    shop = Shop(make_project(files), driver)
    shop.build(to=2)
    results, graph = shop.build(to=4), shop.project(to=4).graph
    for name in forms:
        assert (results[name].status, results[name].message) == ("success", "2 inserted, 0 updated, 0 deleted")
        rows = spark.table(str(graph.nodes[f"model.shop.{name}"].relation)).collect()
        assert sorted(map(tuple, rows)) == [(id, id) for id in range(4)]


@pytest.mark.parametrize("format", [pytest.param("delta", marks=pytest.mark.nightly), "iceberg"])
def test_a_full_refresh_goes_on_where_the_table_holds_no_history(make_project, driver, spark, format):
    files = {"models/fct.sql": SCD2.replace("KEEP", "none"), "models/fct.yml": COLUMNS}
    shop = Shop(make_project(files, format), driver)
    missing = shop.build(full_refresh=True)["fct"]
    assert (missing.status, missing.adapter_response["rows_inserted"]) == ("success", 3)
    spark.sql(f"delete from {shop.table}")
    empty = shop.build(full_refresh=True)["fct"]
    assert (empty.status, "history" in empty.message) == ("success", False)
    assert spark.table(shop.table).count() == 3


def test_the_second_writer_of_a_table_replaces_nothing_and_loses_nothing(make_project, driver, spark):
    more = SCD2.replace("KEEP", "none, alias='fct'").replace("range(3)", "range(3, 5)")
    files = {
        "models/fct.sql": SCD2.replace("KEEP", "none"),
        "models/fct.yml": COLUMNS,
        "models/more.sql": "-- depends_on: {{ ref('fct') }}\n" + more,
    }
    shop = Shop(make_project(files), driver)
    results = shop.build(full_refresh=True)
    assert results.ok, [result.message for result in results.results]
    assert spark.table(shop.table).count() == 5
