"""What a statement need not compute of a table whose state was loaded before it."""

import pytest

from merge_runner.engine.tables.catalog import Catalog
from merge_runner.plan.steps.inputs import TableInput
from merge_runner.relation import Relation

pytestmark = [pytest.mark.spark, pytest.mark.lines]


@pytest.mark.parametrize("by", ["folder", "name"])
def test_a_state_that_was_loaded_is_not_computed_again_in_another_session(driver, tmp_path, by):
    folder, name = tmp_path / "t", f"preload_{by}"
    rows = f"delta.`{folder}`" if by == "folder" else name

    def state(group, *, preload):
        """Write another version, and ask for its state in a new session; return how many jobs that took."""
        with driver.session() as session:
            session.sql(f"insert into {rows} values (1), (2)").collect()
        if preload:
            item = TableInput(Relation(name), "delta", folder if by == "folder" else None)
            with driver.job_group(driver.spark, f"{group} before", "preload"):
                Catalog(driver.table_format).preload(driver.spark, item)
            assert jobs(driver, f"{group} before") > 0
        with driver.session() as session, driver.job_group(session, group, "state"):
            driver.table_format("delta").state(
                session, Relation(name) if by == "name" else Relation(str(folder), "delta")
            )
        return jobs(driver, group)

    with driver.session() as session:
        session.sql(f"create table {rows} (n int) using delta").collect()
    assert state(f"{name} without", preload=False) > 0
    assert state(f"{name} with", preload=True) == 0
    if by == "folder":
        assert not driver.spark.catalog.tableExists(name)
    else:
        driver.spark.sql(f"drop table {name}").collect()


def jobs(driver, group):
    return len(driver.spark.sparkContext.statusTracker().getJobIdsForGroup(group))
