"""An Iceberg table as the reader of a Delta table's changes. The two live in catalogs of their own."""

import itertools
from dataclasses import replace

import pytest

from merge_runner.api import Project
from merge_runner.engine.context import NodeContext
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.steps.perform import perform
from merge_runner.engine.table_format.commit_metadata import stamp, stamp_confs
from merge_runner.engine.table_format.registry import table_format
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.engine.tables.input_cache import SharedInputs
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.inputs import AttachInputs, OpenFeed
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.table import CreateTarget
from merge_runner.relation import Relation

pytestmark = pytest.mark.spark

NUMBERS = itertools.count()
STG = "merge into {{ this }} t using (select 1 as id, 'a' as v) s on t.id = s.id when not matched then insert *"
FCT = """
{{ config(format='iceberg') }}
merge into {{ this }} as t
using (select id, v, _change_type as kind, _commit_version as version from {{ changes('stg') }} where id > 0) as s
on false
when not matched then insert *
"""


class Reader:
    """A project's reader `fct` in the Iceberg catalog, whose steps are performed over a Delta table beside it."""

    def __init__(self, make_project, spark):
        self.spark = spark
        profiles = f"shop: {{outputs: {{dev: {{master: 'local[2]', schema: ice.feeds{next(NUMBERS)}}}}}}}\n"
        files = {"profiles.yml": profiles, "models/stg.sql": STG, "models/fct.sql": FCT}
        plan = Planner(Project.load(make_project(files)).prepared).plan("model.shop.fct")
        self.stg = Relation("stg", f"feeds{next(NUMBERS)}")
        spark.sql(f"create schema {self.stg.schema}")
        spark.sql(
            f"create table {self.stg} (id int, v string) using delta "
            "tblproperties ('delta.enableChangeDataFeed' = 'true')"
        )
        self.steps = [self._over_delta(step) for step in plan.steps if not isinstance(step, AttachInputs)]
        self.fct = next(step.target for step in self.steps if isinstance(step, RunMerge))

    def _over_delta(self, step):
        if isinstance(step, OpenFeed | RunMerge):
            return replace(step, feed=replace(step.feed, table=self.stg))
        return step

    def run(self, full_refresh=False):
        own = stamp(f"run{next(NUMBERS)}", "model.shop.fct")
        session = self.spark.newSession()
        for key, value in stamp_confs(own).items():
            session.conf.set(key, value)
        context = NodeContext(session, Catalog(table_format), SharedInputs(()), own, "test")
        for step in self.steps:
            perform(replace(step, replace=full_refresh) if isinstance(step, CreateTarget) else step, context)
        return context.output.no_op, context.output.response.as_json()

    def rows(self):
        rows = self.spark.table(str(self.fct)).orderBy("version", "id").collect()
        return [f"{row['kind']} {row['id']} @{row['version']}" for row in rows]


@pytest.fixture
def reader(make_project, spark):
    return Reader(make_project, spark)


@pytest.mark.slow
def test_each_change_is_consumed_once(reader, spark):
    spark.sql(f"insert into {reader.stg} values (1, 'a'), (2, 'b')")
    reader.run()
    assert reader.rows() == ["insert 1 @1", "insert 2 @1"]
    assert reader.run()[0] == f"no changes of {reader.stg.name} since version 1"

    # Changes of which the MERGE takes none: no snapshot of its own says so, and one without rows does.
    spark.sql(f"insert into {reader.stg} values (-1, 'x')")
    no_op, response = reader.run()
    assert (no_op, response["changes"]["from_version"], response["changes"]["to_version"]) == (None, 2, 2)
    assert reader.run()[0] == f"no changes of {reader.stg.name} since version 2"

    # A table that is rolled back has not consumed what it has lost; one that is replaced has consumed nothing.
    first = spark.sql(f"select snapshot_id from {reader.fct}.snapshots order by committed_at").collect()[0][0]
    spark.sql(f"delete from {reader.stg} where id = 2")
    reader.run()
    assert reader.rows() == ["insert 1 @1", "insert 2 @1", "delete 2 @3"]
    spark.sql(f"call ice.system.rollback_to_snapshot('{reader.fct.schema}.fct', {first})")
    reader.run()
    assert reader.rows() == ["insert 1 @1", "insert 2 @1", "delete 2 @3"]
    reader.run(full_refresh=True)
    assert reader.rows() == ["insert 1 @3"]


def test_a_position_that_expired_is_an_error_and_no_second_reading(reader, spark):
    spark.sql(f"insert into {reader.stg} values (1, 'a')")
    reader.run()
    spark.sql(f"insert into {reader.fct} values (9, 'i', 'other', 0)")
    spark.sql(
        f"call ice.system.expire_snapshots(table => '{reader.fct.schema}.fct', "
        "older_than => timestamp '2999-01-01 00:00:00', retain_last => 1)"
    )
    with pytest.raises(EngineError, match="none of its snapshots says which changes") as caught:
        reader.run()
    assert "--full-refresh" in caught.value.hint
    assert reader.rows() == ["other 9 @0", "insert 1 @1"]
