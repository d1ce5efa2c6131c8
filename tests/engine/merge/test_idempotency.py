"""Batch ids in the tables of both formats."""

import itertools

import pytest

from merge_runner.engine.context import Batch
from merge_runner.engine.merge.idempotency import recorded_batch, recording
from merge_runner.engine.table_format.registry import table_format
from merge_runner.relation import Relation

pytestmark = pytest.mark.spark

NUMBERS = itertools.count()
MERGE = """
merge into {t} as t using (select id from range({n})) as s on t.id = s.id
when matched then update set * when not matched then insert *
"""


@pytest.fixture(params=["delta", "iceberg"])
def table(request, spark):
    schema = Relation(f"batches{next(NUMBERS)}", "ice" if request.param == "iceberg" else None)
    relation = Relation("fct", schema.identifier, schema.schema)
    spark.sql(f"create schema {schema}")
    spark.sql(f"create table {relation} (id bigint) using {request.param}")
    return request.param, relation


def test_a_table_knows_the_highest_batch_of_each_application(table, spark):
    format, relation = table
    session = spark.newSession()
    assert recorded_batch(session, relation, table_format(format), "shop.fct") is None
    for app, batch in (("shop.fct", 3), ("shop.fct", 7), ("shop.other", 9)):
        with recording(session, Batch(app, batch), table_format(format)):
            session.sql(MERGE.format(t=relation, n=batch))
    session.sql(MERGE.format(t=relation, n=12))  # outside of the block nothing is stamped, and nothing skipped
    assert spark.table(str(relation)).count() == 12
    assert recorded_batch(session, relation, table_format(format), "shop.fct") == 7
    assert recorded_batch(session, relation, table_format(format), "shop.other") == 9
    assert recorded_batch(session, relation, table_format(format), "shop.third") is None


def test_a_conf_of_the_session_is_as_before(spark):
    session = spark.newSession()
    session.conf.set("spark.databricks.delta.write.txnAppId", "mine")
    with pytest.raises(RuntimeError), recording(session, Batch("shop.fct", 1), table_format("delta")):
        assert session.conf.get("spark.databricks.delta.write.txnAppId") == "shop.fct"
        assert session.conf.get("spark.databricks.delta.write.txnVersion") == "1"
        raise RuntimeError
    assert session.conf.get("spark.databricks.delta.write.txnAppId") == "mine"
    assert session.conf.get("spark.databricks.delta.write.txnVersion", None) is None


def test_a_batch_that_was_rolled_back_is_not_recorded_any_more(spark):
    relation = Relation("fct", f"batches{next(NUMBERS)}", "ice")
    spark.sql(f"create schema ice.{relation.schema}")
    spark.sql(f"create table {relation} (id bigint) using iceberg")
    for batch in (1, 2):
        with recording(spark, Batch("shop.fct", batch), table_format("iceberg")):
            spark.sql(MERGE.format(t=relation, n=batch))
    first = spark.sql(f"select snapshot_id from {relation}.snapshots order by committed_at").collect()[0][0]
    spark.sql(f"call ice.system.rollback_to_snapshot('{relation.schema}.fct', {first})")
    assert recorded_batch(spark, relation, table_format("iceberg"), "shop.fct") == 1
