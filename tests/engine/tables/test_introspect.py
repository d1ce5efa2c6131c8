"""What is recorded of real tables, and that lint reads it as these tables are."""

import pytest

from merge_runner.api import Project
from merge_runner.engine.table_format.iceberg.layout import _split
from merge_runner.engine.table_format.registry import table_format
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.engine.tables.introspect import record
from merge_runner.errors import Problems
from merge_runner.plan.layout.layout_file import recorded_layouts
from merge_runner.plan.layout.layouts import namespace
from merge_runner.plan.layout.recordable_tables import recordable_tables
from merge_runner.project.schema.layout_file import layout_file_text
from merge_runner.project_file import Boundary
from merge_runner.run.set_up import write_catalog

FILES = {
    "data/a.csv": "id\n1\n",
    "models/made.sql": "merge into {{ this }} as t using (select 1 as id) as s on t.id = s.id when not matched then insert *",
    "models/later.sql": "{{ config(materialized='table') }} select 1 as id",
    "models/seen.sql": "{{ config(materialized='view') }} select 1 as id",
    "models/in_place.sql": "{{ config(materialized='ephemeral') }} select 1 as id",
    "models/s.yml": """
        sources:
          - name: raw
            tables:
              - {name: file, path: data/a.csv, format: csv}
              - {name: folder, path: data/folder, format: delta}
              - {name: known, schema: somewhere}
        """,
    "seeds/seed.csv": "id\n1\n",
}


def test_models_seeds_and_sources_that_are_tables_can_be_recorded(make_project):
    root = make_project(FILES)
    prepared = Project.load(root).prepared
    schema = prepared.files.profile.schema
    found = {item.relation.name: item for item in recordable_tables(prepared)}
    assert list(found) == ["raw.folder", f"{schema}.later", f"{schema}.made", f"{schema}.seed", "somewhere.known"]
    assert found["raw.folder"].location == root / "data/folder"
    assert found["somewhere.known"].location is None


@pytest.mark.parametrize(
    ("text", "parts"),
    [("a", ["a"]), ("days(ts), bucket(4, `a,(b`), c", ["days(ts)", "bucket(4, `a,(b`)", "c"])],
)
def test_partition_fields_stand_between_commas(text, parts):
    assert _split(text) == parts


@pytest.mark.spark
def test_the_real_tables_are_recorded_as_they_are(make_project, driver, tmp_path):
    root = make_project(FILES)
    prepared = Project.load(root).prepared
    schema = prepared.files.profile.schema
    folder = root / "warehouse" / schema / "made"
    with driver.session() as session:
        session.sql(f"create schema {schema}")
        session.sql(
            f"create table {schema}.made (id bigint not null, ts timestamp, `e v` string, "
            "dt date generated always as (cast(ts as date)), s struct<a: int, b: array<string>>) using delta "
            f"partitioned by (dt) location '{folder}' "
            "tblproperties ('delta.dataSkippingNumIndexedCols' = '2', 'delta.columnMapping.mode' = 'name', 'secret' = 'hunter2')"
        )
        session.sql("create schema somewhere")
        session.sql("create table somewhere.known (k int, v varchar(3)) using delta cluster by (k)")
        session.sql(f"create table delta.`{root}/data/folder` (x int) using delta")
        found = record(session, Catalog(table_format), recordable_tables(prepared))
        session.sql("drop schema somewhere cascade")
    assert found.missing == (f"{schema}.later", f"{schema}.seed")
    text = layout_file_text(found.tables, "recorded")
    assert "hunter2" not in text
    file = tmp_path / "catalog.yml"
    file.write_text(text)
    problems = Problems()
    recorded = recorded_layouts(
        [(file, "catalog.yml")], namespace(prepared.files.profile), problems, Boundary(file.parent)
    )
    assert not list(problems)
    made = recorded.lookup(("made",)).layout
    assert [(c.name, str(c.data_type), c.nullable, c.generated) for c in made.columns] == [
        ("id", "bigint", False, None),
        ("ts", "timestamp", True, None),
        ("e v", "string", True, None),
        ("dt", "date", True, "cast(ts as date)"),
        ("s", "struct<a:int,b:array<string>>", True, None),
    ]
    assert ([str(item) for item in made.partition_by], made.cluster_by, made.indexed) == (["dt"], (), 2)
    assert (made.files, made.bytes) == (0, 0)
    known = recorded.lookup(("somewhere", "known")).layout
    assert (known.partition_by, known.cluster_by, known.complete) == ((), ("k",), True)
    assert recorded.lookup(("raw", "folder")).layout.column("x") is not None


@pytest.mark.spark
def test_debug_writes_the_catalog_of_the_project(make_project, driver):
    root = make_project({"models/m.sql": FILES["models/made.sql"]})
    project = Project.load(root)
    assert project.build(driver=driver, lint=False).results
    said = write_catalog(project.prepared, None, lambda *_: _Kept(driver))
    assert said == f"1 tables in {root / 'catalog.yml'}"
    assert "{name: id, data_type: int, nullable: true}" in (root / "catalog.yml").read_text()


class _Kept:
    """A driver that others still need: it is not stopped."""

    def __init__(self, driver):
        self.session, self.table_format = driver.session, driver.table_format

    def stop(self):
        pass
