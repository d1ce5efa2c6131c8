"""The changed partitions of Iceberg tables: cases in iceberg_partitions.yml, over manifests as Iceberg writes them."""

import json
from pathlib import Path

import pytest

from merge_runner.engine.table_format.iceberg.changed_partitions import changed_partitions
from tests.engine.table_format.iceberg_metadata import write_metadata
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("iceberg_partitions.yml"))
COLUMNS = {"id": "long", "n": "int", "kind": "string", "day": "date"}


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_partitions_that_were_changed(tmp_path, case):
    columns = case.get("columns", {}) | COLUMNS
    more = case.get("more", {})
    path = write_metadata(tmp_path, columns, case.get("specs", [[["day", "identity"]]]), case["snapshots"], **more)
    for number in case.get("expired", ()):
        document = json.loads(path.read_text())
        document["snapshots"] = [each for each in document["snapshots"] if each["snapshot-id"] != number]
        path.write_text(json.dumps(document))
    if "lost" in case:
        (tmp_path / case["lost"]).unlink()
    if "cut" in case:
        (tmp_path / case["cut"]).write_bytes((tmp_path / case["cut"]).read_bytes()[:-20])
    found = changed_partitions(path, case["since"])
    if "why" in case:
        assert found == case["why"]
    else:
        assert found == {tuple(map(tuple, partition)) for partition in case["found"]}


@pytest.mark.parametrize("given", [b"\x08zstd", b"\x08nope"])
def test_another_codec_is_refused(tmp_path, given):
    path = write_metadata(tmp_path, COLUMNS, [[("day", "identity")]], [{"files": [[1, [0]]]}])
    manifest = tmp_path / "1-0.avro"
    manifest.write_bytes(manifest.read_bytes().replace(b"\x08null", given))
    assert changed_partitions(path, "u/0/-1") == "the manifests of its snapshots cannot be read"
