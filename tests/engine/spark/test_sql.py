"""What is run as a command or a query, and under whose name Spark lists it."""

import time

import pytest

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.sql import run_command, run_statement

pytestmark = pytest.mark.spark

GROUP, NAME = "statements/orders", "orders [0a1b]"


def stage_names(spark):
    """The names of the stages of the group's jobs, in the order in which they began."""
    tracker = spark.sparkContext.statusTracker()
    deadline = time.monotonic() + 10
    while "RUNNING" in {job.status for job in jobs_of(tracker)}:
        assert time.monotonic() < deadline
        time.sleep(0.05)  # Spark's listeners run some time after the statement
    # A stage that a job has skipped is forgotten where a driver has had more than a thousand.
    stages = [tracker.getStageInfo(each) for job in jobs_of(tracker) for each in job.stageIds]
    return [stage.name for stage in stages if stage is not None]


def jobs_of(tracker):
    return [tracker.getJobInfo(each) for each in sorted(tracker.getJobIdsForGroup(GROUP))]


def test_commands_are_listed_under_the_name_of_the_group_also_behind_rows_that_were_fetched(driver, tmp_path):
    write = f"insert overwrite directory '{tmp_path}/out' using parquet select {{}} as n"
    with driver.session() as session, driver.job_group(session, GROUP, NAME):
        run_command(session, write.format(1))
        assert run_statement(session, "select count(distinct id) from range(5)")[0][0] == 5
        run_command(session, write.format(2))
    first, *fetched, last = stage_names(driver.spark)
    assert first == last == NAME
    assert fetched
    assert all("collect at" in name for name in fetched)


def test_who_comes_after_the_group_has_no_name(driver):
    context = driver.spark.sparkContext
    with driver.session() as session, driver.job_group(session, GROUP, NAME):
        assert context.getLocalProperty("callSite.long") == NAME
    assert context.getLocalProperty("callSite.short") is None
    assert context.getLocalProperty("callSite.long") is None


def test_a_command_has_run_when_the_call_returns(driver, tmp_path):
    with driver.session() as session:
        run_command(session, f"insert overwrite directory '{tmp_path}/out' using json select 7 as n")
        assert [tuple(row) for row in session.read.json(str(tmp_path / "out")).collect()] == [(7,)]


def test_the_error_of_a_command_knows_its_text(driver):
    with driver.session() as session, pytest.raises(EngineError) as refused:
        run_command(session, "drop table no_such_table_of_ours")
    assert refused.value.code == "TABLE_OR_VIEW_NOT_FOUND"
    assert refused.value.statement == "drop table no_such_table_of_ours"
