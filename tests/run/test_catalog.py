"""target/catalog.json: the columns and sizes of tables, read from their files."""

import json

import pytest

from merge_runner import Project
from merge_runner.cli.main import main
from merge_runner.engine.table_format.stored_metadata import StoredColumn, StoredMetadata
from merge_runner.run.catalog import write_catalog
from tests.dbt_schemas import schema_errors

FILES = {
    "models/m.yml": """
        models:
          - {name: v, columns: [{name: id, data_type: int, description: the key}, {name: other}]}
        sources:
          - {name: raw, tables: [{name: t, path: raw/t, format: delta}, {name: f, path: f.csv, format: csv}]}
        """,
    "models/m.sql": "merge into {{ this }} as t using {{ source('raw', 't') }} as s on t.id = s.id when not matched then insert *",
    "models/never.sql": "{{ config(materialized='table') }} select 1 as id",
    "models/v.sql": "{{ config(materialized='view') }} select id, 1 as other from {{ ref('m') }}",
    "models/untyped.sql": "{{ config(materialized='view') }} select id from {{ ref('m') }}",
    "models/e.sql": "{{ config(materialized='ephemeral') }} select 1 as id",
    "f.csv": "id\n1\n",
}


def write_table(folder, *types):
    fields = [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in types]
    metadata = {"schemaString": json.dumps({"type": "struct", "fields": fields}), "description": "people"}
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text(json.dumps({"metaData": metadata}))
    (log / f"{0:020}.crc").write_text(json.dumps({"metadata": metadata, "numFiles": 1, "tableSizeBytes": 700}))


@pytest.fixture
def shop(make_project):
    root = make_project(FILES)
    write_table(root / "raw/t", ("id", "long"))
    relation = Project.load(root).graph.nodes["model.shop.m"].relation
    write_table(root / "warehouse" / relation.schema / "m", ("id", "long"), ("name", "string"))
    for name in ("v", "untyped"):
        (root / "warehouse" / relation.schema / f"{name}.view.sql").write_text("select 1")
    return root


def test_tables_and_views_that_are_there(shop):
    written = Project.load(shop).catalog()
    found = json.loads(written.path.read_text())
    assert written.path == shop / "target/catalog.json"
    assert schema_errors(found) == []
    assert list(found["nodes"]) == ["model.shop.m", "model.shop.v"]
    assert list(found["sources"]) == ["source.shop.raw.t"]
    merge = found["nodes"]["model.shop.m"]
    assert {name: column["type"] for name, column in merge["columns"].items()} == {"id": "bigint", "name": "string"}
    assert [column["index"] for column in merge["columns"].values()] == [1, 2]
    assert (merge["metadata"]["type"], merge["metadata"]["comment"]) == ("table", "people")
    assert {name: stat["value"] for name, stat in merge["stats"].items()} == {
        "has_stats": True,
        "num_files": 1,
        "bytes": 700,
    }
    view = found["nodes"]["model.shop.v"]
    assert view["columns"] == {"id": {"type": "int", "index": 1, "name": "id", "comment": "the key"}}
    assert (view["metadata"]["type"], view["stats"]["has_stats"]["value"]) == ("view", False)
    assert [name.rpartition(".")[2] for name in written.unread] == ["never"]


def test_docs_generate_writes_it(shop, monkeypatch, capsys):
    monkeypatch.chdir(shop)
    with pytest.raises(SystemExit) as ended:
        main(["docs", "generate"])
    out, err = capsys.readouterr()
    assert ended.value.code == 0
    assert out.strip().endswith("target/docs/index.html")
    assert "catalog.json: 3 relations; 1 table not built, or not on this machine (--spark asks Spark)" in err
    assert (shop / "target/catalog.json").is_file()


def test_what_files_do_not_say_is_read_otherwise(shop):
    """Of tables whose files are here nothing is asked, of all views and other tables the engine is."""
    asked = []

    def read(relation, format):
        asked.append((relation.identifier, format))
        return None if relation.identifier == "v" else StoredMetadata((StoredColumn("id", "int"),), files=2)

    written = write_catalog(Project.load(shop).prepared, "an id", read)
    found = json.loads(written.path.read_text())
    assert sorted(asked) == [("never", "delta"), ("untyped", None), ("v", None)]
    assert sorted(found["nodes"]) == [f"model.shop.{name}" for name in ("m", "never", "untyped", "v")]
    assert found["nodes"]["model.shop.never"]["stats"]["num_files"]["value"] == 2
    assert list(found["nodes"]["model.shop.v"]["columns"]) == ["id"]  # what the text declares
    assert (written.count, written.unread) == (5, ())


@pytest.mark.spark
def test_spark_is_asked_for_tables_of_a_catalog(make_project, driver):
    files = {
        "models/tab.sql": "{{ config(materialized='table') }} select id, cast(1.5 as decimal(8, 2)) as d from range(3)",
        "models/never.sql": "{{ config(materialized='table') }} select 1 as id",
    }
    root = make_project(files, "iceberg")
    assert Project.load(root).build("tab", driver=driver, lint=False).ok
    written = Project.load(root).catalog(spark=True, driver=driver)
    found = json.loads(written.path.read_text())
    assert schema_errors(found) == []
    assert list(found["nodes"]) == ["model.shop.tab"]
    table = found["nodes"]["model.shop.tab"]
    assert {name: each["type"] for name, each in table["columns"].items()} == {"id": "bigint", "d": "decimal(8,2)"}
    assert table["metadata"]["database"] == "ice"
    assert table["stats"]["num_files"]["value"] >= 1
    assert [name.rpartition(".")[2] for name in written.unread] == ["never"]
