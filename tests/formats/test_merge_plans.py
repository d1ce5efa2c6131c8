"""The plans of MERGE against the engines: the joins that really run on Delta and on Iceberg, and Delta's phases."""

import itertools
import re

import pytest

from merge_runner.formats.merge_plans import PLANS, duplicates_rows, merge_plan, phase
from merge_runner.formats.registry import capabilities
from merge_runner.merge.parse import parse
from merge_runner.plan.explain.join_strategy import shape

NUMBERS = itertools.count()
MATCHED = "when matched and s.v > t.v then update set v = s.v "
INSERT = "when not matched then insert * "
BY_SOURCE = "when not matched by source and t.id = 1 then delete "
CLAUSES = {
    "insert": INSERT,
    "matched": MATCHED,
    "upsert": MATCHED + INSERT,
    "by-source": MATCHED + BY_SOURCE,
    "by-source-insert": MATCHED + INSERT + BY_SOURCE,
}
JOIN = re.compile(r"Join\b.*\b(Inner|LeftOuter|RightOuter|FullOuter|LeftAnti|LeftSemi)\b")
NAMES = {
    "inner": "Inner",
    "left outer": "LeftOuter",
    "right outer": "RightOuter",
    "full outer": "FullOuter",
    "left anti": "LeftAnti",
}


def name(plan):
    return f"{plan.format}-{plan.shape}-{plan.marks}"


def statement(plan, table):
    using = "(select id, cast(id as int) as v from range(5, 15))"
    return f"merge into {table} as t using {using} as s on t.id = s.id {CLAUSES[plan.shape]}"


@pytest.mark.parametrize("plan", PLANS, ids=name)
def test_the_row_of_a_statement_is_found(plan):
    marking = capabilities(plan.format).marking
    properties = {marking.property.upper(): marking.marks} if plan.marks else {"other": "true"}
    assert shape(parse(statement(plan, "t"))) == plan.shape
    assert merge_plan(plan.format, plan.shape, properties) == plan


def test_by_source_alone_and_delete_only_have_the_joins_of_their_kind():
    assert shape(parse("merge into t using s on t.id = s.id when not matched by source then delete")) == "by-source"
    assert shape(parse("merge into t using s on t.id = s.id when matched then delete")) == "matched"


@pytest.fixture
def table(spark):
    """Creates a table of ten rows in two files."""

    def make(plan):
        marking = capabilities(plan.format).marking
        catalog = "ice." if plan.format == "iceberg" else ""
        table = f"{catalog}merge_plans.t{next(NUMBERS)}"
        spark.sql(f"create schema if not exists {catalog}merge_plans")
        properties = f"tblproperties ('{marking.property}' = '{marking.marks}')" if plan.marks else ""
        spark.sql(f"create table {table} (id bigint, v int) using {plan.format} {properties}")
        spark.sql(f"insert into {table} select /*+ repartition(2) */ id, 0 from range(10)")
        return table

    return make


def _tier(number, plan):
    if plan.shape == "upsert" and not plan.marks:
        return ()
    return pytest.mark.nightly if number % 2 else pytest.mark.slow


# Upserts that copy rows in `make test`, every other of the other rows in `make test-slow`, the rest nightly.
@pytest.mark.spark
@pytest.mark.parametrize(
    "plan",
    [pytest.param(plan, marks=_tier(number, plan), id=name(plan)) for number, plan in enumerate(PLANS)],
)
def test_the_engine_joins_as_the_row_says(spark, table, plan):
    text = statement(plan, table(plan))
    found = _delta_joins(spark, text) if plan.format == "delta" else _explained_joins(spark, text)
    wanted = [NAMES[join] for join in (plan.find, plan.write) if join is not None]
    if plan.format == "delta" and plan.marks and plan.shape != "insert":
        assert len(found) > len(wanted)  # the pass that writes the vectors joins once more
        found = found[: len(wanted)]
    assert found == wanted


def _explained_joins(spark, text):
    """Joins of the first plan, without the pass over the keys, which is a subquery with a semi join."""
    explained = spark.sql(f"explain {text}").collect()[0][0]
    return [join for join in JOIN.findall(explained) if join != "LeftSemi"]


def _delta_joins(spark, text):
    """Joins of the queries that the command runs, in their order: the first finds the files, the second writes."""
    spark.sparkContext.setJobDescription(text)
    spark.sql(text)
    spark.sparkContext.setJobDescription(None)
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    store = spark._jsparkSession.sharedState().statusStore()
    executions = store.executionsList()
    all_of_them = [executions.apply(index) for index in range(executions.size())]
    root = next(one for one in reversed(all_of_them) if one.description() == text).executionId()
    joins = []
    for one in all_of_them:
        if one.rootExecutionId() == root and one.executionId() != root:
            told = one.physicalPlanDescription().partition("== Initial Plan ==")[0]
            joins += JOIN.findall(told.partition("\n\n(")[0])
    return joins


@pytest.mark.parametrize(
    ("table_format", "kinds", "mode", "expected"),
    [
        ("iceberg", ["not_matched_by_source"], {}, True),
        ("iceberg", ["not_matched", "not_matched_by_source"], {"write.merge.mode": "copy-on-write"}, True),
        ("iceberg", ["not_matched_by_source"], {"write.merge.mode": "merge-on-read"}, False),
        ("iceberg", ["not_matched_by_source"], {"write.merge.mode": "Merge-On-Read"}, False),
        ("iceberg", ["not_matched_by_source"], {"write.merge.mode": "COPY-ON-WRITE"}, True),
        ("iceberg", ["not_matched_by_source"], {"Write.Merge.Mode": "merge-on-read"}, True),
        ("iceberg", ["matched", "not_matched_by_source"], {}, False),
        ("iceberg", ["not_matched"], {}, False),
        ("delta", ["not_matched_by_source"], {}, False),
        (None, ["not_matched_by_source"], {}, False),
    ],
)
def test_only_iceberg_copy_on_write_by_source_without_matched_duplicates_rows(table_format, kinds, mode, expected):
    assert duplicates_rows(table_format, kinds, mode) is expected


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
    jobs = [store.job(job).description() for job in sorted(context.statusTracker().getJobIdsForGroup("phases"))]
    phases = [phase(each.get()) for each in jobs if each.isDefined()]
    assert [each for each in dict.fromkeys(phases) if each in ("scan", "rewrite")] == ["scan", "rewrite"]
    assert driver.phase("phases") == next(each for each in reversed(phases) if each is not None)
    assert driver.phase("nothing") is None
