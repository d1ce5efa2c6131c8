"""`--branch` and `publish` on real Iceberg tables: what main shows, what the branch has, and what is published."""

import json
from types import SimpleNamespace

import pytest

from merge_runner import Project
from merge_runner.engine.spark.errors import EngineError
from merge_runner.errors import ProblemsError

MERGE = """
{{ config(CONFIG) }}
merge into {{ this }} as t
using (QUERY) as s
   on t.id = s.id
when matched then update set *
when not matched then insert *
"""
FCT = MERGE.replace("QUERY", "select id, {{ var('v') }} as v from range({{ var('to') }})").replace("CONFIG", "")
STG = "select v as id, count(*) as n from {{ ref('fct') }} group by v"
FILES = {
    "models/fct.sql": FCT,
    "models/stg.sql": "{{ config(materialized='ephemeral') }}" + STG,
    "models/agg.sql": MERGE.replace("QUERY", "select * from {{ ref('stg') }}").replace("CONFIG", "bounds=['id']"),
    "models/tab.sql": "{{ config(materialized='table') }} select id as v, n from {{ ref('agg') }}",
    "tests/few.sql": "select * from {{ ref('tab') }} where n > {{ var('most') }}",
}
TABLES = ("fct", "agg", "tab")


@pytest.fixture
def shop(make_project, driver, spark):
    """A project in the Iceberg catalog, and questions to its tables."""
    roots, told = [], []

    def write(files):
        roots.append(make_project(files, "iceberg"))

    def load(v=1, to=3, most=100, **flags):
        return Project.load(roots[0], vars={"v": v, "to": to, "most": most}, **flags)

    def build(v=1, to=3, most=100, full_refresh=False, **options):
        project = load(v, to, most, full_refresh=full_refresh)
        return project.build(driver=driver, lint=False, on_event=told.append, **options)

    def publish(branch="ci", driver=driver, **options):
        return load().publish(branch, driver=driver, on_event=told.append, **options)

    def table(name):
        return str(load().graph.nodes[f"model.shop.{name}"].relation)

    def rows(name, branch="main"):
        return sorted(map(tuple, spark.sql(f"select * from {table(name)} version as of '{branch}'").collect()))

    def heads(name):
        return {row["name"]: row["snapshot_id"] for row in spark.sql(f"select * from {table(name)}.refs").collect()}

    def messages(kind="message"):
        return [event.data["message"] for event in told if event.event == kind]

    return SimpleNamespace(**{name: value for name, value in locals().items() if callable(value)}, roots=roots)


@pytest.mark.spark
def test_a_dag_is_written_audited_and_published(shop):
    shop.write(FILES)
    first = shop.build()
    assert first.ok, first.results
    before = {name: (shop.heads(name), shop.rows(name)) for name in TABLES}

    (shop.roots[0] / "models/stg.sql").write_text(STG)  # a view, which this catalog could not even define
    results = shop.build(v=2, to=5, branch="ci")
    assert results.ok, results.results
    assert {name: ({"main": shop.heads(name)["main"]}, shop.rows(name)) for name in TABLES} == before
    assert shop.rows("fct", "ci") == [(id, 2) for id in range(5)]
    assert shop.rows("agg", "ci") == [(1, 3), (2, 5)]  # main's row, and what the branch's fct gives
    assert shop.rows("tab", "ci") == [(1, 3), (2, 5)]
    response = results["fct"].adapter_response
    counts = (
        "branch",
        "rows_inserted",
        "rows_updated",
        "files_total",
        "files_scanned",
        "verdict_held",
        "table_version",
    )
    assert [response[key] for key in counts] == [
        "ci",
        2,
        3,
        *[response["files_total"]] * 2,
        True,
        shop.heads("fct")["ci"],
    ]
    response = results["tab"].adapter_response
    assert (response["operation"], response["rows_affected"]) == ("INSERT OVERWRITE", 2)
    assert results["agg"].adapter_response["pins"] == {}
    assert results["agg"].adapter_response["bounds"] == {"id": "1 value"}
    assert any("views have no branches; inlined here, and not defined: stg" in message for message in shop.messages())

    # A model that is not built now is read from the branch that an earlier build has written.
    again = shop.build(v=3, to=4, branch="ci", select="agg tab few")
    assert again.ok, again.results
    assert again["agg"].adapter_response["rows_updated"] == 1
    assert shop.rows("agg", "ci") == [(1, 3), (2, 5)]
    assert shop.build(v=2, to=6, branch="ci", select="fct")["fct"].adapter_response["rows_inserted"] == 1

    published = shop.publish()
    assert published.ok
    names = [shop.table(name) for name in TABLES]
    assert (published.published, published.dropped) == (names, names)
    assert any("`run -s stg` defines them" in message for message in shop.messages())
    assert shop.rows("fct") == [(id, 2) for id in range(6)]
    assert shop.rows("tab") == [(1, 3), (2, 5)]
    assert [list(shop.heads(name)) for name in TABLES] == [["main"]] * 3
    with pytest.raises(ProblemsError, match="no-branch"):
        shop.publish()
    assert shop.publish(drop=True).ok  # as often as one likes


@pytest.mark.spark
def test_nothing_is_published_where_one_main_has_moved(shop, spark):
    shop.write({name: FILES[name] for name in ("models/fct.sql", "models/stg.sql", "models/agg.sql")})
    assert shop.build().ok
    assert shop.build(v=2, branch="ci").ok
    spark.sql(f"insert into {shop.table('agg')} values (9, 9L)")
    before = [shop.heads(name) for name in ("fct", "agg")]
    refused = shop.publish()
    assert (refused.ok, refused.published, refused.moved) == (False, [], [shop.table("agg")])
    assert "`publish ci --drop`" in shop.messages("publish_refused")[0]
    assert [shop.heads(name) for name in ("fct", "agg")] == before
    assert shop.publish(drop=True).dropped == [shop.table("fct"), shop.table("agg")]
    assert [shop.heads(name) for name in ("fct", "agg")] == [{"main": heads["main"]} for heads in before]


@pytest.mark.spark
def test_publishing_goes_on_where_it_broke_off(shop, watched):
    shop.write({name: FILES[name] for name in ("models/fct.sql", "models/stg.sql", "models/agg.sql")})
    # Neither table is there: on main they are created, and stay empty.
    assert shop.build(branch="ci").ok
    assert (shop.rows("agg", "ci"), "main" in shop.heads("agg")) == ([(1, 3)], False)

    def breaks(branch):
        if branch.table.name == shop.table("agg").replace("`", ""):
            raise EngineError("ConnectException", "the catalog has gone")

    broken = shop.publish(driver=watched(forward=breaks))
    fct, agg = shop.table("fct"), shop.table("agg")
    assert (broken.ok, broken.published, broken.left, broken.dropped) == (False, [fct], [agg], [])
    assert f"published: {fct}; not published: {agg}" in shop.messages("publish_refused")[0]
    assert (shop.rows("fct"), "main" in shop.heads("agg")) == ([(0, 1), (1, 1), (2, 1)], False)
    mended = shop.publish()
    assert (mended.ok, mended.already, mended.published) == (True, [fct], [agg])
    assert shop.rows("agg") == [(1, 3)]


@pytest.mark.spark
def test_a_failing_test_keeps_a_branch_from_being_published(shop, call, capsys):
    shop.write(FILES)
    words = ("build", "--no-lint", "--vars", "{v: 1, to: 3, most: 2}", "--threads", "1")
    root = shop.roots[0]
    assert call(root, *words, "--branch", "ci") == 1
    before = shop.heads("fct")
    capsys.readouterr()
    assert call(root, "publish", "ci", "--vars", "{v: 1, to: 3, most: 2}") == 1
    told = capsys.readouterr().err
    assert "the build on `ci` has left few failed or skipped; nothing is published" in told
    assert shop.heads("fct") == before
    # retry goes on with it on the branch.
    assert call(root, "retry", "--vars", "{v: 1, to: 3, most: 3}") == 0
    assert json.loads((root / "target/run_results.json").read_text())["args"]["branch"] == "ci"
    assert call(root, "publish", "ci", "--vars", "{v: 1, to: 3, most: 3}") == 0
    told = capsys.readouterr().err
    assert f"published {shop.table('fct')}: main is at {before['ci']}" in told
    assert "3 published, 3 branches dropped" in told
    assert shop.rows("tab") == [(1, 3)]


@pytest.mark.spark
def test_a_batch_counts_where_its_rows_are(shop):
    shop.write({"models/fct.sql": FCT})
    status = lambda **options: shop.build(**options)["fct"].status  # noqa: E731
    assert status(batch_id=1) == "success"
    assert status(batch_id=1, branch="ci") == "no-op"  # the branch begins with what main has
    assert status(v=2, batch_id=2, branch="ci") == "success"
    assert status(v=2, batch_id=2, branch="ci") == "no-op"
    assert status(v=3, batch_id=2, branch="other") == "success"  # and has nothing of another branch
    assert shop.publish("ci").ok
    assert status(v=4, batch_id=2) == "no-op"
    assert shop.rows("fct") == [(0, 2), (1, 2), (2, 2)]
    assert shop.publish("other").moved == [shop.table("fct")]


@pytest.mark.spark
def test_what_belongs_to_the_table_stays_as_it_is(shop, spark):
    files = {
        "models/fct.sql": FCT.replace("merge into", "merge with schema evolution into"),
        "models/tab.sql": "{{ config(materialized='table') }} select id, v from {{ ref('fct') }}",
    }
    shop.write(files)
    assert shop.build().ok
    root = shop.roots[0]
    changed = "{{ config(properties={'write.merge.mode': 'merge-on-read'}) }}" + files["models/fct.sql"].replace(
        "as v from", "as v, 5 as w from"
    )
    (root / "models/fct.sql").write_text(changed)
    (root / "models/tab.sql").write_text("{{ config(materialized='table') }} select id, v, w from {{ ref('fct') }}")
    main = shop.heads("fct")["main"]
    results = shop.build(v=2, to=2, branch="ci", full_refresh=True)
    told = "\n".join(results["fct"].warnings)
    assert "property write.merge.mode is not set, declared merge-on-read: left as it is" in told
    assert "main has got w too, without values" in told
    assert results["fct"].adapter_response["emptied"] is True
    assert shop.heads("fct")["main"] == main
    assert shop.rows("fct", "ci") == [(0, 2, 5), (1, 2, 5)]
    assert spark.table(shop.table("fct")).count() == 3
    properties = {row["key"] for row in spark.sql(f"show tblproperties {shop.table('fct')}").collect()}
    assert "write.merge.mode" not in properties
    assert "column w is new" in results["tab"].message
    assert "[branch-schema]" in results["tab"].message


@pytest.mark.spark
def test_a_first_run_is_one_of_the_branch(shop):
    by_run = (
        "select id, {{ var('v') }} as v from range({{ var('to') }}) {{ 'where id > 1' if is_incremental() else '' }}"
    )
    broken = by_run.replace("select id", "select id + cast(raise_error('broken') as bigint) as id")

    def build(query=by_run, **options):
        (shop.roots[0] / "models/fct.sql").write_text(MERGE.replace("QUERY", query).replace("CONFIG", ""))
        response = shop.build(**options)["fct"].adapter_response
        return response.get("is_incremental"), response.get("rows_inserted")

    shop.write({"models/fct.sql": ""})
    assert build(branch="ci") == (False, 3)
    assert build(branch="ci", to=4) == (True, 1)
    assert build(branch="other") == (False, 3), "main has no rows, and the branch begins where main is"
    assert build() == (False, 3)
    assert build(branch="late", to=4) == (True, 1)
    assert build(broken, branch="late", full_refresh=True) == (None, None)
    assert build(branch="late", to=4) == (False, 4)


def test_what_has_no_branches_is_refused_before_anything_runs(make_project):
    root = make_project({"models/near.sql": "{{ config(materialized='table') }} select 1 as id"})
    with pytest.raises(ProblemsError, match="near writes a delta table, which has no branches"):
        Project.load(root).build(branch="ci", lint=False, driver=object())
    assert not any((root / "target").glob("*.json*")), "the loaded project is kept, and no run is recorded"
    with pytest.raises(ValueError, match="main is what everybody reads"):
        Project.load(root).build(branch="main", lint=False)
