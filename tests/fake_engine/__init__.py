"""An engine in memory: a driver, its sessions, its table format, and the faults that a test has happen.

    lake = Lake()
    driver = FakeDriver(lake, faults={"orders": ["conflict", "transient after"]})
    results = Project.load(root).build(driver=driver)
    assert [commit.operation for commit in lake["orders"].commits] == ["CREATE TABLE", "MERGE"]

Everything above the driver is the product's own: steps, retries, locks, scheduler, journal, results. See "The fake engine"
in docs/contributing/testing.md.
"""

from tests.fake_engine.driver import FakeDriver, Starts
from tests.fake_engine.lake import Lake
from tests.fake_engine.statements import UnknownStatementError

__all__ = ["FakeDriver", "Lake", "Starts", "UnknownStatementError"]
