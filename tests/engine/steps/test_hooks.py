"""Which hooks are known to change no table. What comes of it stands in tests/run/node/test_retry.py and test_batches.py."""

import pytest

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.steps.hooks import is_of_the_session, name_unknown_table
from merge_runner.formats.rewordings import NOT_EMPTY, reword


@pytest.mark.parametrize(
    "sql",
    [
        "set spark.sql.shuffle.partitions = 1",
        "-- why\n /* and */ SELECT raise_error('empty') where not exists (select 1 from s)",
        "create temporary view mine as select 1 as n",
        "CREATE OR REPLACE GLOBAL TEMP VIEW v AS SELECT 1",
        "drop temporary function f",
        "declare variable x = 1",
    ],
)
def test_what_is_done_to_the_session_is_no_change_of_a_table(sql):
    assert is_of_the_session(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "delete from t where day = '2024-01-01'",
        "/* set */ insert into t select 1",
        "-- select\ntruncate table t",
        "create table t (a int)",
        "create or replace view temporary as select 1",
        "with x as (select 1) insert into t select * from x",
        "alter table t set tblproperties ('a' = '1')",
        "settle",
        "",
    ],
)
def test_everything_else_may_change_one(sql):
    assert not is_of_the_session(sql)


@pytest.mark.parametrize(("file", "is_table"), [("_delta_log/00000000000000000000.json", True), ("notes.txt", False)])
def test_a_delta_table_that_an_earlier_hook_created_is_reported_as_one(tmp_path, file, is_table):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).touch()
    rewording = reword(
        NOT_EMPTY, f"The associated location ('file:{tmp_path}') is not empty and also not a Delta table."
    )
    error = EngineError(NOT_EMPTY, rewording.message, rewording.hint)
    name_unknown_table(error)
    assert (error.message == f"{tmp_path} is a Delta table that the catalog of this session does not know") is is_table
    assert ("docs/guides/hooks.md" in error.hint) is is_table
