"""target/catalog.json: the columns and sizes of tables, read from their files."""

import json

import pytest

from merge_runner import Project
from merge_runner.cli.main import main
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
    assert "catalog.json: 3 relations; 1 table not built, or not on this machine" in err
    assert (shop / "target/catalog.json").is_file()
