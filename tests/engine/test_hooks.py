"""Which hooks are known to change no table. What comes of it stands in tests/run/test_retry.py and test_batches.py."""

import pytest

from merge_runner.engine.steps.hooks import is_of_the_session


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
