"""Two targets, or projects, that share a Spark driver, and with it one catalog: each has the tables of its own warehouse."""

import pytest

from merge_runner import Project
from merge_runner.engine.tables.table_location import are_same
from merge_runner.errors import ProblemsError
from merge_runner.location import Uri
from tests.fake_engine.driver import FakeDriver

FILES = {
    "models/stg.sql": "select id, v from {{ source('raw', 'files') }}",
    "models/fct.sql": """
        {{ config(scan='full') }}
        merge into {{ this }} as t using {{ ref('stg') }} as s on t.id = s.id
        when matched then update set v = s.v when not matched then insert *
    """,
    "models/top.sql": "{{ config(materialized='table') }} select count(*) as n from {{ ref('fct') }}",
    "models/sources.yml": """
        sources: [{name: raw, schema: SCHEMA_raw, tables: [
          {name: files, path: "data_{{ target.name }}.csv", format: csv, options: {header: "true"},
           columns: [{name: id, data_type: int}, {name: v, data_type: string}]}]}]
    """,
    "data_dev.csv": "id,v\n1,dev\n2,dev\n",
    "data_prod.csv": "id,v\n1,prod\n",
}
OUTPUT = "{{master: 'local[2]', schema: {schema}, warehouse: {warehouse}}}"


def outputs(schema, prod_schema):
    dev, prod = OUTPUT.format(schema=schema, warehouse="dev"), OUTPUT.format(schema=prod_schema, warehouse="prod")
    return f"shop: {{target: dev, outputs: {{dev: {dev}, prod: {prod}}}}}\n"


@pytest.fixture
def shared(make_project, driver, request):
    """Builds the targets `dev` and `prod` of one project in the shared driver."""
    name = request.node.name.removeprefix("test_")[:20]

    def build(target, prod_schema=name, full_refresh=False, **options):
        files = {path: text.replace("SCHEMA", name) for path, text in FILES.items()}
        root = make_project({**files, "profiles.yml": outputs(name, prod_schema)}) if not roots else roots[0]
        roots[:] = [root]
        return Project.load(root, target=target, full_refresh=full_refresh).build(driver=driver, lint=False, **options)

    roots = []
    build.roots = roots
    return build


@pytest.mark.spark
def test_a_table_of_another_warehouse_is_neither_read_nor_written(shared, spark):
    assert shared("dev").ok
    schema = "a_table_of_another_w"
    before = spark.sql(f"select * from {schema}.fct order by id").collect()
    dev, prod = (shared.roots[0] / place / schema / "fct" for place in ("dev", "prod"))
    for options in ({}, {"full_refresh": True}, {"select": ["fct"]}, {"select": ["top"]}):
        results = shared("prod", **options)
        errors = [result.message for result in results.results if result.status == "error"]
        assert not results.ok
        assert any(str(dev) in message and str(prod) in message for message in errors), errors
    assert spark.sql(f"select * from {schema}.fct order by id").collect() == before
    assert shared("dev").ok
    assert spark.sql(f"select v from {schema}.fct").distinct().collect()[0].v == "dev"


@pytest.mark.spark
@pytest.mark.slow
def test_with_a_schema_of_its_own_each_target_has_its_rows(shared, spark):
    name = "with_a_schema_of_its"
    for _ in range(2):
        assert shared("dev", f"{name}_prod").ok
        assert shared("prod", f"{name}_prod").ok
    assert [row.v for row in spark.sql(f"select v from {name}.fct").collect()] == ["dev", "dev"]
    assert [row.v for row in spark.sql(f"select v from {name}_prod.fct").collect()] == ["prod"]


def test_an_embedded_catalog_of_another_warehouse_is_refused(tmp_path, make_project):
    output = "{master: 'local[2]', schema: other_catalog, warehouse: here, catalogs: {ice: {type: embedded}}}"
    root = make_project({"models/m.sql": "select 1 as id", "profiles.yml": f"shop: {{outputs: {{dev: {output}}}}}"})
    driver = FakeDriver()
    driver.spark.conf.set("spark.sql.catalog.ice.uri", "jdbc:sqlite:/elsewhere/ice.db")
    with pytest.raises(ProblemsError, match=r"(?s)here/ice\.db.*/elsewhere/ice\.db"):
        Project.load(root).build(driver=driver)


@pytest.mark.parametrize(
    ("uri", "place", "same"),
    [
        ("file:/w/shop/fct", "/w/shop/fct", True),
        ("file:///w/shop/fct/", "/w/shop/fct", True),
        ("file:/w/a%20b/fct", "/w/a b/fct", True),
        ("file:/other/shop/fct", "/w/shop/fct", False),
        ("file:/w/link/fct", "/w/real/fct", True),
        ("s3a://bucket/w/fct", Uri("s3a://bucket/w/fct"), True),
        ("s3a://other/w/fct", Uri("s3a://bucket/w/fct"), False),
    ],
)
def test_places_are_compared_as_the_folders_that_they_are(tmp_path, uri, place, same):
    (tmp_path / "w" / "real").mkdir(parents=True)
    (tmp_path / "w" / "link").symlink_to(tmp_path / "w" / "real")
    if isinstance(place, str):
        uri = uri.replace("file:///", "file:/").replace("file:/", f"file:{tmp_path}/")
        place = tmp_path / place.removeprefix("/")
    assert are_same(uri, place) is same
