"""Tables of an embedded Iceberg catalog: their snapshots are read from its database and metadata, without Spark."""

import json

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.spark]

FILES = {
    "profiles.yml": "shop: {outputs: {dev: {master: 'local[2]', schema: lake.reused, warehouse: WAREHOUSE, "
    "catalogs: {lake: {type: embedded}}}}}\n",
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.models]\nformat = "iceberg"\n[tool.merge-runner.seeds]\nformat = "iceberg"\n',
    "seeds/code.csv": "id,name\n1,amber\n2,blue\n",
    "models/fct.sql": "merge into {{ this }} as t using (select id, max(name) as name from {{ ref('code') }} group by id) as s "
    "on t.id = s.id when matched and t.name <> s.name then update set * when not matched then insert *\n",
    "models/daily.sql": "{{ config(materialized='table') }} select count(*) as n from {{ ref('fct') }}\n",
    "models/m.yml": "version: 2\nmodels: [{name: fct, columns: [{name: id, data_tests: [not_null]}]}]\n",
}


def test_a_history(make_project, spark, call, monkeypatch, capsys):
    monkeypatch.delenv("MERGE_RUNNER_REUSE")
    warehouse = spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")
    root = make_project(FILES | {"profiles.yml": FILES["profiles.yml"].replace("WAREHOUSE", warehouse)})

    def statuses():
        assert call(root, "build", "--no-lint") == 0
        results = json.loads((root / "target/run_results.json").read_text())["results"]
        found = {entry["unique_id"].split(".")[2]: entry["status"] for entry in results}
        return found, "Spark is not started" in capsys.readouterr().err

    first, _ = statuses()
    assert set(first.values()) == {"success", "pass"}
    assert statuses() == (dict.fromkeys(first, "no-op"), True)
    (root / "seeds/code.csv").write_text("id,name\n1,amber\n2,beryl\n")
    changed, without = statuses()
    assert (changed, without) == (first, False)
    assert statuses() == (dict.fromkeys(first, "no-op"), True)
