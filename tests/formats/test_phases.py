"""Phases of a MERGE, by the descriptions that Delta's jobs have on a real driver."""

import pytest

from merge_runner.formats.phases import phase


def test_what_a_description_says():
    assert phase("Delta: MERGE operation - Rewriting 3 files: fct [1]") == "rewrite"
    assert phase("fct [1]") is None


@pytest.mark.spark
def test_the_jobs_of_a_merge_name_their_phases(driver):
    with driver.session() as session:
        session.sql("create schema if not exists phases")
        session.sql("create or replace table phases.t using delta as select id, id as v from range(100)")
        with driver.job_group(session, "phases", "fct [1]"):
            session.sql(
                "merge into phases.t as t using (select id, id + 1 as v from range(50, 150)) as s on t.id = s.id "
                "when matched then update set * when not matched then insert *"
            )
        session.sql("drop table phases.t")
    context = driver.spark.sparkContext
    store = context._jsc.sc().statusStore()
    told = [store.job(job).description() for job in sorted(context.statusTracker().getJobIdsForGroup("phases"))]
    phases = [phase(each.get()) for each in told if each.isDefined()]
    assert [each for each in dict.fromkeys(phases) if each in ("scan", "rewrite")] == ["scan", "rewrite"]
    assert driver.phase("phases") == next(each for each in reversed(phases) if each is not None)
    assert driver.phase("nothing") is None
