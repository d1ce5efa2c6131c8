"""What the confs of a unit test's session spare."""

from pathlib import Path
from urllib.parse import urlparse

import pytest

from merge_runner.engine.model_tests.unit_test import FOR_A_FEW_ROWS
from merge_runner.engine.spark.sql import set_confs


@pytest.mark.spark
def test_a_commit_is_one_file(spark):
    session = spark.newSession()
    set_confs(session, FOR_A_FEW_ROWS)
    session.sql("create schema if not exists one_file_tests")
    session.sql("create table one_file_tests.one_file (id int) using delta")
    session.sql("insert into one_file_tests.one_file values (1)")
    folder = Path(urlparse(session.sql("describe detail one_file_tests.one_file").first()["location"]).path)
    # Those with a dot are Hadoop's.
    assert sorted(path.name for path in folder.glob("_delta_log/[!.]*") if path.is_file()) == [
        f"{version:020}.json" for version in range(2)
    ]
    assert [row.id for row in session.table("one_file_tests.one_file").collect()] == [1]
