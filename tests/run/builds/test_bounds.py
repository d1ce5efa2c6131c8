"""Bounds at run time: what they splice, when they are left out, and that they change nothing."""

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

COLUMNS = "[{name: id, data_type: bigint}, {name: dt, data_type: date}, {name: v, data_type: string}]"
FILES = {
    "models/m.yml": f"""
        version: 2
        models:
          - {{name: src, columns: {COLUMNS}}}
          - {{name: fct, columns: {COLUMNS}}}
    """,
    "models/src.sql": """
        {{ config(materialized='table') }}
        select id, dt, v from (
            select id, date_add(date'2024-01-01', cast(id % 10 as int)) as dt, 'a' as v from range(100))
        where {{ var('only') }}
    """,
    "models/fct.sql": """
        {{ config(partition_by='dt', bounds=['dt']) }}
        merge into {{ this }} as t
        using (select * from {{ ref('src') }} where id >= 0) as s
           on t.id = s.id and t.dt = s.dt
        when matched then update set v = concat(t.v, s.v)
        when not matched then insert *
    """,
}


@pytest.fixture
def messages():
    """What the last builds said of their merges."""
    return []


@pytest.fixture
def build(make_project, driver, messages):
    """Builds a project, then builds it again with another source; gives the folder and the last results."""

    def run(files, *sources, table_format="delta", driver=driver):
        root = make_project(FILES | files, table_format)
        for only in sources:
            results = Project.load(root, vars={"only": only}).build(driver=driver, lint=False)
            assert results.ok, [result.message for result in results.results]
        messages.append(results["fct"].message)
        return root, results["fct"].adapter_response

    return run


def test_partition_values_are_spliced_into_on(build, messages):
    root, response = build({}, "true", "id in (13, 24)")
    assert messages == ["0 inserted, 2 updated, 0 deleted; dt bounded to 2 values"]
    assert response["bounds"] == {"dt": "2 values"}
    assert (response["files_total"], response["files_scanned"]) == (10, 2)
    assert response["verdict"] == "runtime"
    assert response["verdict_held"] is True
    assert list(response["pins"].values()) == [1]
    text = (root / "target/run/shop/models/fct.sql").read_text()
    assert "t.dt = s.dt AND t.dt IN (DATE '2024-01-04', DATE '2024-01-05')" in text
    assert "src VERSION AS OF 1 where" in text
    assert " AND t.dt IN" not in (root / "target/compiled/shop/models/fct.sql").read_text()


def test_an_iceberg_table_is_bounded_as_well(build, spark, messages):
    root, response = build({}, "true", "id in (13, 24)", table_format="iceberg")
    assert messages == ["0 inserted, 2 updated, 0 deleted; dt bounded to 2 values"]
    assert (response["files_total"], response["files_scanned"], response["verdict_held"]) == (10, 2, True)
    (pin,) = response["pins"].values()
    assert f"src VERSION AS OF {pin} where" in (root / "target/run/shop/models/fct.sql").read_text()
    fct = Project.load(root).graph.nodes["model.shop.fct"].relation
    assert sorted(row.id for row in spark.table(str(fct)).where("v = 'aa'").collect()) == [13, 24]


@pytest.mark.slow
def test_small_targets_are_left_alone(build, messages):
    model = FILES["models/fct.sql"].replace(", bounds=['dt']", "")
    _, response = build({"models/fct.sql": model}, "true", "id in (13, 24)")
    assert response["bounds"] == {}
    assert response["bounds_left_out"] == ["the target is small (0.0 MiB in 10 files)"]
    assert messages == ["0 inserted, 2 updated, 0 deleted"], "so it is on every run of a small table"
    assert (response["files_scanned"], response["verdict"], response["verdict_held"]) == (10, "runtime", True)


@pytest.fixture
def nothing_is_small(monkeypatch):
    # A patch: a target that is not small has 32 MiB or more.
    monkeypatch.setattr("merge_runner.engine.merge.runtime_filter.SMALL", 0)


@pytest.mark.usefixtures("nothing_is_small")
@pytest.mark.parametrize(
    ("only", "bounds", "left_out"),
    [
        pytest.param("id in (13, 24)", {"dt": "2 values"}, [], marks=pytest.mark.slow),
        pytest.param("id % 10 < 9", {}, ["the source touches 9 of 10 files"], marks=pytest.mark.slow),
        pytest.param("false", {"dt": "0 values"}, [], marks=pytest.mark.nightly),
    ],
)
def test_auto_bounds_what_pays(build, only, bounds, left_out):
    model = FILES["models/fct.sql"].replace(", bounds=['dt']", "")
    _, response = build({"models/fct.sql": model}, "true", only)
    assert (response["bounds"], response["bounds_left_out"]) == (bounds, left_out)
    assert response["verdict_held"] is True
    if only == "false":
        assert response["files_scanned"] == 0


def test_a_heavy_source_is_computed_once_and_let_go(build, driver, watched):
    def stored():
        rdds = driver.spark.sparkContext._jsc.getPersistentRDDs()
        return [number for number in rdds if not str(rdds[number].name()).startswith("Delta Table State")]

    held = []

    def watch(text):
        if "using merge_runner_source as s" in text:
            held.extend(stored())

    model = FILES["models/fct.sql"].replace(
        "(select * from {{ ref('src') }} where id >= 0) as s",
        "(select id, dt, max(v) as v from {{ ref('src') }} group by id, dt) as s",
    )
    root, response = build({"models/fct.sql": model}, "true", "id in (13, 24)", driver=watched(sql=watch))
    assert (response["staged"], response["pins"], response["bounds"]) == (True, {}, {"dt": "2 values"})
    assert "using merge_runner_source as s" in (root / "target/run/shop/models/fct.sql").read_text()
    assert held
    assert not set(held) & set(stored())
