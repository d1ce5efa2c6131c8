"""Inputs are kept for the readers that are known, in whatever session they read, and let go with the last of them."""

import pytest

from merge_runner.engine.tables.input_cache import SharedInputs
from merge_runner.relation import Relation

pytestmark = pytest.mark.spark

VIEW = Relation("shared_view", "default")


@pytest.fixture
def session(driver, tmp_path):
    session = driver.spark.newSession()
    session.range(10).selectExpr("id", "id * 2 as v").write.csv(str(tmp_path / "rows"))
    session.sql(f"create table default.shared_rows (id bigint, v int) using csv location '{tmp_path}/rows'")
    session.sql(
        "create or replace view default.shared_view as select id, sum(v) as v from default.shared_rows group by id"
    )
    yield session
    session.sql("drop view default.shared_view")
    session.sql("drop table default.shared_rows")


def is_kept(driver):
    """Whether a query over the view in a session of its own reads what is kept."""
    query = driver.spark.newSession().sql("select v from default.shared_view where id = 3")
    assert query.collect()[0]["v"] == 6
    return "InMemoryTableScan" in query._jdf.queryExecution().executedPlan().toString()


def test_the_last_reader_lets_go(driver, session):
    shared = SharedInputs([{VIEW: ("a", "b", "c")}], small=0)
    assert not is_kept(driver)
    shared.acquire(session, VIEW)
    shared.acquire(session, VIEW)
    assert is_kept(driver)
    shared.done("a")
    shared.done("a")
    shared.done("b")
    assert is_kept(driver)
    shared.done("c")
    assert not is_kept(driver)
    shared.acquire(session, VIEW)
    assert not is_kept(driver)


def test_a_small_input_is_read_again(driver, session):
    shared = SharedInputs([{VIEW: ("a", "b")}])
    shared.acquire(session, VIEW)
    assert not is_kept(driver)
