"""When a folder is a table, seen from its files alone."""

import pytest

from merge_runner.engine.tables.catalog import table_folder


@pytest.mark.parametrize(
    ("files", "is_table"),
    [
        ([], False),
        (["part-0.parquet"], False),
        (["_delta_log/_staged_commits/x.json", "part-0.parquet"], False),
        (["_delta_log/.00000000000000000000.json.f2.tmp"], False),
        (["_delta_log/00000000000000000000.json"], True),
        (["_delta_log/00000000000000000010.checkpoint.parquet", "_delta_log/_last_checkpoint"], True),
        (["metadata/snap-1.avro"], False),
        (["metadata/v1.metadata.json"], True),
    ],
)
def test_a_folder_is_a_table_once_it_has_a_commit(tmp_path, files, is_table):
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert table_folder(tmp_path) is is_table
