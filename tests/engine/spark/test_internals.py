"""What the installed line of Spark has, of all that is no public interface and that the engine uses."""

import threading

import pytest

from merge_runner import Project
from merge_runner.engine.spark.errors import engine_error
from merge_runner.engine.spark.internals import internals
from merge_runner.engine.spark.java_exception import raised_chain
from merge_runner.engine.spark.jvm_util import active_session, java_class
from merge_runner.engine.spark.physical_plan_metrics import command_metrics, table_scans
from merge_runner.engine.spark.sql import files_read, run_command, run_measured, temporary_confs
from merge_runner.engine.table_format.commit_metadata import stamp, stamp_confs
from merge_runner.engine.table_format.registry import table_format
from merge_runner.formats.lines import LINES, installed_line
from merge_runner.relation import Relation

pytestmark = [pytest.mark.spark, pytest.mark.lines]

ICEBERG = pytest.param(
    "iceberg", marks=pytest.mark.skipif("iceberg" not in installed_line().formats, reason="no build")
)
FORMATS = ["delta", ICEBERG]
ROWS = "select /*+ coalesce(1) */ id, cast(id % 2 as int) as part, 'a' as name from range(10)"
STAMP = stamp("an invocation", "model.shop.fct")


@pytest.fixture
def table(driver, request):
    """Make a table of ten rows in two partitions; give the session, and the table with its format."""
    made = request.node.name.partition("[")[0]

    def make(form):
        name = Relation(made, "internals", "ice" if form == "iceberg" else None)
        run_command(session, f"create schema if not exists {'ice.' * (form == 'iceberg')}internals")
        run_command(session, f"create or replace table {name} using {form} partitioned by (part) as {ROWS}")
        return table_format(form), name

    with driver.session() as session:
        yield session, make


def upsert(name):
    return (
        f"merge into {name} as t using (select 1L as id, 1 as part union all select 11L, 1) as s "
        "on t.id = s.id and t.part = s.part and t.part = 1 "
        "when matched then update set name = 'b' when not matched then insert (id, part, name) values (s.id, s.part, 'c')"
    )


def test_each_line_has_its_names():
    assert all(internals(line) for line in LINES.values())


def test_a_session_is_active_in_a_block_and_what_was_before_is_active_afterwards(driver):
    with driver.session() as session, driver.session() as other:
        companion = getattr(java_class(session, f"{internals().session}$"), "MODULE$")

        def active():
            found = companion.getActiveSession()
            return found.get() if found.isDefined() else None

        with active_session(session):
            assert active() == session._jsparkSession
            with active_session(other):
                assert active() == other._jsparkSession
            assert active() == session._jsparkSession
    assert internals().loaded_context() is not None


def test_a_cancelled_group_starts_no_job(driver):
    slow = "select count(*) from range(3000000000) group by id % 7 having max(sha2(cast(id as string), 512)) = 'x'"
    with driver.session() as own, driver.job_group(own, "internals", "cancelled"):
        cancelling = threading.Timer(0.5, driver.cancel, ["internals"])
        cancelling.start()
        with pytest.raises(Exception, match=r"cancelled|CANCELED"):
            own.sql(slow).collect()
        cancelling.join()


def test_an_error_has_its_condition(driver):
    with driver.session() as session, pytest.raises(Exception, match="no_such") as caught:
        session.sql("select * from no_such_table")
    assert raised_chain(caught.value)[0].condition == "TABLE_OR_VIEW_NOT_FOUND"
    assert engine_error(caught.value).code == "TABLE_OR_VIEW_NOT_FOUND"


@pytest.mark.parametrize("form", FORMATS)
def test_a_commit_carries_the_stamp_of_its_session_and_no_other_does(table, form):
    session, make = table
    format, name = make(form)
    with temporary_confs(session, stamp_confs(STAMP) | format.batch_confs("an app", 7)):
        run_command(session, upsert(name))
    run_command(session, f"delete from {name} where id = 3")
    run_command(session, f"delete from {name} where part = 0")  # of a whole partition: without a job
    newest = [commit.stamp for commit in format.commits(session, name, 3)]
    assert newest == [None, None, STAMP]
    assert format.recorded_batches(session, name, "an") == {"an app": 7}
    assert format.commit_with(session, name, STAMP) is not None
    assert session.table(str(name)).count() == 5


@pytest.mark.parametrize("form", FORMATS)
def test_a_merge_has_its_figures(table, form):
    session, make = table
    format, name = make(form)
    with temporary_confs(session, stamp_confs(STAMP)):
        ran = run_measured(session, upsert(name))
    assert command_metrics(ran) or form == "iceberg"
    scans = table_scans(session, ran, name.name)
    assert scans is not None
    figures = format.merge_figures(session, name, STAMP, ran)
    assert figures.files_added is not None
    counted = (figures.rows_inserted, figures.rows_updated, figures.rows_deleted, figures.files_scanned)
    known = form == "delta" or installed_line() == LINES["4.1"]  # Iceberg's other builds record no rows
    assert counted == ((1, 1, 0, 1) if known else (None,) * 4)


@pytest.mark.parametrize("form", FORMATS)
def test_a_table_says_how_it_is(table, form):
    session, make = table
    format, name = make(form)
    with temporary_confs(session, stamp_confs(STAMP)):
        run_command(session, upsert(name))
    state = format.state(session, name)
    assert min(state.files, state.bytes) > 0
    assert format.layout(session, name).partition_by == ("part",)
    assert list(format.columns(session, name)) == ["id", "part", "name"]
    assert format.protocol_properties(session, name) or form == "iceberg"
    versions = [commit.version for commit in format.commits(session, name, 10)]
    assert len(versions) == 2
    assert versions[0] == state.version


def test_the_snapshot_of_a_version_has_its_files(table):
    session, make = table
    format, name = make("delta")
    (before, *_) = [commit.version for commit in format.commits(session, name, 1)]
    run_command(session, upsert(name))
    assert format.snapshot(session, name, before) is not None
    assert format.snapshot(session, name) is not None
    assert files_read(session, f"select * from {name} where part = 1") >= 1


ODD_TEXTS = ("it's", "a\\b", "${user.name}", "ü\n", None)
PASSING = {
    "partitionValues['name'] = 'it\\'s'": 1,
    "partitionValues['name'] is null or partitionValues['name'] like '%{%'": 2,
    "cast(get_json_object(stats, '$.maxValues.id') as bigint) >= 3": 2,
    "partitionValues['name'] = concat('ü', chr(10))": 1,
}


@pytest.mark.parametrize("named", [True, False], ids=["named in the checksum", "in the log alone"])
def test_files_that_pass_conditions_are_counted(driver, named):
    table = Relation(f"passing_{named}", "internals")
    with (
        driver.session() as session,
        temporary_confs(session, {"spark.databricks.delta.allFilesInCrc.enabled": str(named).lower()}),
    ):
        run_command(session, "create schema if not exists internals")
        rows = session.createDataFrame(list(enumerate(ODD_TEXTS)), "id bigint, name string").coalesce(1)
        rows.write.format("delta").partitionBy("name").mode("overwrite").saveAsTable(str(table))
        before = table_format("delta").snapshot(session, table)
        run_command(session, f"delete from {table}")
        with driver.job_group(session, table.identifier, "counted"):
            counted = {asked: before.files_passing([asked, "true -- a comment"]) for asked in PASSING}
        assert counted == {asked: (len(ODD_TEXTS), number) for asked, number in PASSING.items()}
        jobs = session.sparkContext.statusTracker().getJobIdsForGroup(table.identifier)
        assert bool(jobs) is not named


def test_clustering_columns_are_named(driver):
    with driver.session() as session:
        run_command(session, "create schema if not exists internals")
        run_command(
            session, "create or replace table internals.clustered (id bigint, day date) using delta cluster by (day)"
        )
        layout = table_format("delta").layout(session, Relation("clustered", "internals"))
    assert layout.cluster_by == ("day",)


EVOLVING = """
{{ config(format='iceberg') }}
merge with schema evolution into {{ this }} as t using (select 1L as id, 2 as b) as s on t.id = s.id
when matched then update set * when not matched then insert *
"""


@pytest.mark.skipif("iceberg" not in installed_line().formats, reason="no build")
def test_a_line_evolves_an_iceberg_table_or_writes_nothing(driver, make_project):
    root = make_project(
        {
            "models/fct.sql": EVOLVING,
            "models/m.yml": "models: [{name: fct, columns: [{name: id, data_type: bigint}]}]\n",
        },
        "iceberg",
    )
    project = Project.load(root)
    result = project.build(driver=driver, lint=False)["fct"]
    rows = driver.spark.table(str(project.graph.nodes["model.shop.fct"].relation)).collect()
    if installed_line() == LINES["4.1"]:
        assert [row.asDict() for row in rows] == [{"id": 1, "b": 2}]
    else:
        assert result.status == "error"
        assert f"Iceberg on {installed_line()} has no MERGE WITH SCHEMA EVOLUTION: nothing is written" in result.message
        assert rows == []
