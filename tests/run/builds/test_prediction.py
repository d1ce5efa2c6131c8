"""What a MERGE is expected to read is what it reads, on both formats."""

import json

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

ALL = "(select id, cast(id % 4 as int) as p, cast(id as int) as v from range(400))"
SOURCE = "(select * from {{ ref('input') }})"
INSERT = "when not matched then insert *"
UPSERT = f"when matched then update set * {INSERT}"
MERGE_ON_READ = {"delta": {"delta.enableDeletionVectors": "true"}, "iceberg": {"write.merge.mode": "merge-on-read"}}
MODELS = {
    "filtered": ("s.p = t.p and t.p in (1, 2)", UPSERT, ""),
    "by_source_values": ("s.p = t.p", UPSERT, "bounds=['p']"),
    "full": ("true", UPSERT, ""),
    "by_statistics": ("t.v < 0", UPSERT, ""),
    "appended": ("t.p = 1", INSERT, ""),
    "marked": ("t.p = 1", UPSERT, "properties=MERGE_ON_READ"),
}
FILES = {"filtered": 2, "by_source_values": 1, "full": 4, "by_statistics": 0, "appended": 1, "marked": 1}
"""How many of the four files, one for each `p`, are read."""


@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_bytes_are_those_that_are_scanned(make_project, driver, table_format):
    files = {"models/input.sql": "{{ config(materialized='table') }} select * from " + ALL}
    for name, (on, clauses, config) in MODELS.items():
        marked = config.replace("MERGE_ON_READ", json.dumps(MERGE_ON_READ[table_format]))
        files[f"models/{name}.sql"] = (
            f"{{{{ config(partition_by=['p'], {marked}) }}}}\nmerge into {{{{ this }}}} as t using {SOURCE} as s\n"
            f"on t.id = s.id and {on}\n{clauses}\n"
        )
    root = make_project(files, table_format)
    first = Project.load(root).build(driver=driver, lint=False)
    assert first.ok, [result.message for result in first.results]
    empty = {"files": 0, "bytes": 0, "rewritten_bytes": 0, "seconds": None}
    assert {name: first[name].adapter_response["predicted"] for name in MODELS} == dict.fromkeys(MODELS, empty)

    (root / "models/input.sql").write_text(files["models/input.sql"] + " where p = 1 and id < 100")
    second = Project.load(root).build(driver=driver, lint=False)
    assert second.ok, [result.message for result in second.results]
    responses = {name: second[name].adapter_response for name in MODELS}
    assert {name: response["predicted"]["files"] for name, response in responses.items()} == FILES
    for name, response in responses.items():
        predicted = response["predicted"]
        assert (predicted["files"], predicted["bytes"]) == (response["files_scanned"], response["bytes_scanned"]), name
        keeps_files = name in ("appended", "marked")
        assert predicted["rewritten_bytes"] == (0 if keeps_files else predicted["bytes"]), name
        assert response["bytes_removed"] <= predicted["rewritten_bytes"], name
        assert predicted["seconds"] is not None, name
