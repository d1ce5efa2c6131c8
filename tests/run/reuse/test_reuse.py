"""Which nodes a build leaves out, and what it says of them: a history of one project, and what `explain` says before it."""

import json
import logging
import os
import shutil
import time

import pytest

from merge_runner import Project

_LOG = logging.getLogger(__name__)
FILES = {
    "models/raw.yml": """
        version: 2
        sources:
          - name: raw
            tables:
              - {name: orders, path: data/orders.csv, format: csv, options: {header: true},
                 columns: [{name: id, data_type: bigint}, {name: amount, data_type: int}, {name: day, data_type: date}]}
        models:
          - {name: stg, columns: [{name: id, data_tests: [not_null]}]}
          - {name: fct, columns: [{name: id, data_type: bigint}, {name: amount, data_type: int}, {name: day, data_type: date}]}
          - {name: total, columns: [{name: n, data_type: bigint}, {name: amount, data_type: bigint}]}
          - {name: summed, columns: [{name: n, data_type: int}, {name: amount, data_type: bigint}]}
        unit_tests:
          - name: adds
            model: daily
            given: [{input: ref('fct'), rows: [{id: 1, amount: 2, day: 2024-01-01}]}]
            expect: {rows: [{day: 2024-01-01, amount: 2}]}
    """,
    "data/orders.csv": "id,amount,day\n1,10,2024-01-01\n2,20,2024-01-02\n",
    "seeds/code.csv": "code,name\nA,amber\n",
    "models/stg.sql": "{{ config(materialized='view') }} select * from {{ source('raw', 'orders') }}",
    "models/fct.sql": """
        merge into {{ this }} as t
        using (select id, max(amount) as amount, max(day) as day from {{ ref('stg') }} group by id) as s on t.id = s.id
        when matched and s.amount <> t.amount then update set *
        when not matched then insert *
    """,
    "models/daily.sql": "{{ config(materialized='table') }} select day, sum(amount) as amount from {{ ref('fct') }} group by day",
    "models/clock.sql": "{{ config(materialized='table') }} select current_timestamp() as now from {{ ref('code') }}",
    "models/today.sql": "{{ config(materialized='table') }} select current_date() as today",
    "models/hooked.sql": "{{ config(materialized='table', post_hook='select 1') }} select * from {{ ref('code') }}",
    "models/rare.sql": "{{ config(materialized='table', build_after={'count': 1, 'period': 'day'}) }} select count(*) as n from {{ ref('code') }}",
    "models/kept.sql": "{{ config(materialized='table', reuse='off') }} select * from {{ ref('code') }}",
    "models/total.sql": """
        merge into {{ this }} as t using (select 1 as n, sum(amount) as amount from {{ ref('fct') }}) as s on t.n = s.n
        when matched then update set amount = t.amount + s.amount
        when not matched then insert *
    """,
    "models/summed.sql": """
        merge into {{ this }} as t using (select 1 as n, sum(amount) as amount from {{ ref('fct') }}) as s on t.n = s.n
        when matched then update set amount = s.amount
        when not matched then insert *
    """,
    "tests/positive.sql": "select * from {{ ref('fct') }} where amount < 0",
}
ALWAYS = {"clock", "today", "hooked", "kept", "total"}
"""Those that run in every build; their reasons are in WHY."""
WHY = {
    "clock": "would run: its query may read the clock",
    "hooked": "would run: its hooks may do anything",
    "kept": "would run: its config says `reuse: off`",
    "today": "would run: its query may read the clock",
    "total": "would run: a second run would change rows",
}


@pytest.fixture
def reusing(monkeypatch):
    monkeypatch.delenv("MERGE_RUNNER_REUSE")


class Shop:
    """A project that is built again and again."""

    def __init__(self, root, driver=None):
        self.root = root
        self.driver = driver
        self.clock = 1_700_000_000
        for path in root.rglob("*"):
            self.date(path)

    def date(self, path):
        self.clock += 1
        os.utime(path, (self.clock, self.clock))  # what was written just now is not known by its time

    def write(self, path, text):
        (self.root / path).write_text(text)
        self.date(self.root / path)

    def replace(self, path, old, new):
        text = (self.root / path).read_text()
        assert old in text
        self.write(path, text.replace(old, new))

    def build(self, **given):
        project = Project.load(self.root, vars=given.pop("vars", None), full_refresh=given.pop("full_refresh", False))
        results = project.build(driver=self.driver, lint=False, **given).results
        assert {result.status for result in results} <= {"success", "pass", "no-op"}, [
            str(each.message) for each in results
        ]
        return {project.graph.nodes[result.unique_id].name: result for result in results}

    def ran(self, **given):
        """The names of the nodes that a build of all but those that always run does run.

        What was known of each is logged, which pytest shows with the time where a test fails.
        """
        path = self.root / "target/reuse.json"
        known = json.loads(path.read_text())["records"] if path.exists() else {}
        built = self.build(**{"exclude": tuple(ALWAYS), **given})
        ran = {name: result for name, result in built.items() if result.status != "no-op"}
        for result in ran.values():
            _LOG.warning("%s ran, known was %s", result.unique_id, known.get(result.unique_id))
        return set(ran)

    def reasons(self):
        """What explain says of each model."""
        explained = Project.load(self.root).explain()
        return {node.name: str(node.reuse) for level in explained.levels for node in level if not node.is_test}


@pytest.mark.spark
@pytest.mark.nightly
def test_a_history(make_project, driver, spark, reusing):
    shop = Shop(make_project(FILES), driver)
    assert set(shop.reasons().values()) - set(WHY.values()) >= {"would run: no earlier run of it is known"}
    results = shop.build()
    everything = {name for name, result in results.items() if result.status != "no-op"}
    assert everything >= ALWAYS | {"stg", "fct", "daily", "summed", "code", "positive", "adds"}
    results = shop.build()
    assert {name for name, result in results.items() if result.status != "no-op"} == ALWAYS
    assert (
        results["fct"].message == f"inputs unchanged since version {results['fct'].adapter_response['table_version']}"
    )
    assert results["fct"].adapter_response["rows_affected"] == 0
    reasons = shop.reasons()
    assert {name: reasons[name] for name in WHY} == WHY
    assert reasons["daily"].startswith("would be left out: inputs unchanged since version")
    loaded = Project.load(shop.root)
    assert {loaded.graph.nodes[node].name for node in loaded.select("state:inputs").ids} == ALWAYS

    # A row of a file: the view is what it was, and all that reads the rows runs.
    shop.write("data/orders.csv", "id,amount,day\n1,10,2024-01-01\n2,21,2024-01-02\n")
    assert shop.reasons()["fct"].endswith("raw.orders has changed")
    assert shop.reasons()["daily"] == "would run: fct, which it reads, would run"
    assert shop.ran() == {"fct", "daily", "summed", "positive", "not_null_stg_id"}

    # Another time of the file is another file; the merge changes nothing, and its readers stay.
    shop.date(shop.root / "data/orders.csv")
    assert shop.ran() == {"fct", "not_null_stg_id"}

    # A text, a seed, a unit test, a config.
    shop.replace("models/daily.sql", "sum(amount)", "max(amount)")
    shop.write("seeds/code.csv", "code,name\nA,amber\nB,blue\n")
    shop.replace("models/summed.sql", "merge into", "{{ config(properties={'mine': 'x'}) }} merge into")
    reasons = shop.reasons()
    assert reasons["rare"].startswith("would be left out: `build_after`: it waits until ")
    assert reasons["summed"] == "would run: its config has changed"
    assert shop.ran() == {"daily", "adds", "code", "summed"}
    assert shop.reasons()["rare"].startswith("would be left out: `build_after`: it waits until ")
    shop.replace("models/raw.yml", "{id: 1, amount: 2, day", "{id: 7, amount: 2, day")
    assert shop.ran() == {"adds"}

    # Other writers: of rows, of properties, of nothing but files.
    schema = Project.load(shop.root).graph.nodes["model.shop.fct"].relation.schema
    spark.sql(f"delete from {schema}.fct where id = 2")
    assert shop.reasons()["fct"] == "would run: its table has been changed by another writer"
    assert shop.ran() == {"fct", "daily", "summed", "positive"}
    spark.sql(f"optimize {schema}.fct")
    spark.sql(f"vacuum {schema}.fct")
    spark.sql(f"drop table {schema}.daily")  # the folder is the table, and stays
    assert shop.ran() == set()
    shutil.rmtree(shop.root / f"warehouse/{schema}/daily")
    assert shop.ran() == {"daily"}

    # What asks for a run.
    assert shop.ran(select="code", reuse="fresh") == {"code"}
    assert shop.ran(select="code") == set()
    assert shop.ran(select="code", reuse="off") == {"code"}
    assert shop.ran(select="code", batch_id=1) == {"code"}
    assert shop.ran(select="fct", full_refresh=True) >= {"fct"}


class NoDriver:
    """Says that a driver was asked for."""

    def __init__(self):
        self.asked = False

    def __call__(self, prepared, events):
        from merge_runner.run.execution.driver_scope import starting_driver

        starting = starting_driver(prepared, events)

        def asked():
            self.asked = True
            raise AssertionError("a driver was asked for")

        starting.launch = starting.driver = asked
        return starting


@pytest.mark.spark
def test_no_spark_is_started_where_nothing_has_changed(make_project, driver, reusing, capsys):
    from merge_runner.cli.host import Host
    from merge_runner.cli.main import main

    files = {path: text for path, text in FILES.items() if path.rpartition("/")[2].removesuffix(".sql") not in ALWAYS}
    files["models/raw.yml"] = files["models/raw.yml"].replace("- {name: total,", "# ")
    shop = Shop(make_project(files), driver)
    shop.build()
    start = NoDriver()
    with pytest.raises(SystemExit) as ended:
        main(["build", "--no-lint", "--project-dir", str(shop.root)], Host(start=start))
    assert ended.value.code == 0
    assert not start.asked
    err = capsys.readouterr().err
    assert "nothing has changed for 9 nodes: Spark is not started" in err
    assert "9 no-op" in err
    kept = json.loads((shop.root / "target/run_results.json").read_text())
    assert {entry["status"] for entry in kept["results"]} == {"no-op"}
    # --no-reuse asks for it.
    with pytest.raises(SystemExit):
        main(["build", "--no-lint", "--no-reuse", "--project-dir", str(shop.root)], Host(start=start))
    assert start.asked


@pytest.mark.spark
def test_a_file_that_was_written_just_now_may_be_written_again(make_project, driver, reusing):
    shop = Shop(
        make_project(
            {path: FILES[path] for path in ("models/raw.yml", "data/orders.csv", "models/stg.sql", "models/fct.sql")}
        ),
        driver,
    )
    shop.write("models/raw.yml", FILES["models/raw.yml"].partition("          - {name: total")[0])
    (shop.root / "data/orders.csv").touch()
    results = shop.build()
    if time.time() - (shop.root / "data/orders.csv").stat().st_mtime < 1:
        assert shop.reasons()["fct"] == "would run: raw.orders was written just now, or cannot be read"
    assert results["fct"].status == "success"
