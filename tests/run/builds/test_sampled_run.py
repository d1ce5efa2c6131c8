"""Runs with `--empty` and `--sample` never write a table that holds rows of another run."""

import pytest

from merge_runner import Project
from merge_runner.cli.host import Host
from merge_runner.cli.main import main
from tests.fake_engine import FakeDriver, Lake, Starts
from tests.fake_engine.projects import model_files

FILES = model_files({"fct": {}, "tab": {"parents": ["fct"], "materialized": "table"}, "seen": {"materialized": "view"}})


@pytest.fixture
def shop(make_project):
    root, lake = make_project(FILES), Lake()

    def run(full_refresh=False, **options):
        project = Project.load(root, full_refresh=full_refresh)
        results = project.build(lint=False, driver=FakeDriver(lake), threads=1, **options)
        return {each.unique_id.split(".")[2]: f"{each.status} {each.message or ''}".strip() for each in results.results}

    run.root, run.lake = root, lake
    return run


WRITTEN = {"fct": "success", "seen": "success", "tab": "success"}


def short(results):
    return {name: text.partition(" ")[0] for name, text in results.items()}


@pytest.mark.parametrize("option", [{"empty": True}, {"sample": "3 days"}])
def test_tables_with_rows_are_not_written(shop, option):
    assert short(shop()) == WRITTEN
    before = {name: len(shop.lake[name].commits) for name in ("fct", "tab")}
    results = shop(**option)
    name = "--empty" if "empty" in option else "--sample"
    assert short(results) == {**WRITTEN, "fct": "error", "tab": "skipped"}
    assert f"holds rows of another run, and {name} would replace or delete them" in results["fct"]
    assert "a separate schema" in results["fct"]
    assert "error" in short(shop(select="tab", **option))["tab"]
    assert {name: len(shop.lake[name].commits) for name in before} == before


def test_its_own_tables_are_written_again_and_no_other_run_adds_to_them(shop):
    assert short(shop(sample="3 days")) == WRITTEN
    assert short(shop(sample="1 month")) == WRITTEN
    results = shop()
    assert short(results) == {**WRITTEN, "fct": "error", "tab": "skipped"}
    assert "has rows, and it was made by a run with --sample '3 days'" in results["fct"]
    assert short(shop(full_refresh=True)) == WRITTEN
    assert short(shop(sample="3 days"))["fct"] == "error"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--empty", "--sample", "3 days"], "give one of them"),
        (["--empty", "--batch-id", "7"], "would record the batch without its rows"),
        (["--sample", "1 hour", "--branch", "b"], "--branch those that exist"),
        (["--sample", "3 weeks"], "is no window"),
        (["--diff", "--branch", "b"], "--diff compares with main before the run"),
    ],
)
@pytest.mark.parametrize("command", ["build", "run"])
def test_what_does_not_go_together(shop, capsys, command, arguments, says):
    with pytest.raises(SystemExit) as ended:
        main([command, *arguments, "--project-dir", str(shop.root)], Host(start=Starts(FakeDriver(shop.lake))))
    assert ended.value.code == 2
    assert says in " ".join(capsys.readouterr().err.split())
    assert "fct" not in shop.lake


def test_retry_is_sampled_as_well(shop):
    driver = FakeDriver(shop.lake, faults={"tab": ["fails"]})
    assert not Project.load(shop.root).build(lint=False, driver=driver, empty=True, threads=1).ok
    again = Project.load(shop.root).retry(driver=FakeDriver(shop.lake))
    assert again is not None
    assert again.args["empty"] is True
    assert short({each.unique_id.split(".")[2]: each.status for each in again.results}) == {"tab": "success"}


EVENTS = {
    "models/all.yml": """
        version: 2
        sources:
          - name: raw
            tables:
              - name: event
                path: events.csv
                format: csv
                options: {header: "true"}
                columns: [{name: id, data_type: bigint}, {name: at, data_type: timestamp}]
                config: {event_time: at}
        models:
          - name: fct
            columns: [{name: id, data_type: bigint}, {name: at, data_type: timestamp}]
          - {name: days, columns: [{name: day, data_tests: [unique, not_null]}]}
    """,
    "models/stg.sql": "select id, at from {{ source('raw', 'event') }}",
    "models/fct.sql": """
        {{ config(scan='full') }}
        merge into {{ this }} as t
        using (
            select id, at from {{ ref('stg') }}
            {% if is_incremental() %} where at > (select max(at) from {{ this }}) {% endif %}
        ) as s
        on t.id = s.id
        when matched then update set *
        when not matched then insert *
        when not matched by source then delete
    """,
    "models/days.sql": "{{ config(materialized='table') }} select cast(at as date) as day, count(*) as n from {{ ref('fct') }} group by 1",
    "tests/none.sql": "select * from {{ ref('days') }} where n > 9",
    "events.csv": "id,at\n1,2026-01-01T10:00:00Z\n2,2026-01-02T10:00:00Z\n3,2026-01-03T10:00:00Z\n",
}


def events(table_format):
    """Return the project; the Iceberg catalog of tests has no views."""
    if table_format == "delta":
        return EVENTS
    return {**EVENTS, "models/stg.sql": f"{{{{ config(materialized='ephemeral') }}}} {EVENTS['models/stg.sql']}"}


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("table_format", ["delta", pytest.param("iceberg", marks=pytest.mark.nightly)])
def test_rows_on_an_engine(make_project, driver, table_format):
    root = make_project(events(table_format), table_format)

    def build(full_refresh=False, **options):
        project = Project.load(root, full_refresh=full_refresh)
        results = project.build(driver=driver, lint=False, **options)
        table = project.graph.nodes["model.shop.fct"].relation
        ids = sorted(row.id for row in driver.spark.table(str(table)).collect())
        return {each.unique_id.split(".")[2]: each for each in results.results}, ids

    results, ids = build(empty=True)
    assert ({each.status for each in results.values()}, ids) == ({"success", "pass"}, [])
    results, ids = build(sample="{start: 2026-01-02, end: '2026-01-03 00:00:00'}")
    assert ({each.status for each in results.values()}, ids) == ({"success", "pass"}, [2])
    refused, ids = build()
    assert (refused["fct"].status, refused["days"].status, ids) == ("error", "skipped", [2])
    results, ids = build(full_refresh=True)
    assert ({each.status for each in results.values()}, ids) == ({"success", "pass"}, [1, 2, 3])
    for options in ({"empty": True}, {"sample": "3 days"}, {"empty": True, "select": "days"}):
        refused, ids = build(**options)
        statuses = {each.status for name, each in refused.items() if name in ("fct", "days")}
        assert (statuses <= {"error", "skipped"}, ids) == (True, [1, 2, 3])


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("table_format", [pytest.param("delta", marks=pytest.mark.nightly), "iceberg"])
def test_an_empty_run_is_no_first_run(make_project, driver, table_format):
    root = make_project(events(table_format), table_format)
    assert Project.load(root).build("+fct", driver=driver, lint=False, empty=True).ok
    results = Project.load(root).build("+fct", driver=driver, lint=False)
    response = results["fct"].adapter_response
    assert (response["is_incremental"], response["rows_inserted"]) == (False, 3)
