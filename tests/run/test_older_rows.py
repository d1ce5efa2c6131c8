"""Rows of an older text: builds, an edit, and what the tables say of it."""

import itertools
import json
from functools import partial
from textwrap import dedent

import pytest

from merge_runner import Project
from merge_runner.cli.main import main
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.engine.tables.introspect import record
from merge_runner.formats.lines import installed_line
from merge_runner.graph.model_text import OlderRows
from merge_runner.plan.layout.recordable_tables import recordable_tables
from tests.fake_engine import FakeDriver, Lake
from tests.written_project import write_files

FORMATS = [name for name in ("delta", "iceberg") if name in installed_line().formats]
NUMBERS = itertools.count()
ONCE = OlderRows(0, 1)
FCT = """
    {{ config(unique_key=['id']) }}
    merge into {{ this }} as t
    using (select id, {{ amount() }} as amount from {{ ref('numbers') }} {{ var('where', '') }}) as s on t.id = s.id
    when matched then update set amount = s.amount + t.amount when not matched then insert *
"""
FILES = {
    "models/numbers.sql": "{{ config(materialized='table') }} select * from values (1, 10), (2, 20) as v (id, n)",
    "macros/amount.sql": "{% macro amount() %}n{% endmacro %}\n",
    "models/fct.sql": FCT,
    "models/fct.yml": "models: [{name: fct, columns: [{name: id, data_type: int}, {name: amount, data_type: int}]}]\n",
    "models/totals.sql": "{{ config(materialized='table') }} select count(*) as n from {{ ref('fct') }}",
    "models/part.sql": "{{ config(materialized='ephemeral') }} select 1 as one",
}


def build(root, driver, **options):
    results = Project.load(root, **options).build(driver=driver, lint=False, reuse="off")
    assert results.ok, [result.message for result in results.results]


def rows_of(root):
    project = Project.load(root)
    rows = project.older_rows(project.graph.nodes)
    return {node.name: rows.get(unique_id) for unique_id, node in project.graph.nodes.items()}


def selected(root):
    return [unique_id.rpartition(".")[2] for unique_id in Project.load(root).select("state:older-rows").ids]


def printed(capsys, arguments):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 0
    return capsys.readouterr().out.splitlines()


def edit(root):
    write_files(root, {"macros/amount.sql": "{% macro amount() %}n * 2{% endmacro %}\n"})


def check_history(root, driver, commits_of=None):
    """Build, edit, build, refresh: the counts after each; `commits_of` returns what is recorded of a project."""
    assert rows_of(root) == {"numbers": None, "fct": None, "totals": None, "part": None}
    assert selected(root) == []
    for _ in range(2):
        build(root, driver)
    assert rows_of(root) == {"numbers": ONCE, "fct": OlderRows(0, 2), "totals": ONCE, "part": None}
    edit(root)
    assert rows_of(root)["fct"] == OlderRows(2, 2)
    build(root, driver)
    assert rows_of(root) == {"numbers": ONCE, "fct": OlderRows(2, 3), "totals": ONCE, "part": None}
    assert selected(root) == ["fct"]
    if commits_of is not None:
        of_models = {name: {f"model.shop.{name}": [1]} for name in ("numbers", "totals")}
        assert commits_of(root) == {**of_models, "fct": {"model.shop.fct": [1, 2]}}
    build(root, driver, full_refresh=True)
    assert rows_of(root)["fct"] == OlderRows(0, 1)
    assert selected(root) == []


@pytest.mark.spark
@pytest.mark.parametrize("table_format", FORMATS)
def test_history_of_a_table(make_project, driver, spark, table_format):
    profile = f"master: 'local[2]', schema: older{next(NUMBERS)}"
    if table_format == "iceberg":
        warehouse = spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")
        profile = profile.replace("schema: ", "schema: lake.")
        profile += f", warehouse: {warehouse}, catalogs: {{lake: {{type: embedded}}}}"
    files = {**FILES, "profiles.yml": f"shop: {{outputs: {{dev: {{{profile}}}}}}}\n"}
    root = make_project(files, table_format=table_format)
    check_history(root, driver, partial(recorded, driver))


def recorded(driver, root):
    """What a recorded catalog has of the commits of each table, without the hashes."""
    with driver.session() as session:
        tables = record(session, Catalog(driver.table_format), recordable_tables(Project.load(root).prepared)).tables
    return {
        table.name.rpartition(".")[2].strip("`"): {
            node: sorted(counts.values()) for node, counts in table.commits.items()
        }
        for table in tables
    }


def test_history_on_the_fake_engine(make_project):
    check_history(make_project(FILES), FakeDriver(Lake()))


@pytest.fixture
def edited(make_project):
    """A project of which one model has rows of an older text."""
    root = make_project(FILES)
    driver = FakeDriver(Lake())
    build(root, driver)
    edit(root)
    build(root, driver)
    return root, driver


def test_ls_counts_where_it_is_asked(edited, monkeypatch, capsys):
    root, driver = edited
    monkeypatch.chdir(root)
    keys = ["ls", "--output", "json", "--output-keys", "name", "older_rows"]
    for of in (2, 3):  # the second answer is not the first one, which `ls` would keep
        lines = [json.loads(line) for line in printed(capsys, keys)]
        assert {line["name"]: line["older_rows"] for line in lines} == {
            "numbers": {"older": 0, "of": 1, "unknown": 0},
            "fct": {"older": 1, "of": of, "unknown": 0},
            "totals": {"older": 0, "of": 1, "unknown": 0},
            "part": None,
        }
        build(root, driver)
    assert "older_rows" not in "".join(printed(capsys, ["ls", "--output", "json"]))
    assert printed(capsys, ["ls", "-s", "state:older-rows+"]) == ["fct", "totals"]


def test_a_var_is_no_other_text(make_project):
    root, driver = make_project(FILES), FakeDriver(Lake())
    build(root, driver)
    build(root, driver, vars={"where": "where id > 1"})
    assert rows_of(root)["fct"] == OlderRows(0, 2)


RECORDED = """
    version: 1
    tables:
    - name: far.shop.fct
      commits: {model.shop.fct: {b51c0d2e8f7a9461: 4, unknown: 1}, model.shop.totals: {b51c0d2e8f7a9461: 9}}
"""


def test_what_is_recorded_counts_where_no_file_says_it(make_project):
    profiles = "shop: {outputs: {dev: {schema: far.shop, catalogs: {far: {type: rest, uri: 'http://localhost:1'}}}}}\n"
    root = make_project({**FILES, "profiles.yml": profiles}, table_format="iceberg")
    assert set(rows_of(root).values()) == {None}
    write_files(root, {"catalog.yml": dedent(RECORDED)})
    assert rows_of(root) == {"numbers": None, "fct": OlderRows(4, 5, 1), "totals": None, "part": None}
    assert selected(root) == ["fct"]


def test_what_is_recorded_does_not_count_where_files_say_it(make_project):
    root = make_project({**FILES, "catalog.yml": RECORDED.replace("far.", "")})
    assert set(rows_of(root).values()) == {None}


def test_explain_and_the_page_say_it(edited):
    project = Project.load(edited[0])
    explanation = project.explain()
    words = "1 of 2 commits were made by an older text; diff --rebuild shows whether it matters"
    assert [line.strip() for line in explanation.lines() if "older text" in line] == [words]
    entries = {entry["name"]: entry["older_rows"] for level in explanation.as_json()["levels"] for entry in level}
    assert entries["fct"] == {"older": 1, "of": 2, "unknown": 0}
    assert entries["totals"] == {"older": 0, "of": 1, "unknown": 0}
    assert project.docs(static=True).exists()
