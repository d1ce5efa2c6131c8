"""The forms of a subquery over the target against Delta: all of them in one session."""

import pytest

from merge_runner.engine.merge.unread_target import source_as_view
from merge_runner.engine.spark.errors import EngineError
from tests.formats.subquery_forms import FORMS

pytestmark = pytest.mark.spark

NAMES = {name: f"target_subqueries.{name}" for name in ("t", "o", "o2", "p", "view", "files", "on_files")}
MERGE = "merge into {t} as t using ({query}) as s on t.id <=> s.{key} when matched then update set v = 'seen'"


@pytest.fixture(scope="module")
def tables(spark):
    spark.sql("create schema if not exists target_subqueries")
    for name, columns in (
        ("t", "v string, ts bigint"),
        ("o", "v string, ts bigint"),
        ("o2", "v string, ts bigint"),
        ("p", "paid int"),
    ):
        spark.sql(f"create table {NAMES[name]} (id int, {columns}) using delta")
    spark.sql(f"create table {NAMES['files']} (id int, v string, ts bigint) using json")
    spark.sql(f"create view {NAMES['on_files']} as select * from {NAMES['files']}")
    spark.sql("insert into target_subqueries.t values (1, 'a', 1)")
    ranked = "select *, row_number() over (order by id) as rn from target_subqueries.o"
    spark.sql(f"create view {NAMES['view']} as {ranked}")
    yield NAMES
    spark.sql("drop schema target_subqueries cascade")


def merge(form):
    key = "a" if "select a, b" in form.query else "id"
    return MERGE.format(t=NAMES["t"], query=form.query.format(**NAMES), key=key)


def reads_all(spark, text):
    """Whether every relation of the source is one that can be scanned, as Delta gets it."""
    state = spark._jsparkSession.sessionState()
    return "RelationV2" not in state.analyzer().execute(state.sqlParser().parsePlan(text)).source().toString()


def test_delta_reads_the_target_in_the_forms_that_run(spark, tables):
    assert [form for form in FORMS if reads_all(spark, merge(form)) is not form.runs] == []


def test_a_view_of_the_source_is_read_in_all_forms(spark, tables):
    def in_view(form):
        with source_as_view(spark, merge(form), EngineError("unread", "")) as text:
            return reads_all(spark, text)

    assert [form for form in FORMS if not in_view(form)] == []


def test_a_relation_that_is_left_makes_the_merge_fail(spark, tables):
    run, failing = (next(form for form in FORMS if form.runs is wanted) for wanted in (True, False))
    spark.sql(merge(run)).collect()
    with pytest.raises(Exception, match="does not support reads"):
        spark.sql(merge(failing)).collect()
