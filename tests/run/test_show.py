"""`show`: the queries that it sends, on the fake engine, and what the command prints."""

import json

import pytest

from merge_runner import Project
from merge_runner.cli.host import Host
from merge_runner.cli.main import main
from merge_runner.errors import ProblemsError
from tests.fake_engine import FakeDriver, Lake, Starts
from tests.fake_engine.projects import model_files

FILES = {
    **model_files({"fct": None, "big": {"materialized": "table", "parents": ["fct"]}}),
    "models/stg.sql": "{{ config(materialized='view') }}\nselect id from {{ ref('fct') }} -- all\n",
    "models/part.sql": "{{ config(materialized='ephemeral') }}\nselect 1 as id",
    "models/sources.yml": "sources: [{name: raw, schema: lake, tables: [{name: r}]}]",
}
ROWS = [{"id": 1, "name": "a"}, {"id": 20, "name": None}]


@pytest.fixture
def shop(make_project):
    root, lake = make_project(FILES), Lake()
    assert Project.load(root).build("fct", lint=False, driver=FakeDriver(lake)).ok
    return root, FakeDriver(lake, answers={"select": ROWS})


@pytest.mark.parametrize(
    ("asked", "query"),
    [
        ({"select": "stg"}, "select id from SCHEMA.fct"),
        ({"select": "big"}, "-- depends_on: SCHEMA.fct\nselect 1L as id, 1L as times"),
        ({"select": "part"}, "select 1 as id"),
        ({"select": "source:raw.r"}, "SELECT * FROM lake.r"),
        ({"inline": "select * from {{ ref('fct') }};"}, "select * from SCHEMA.fct"),
        ({"inline": "select {{ var('n', 3) }}"}, "select 3"),
    ],
)
def test_a_query_is_limited_and_runs_whether_or_not_its_model_is_built(shop, asked, query):
    root, driver = shop
    project = Project.load(root)
    (shown,) = project.show(**asked, limit=7, driver=driver)
    schema = project.graph.nodes["model.shop.fct"].relation.schema
    sent = driver.statements[-1]
    assert sent.startswith("SELECT * FROM (\n")
    assert sent.endswith("\n) LIMIT 7")
    assert query.replace("SCHEMA", schema) in sent
    assert [row.dict() for row in shown.table] == ROWS
    assert not [
        text
        for text in driver.statements
        if not text.upper().startswith(("SELECT", "CREATE TABLE IF", "CREATE SCHEMA"))
    ]


def test_a_merge_shows_the_rows_of_each_clause(shop):
    root, driver = shop
    (shown,) = Project.load(root).show("fct", limit=2, driver=driver)
    assert [(clause.action, len(rows)) for clause, rows in shown.changes] == [("update", 2), ("insert", 2)]
    assert [(each["action"], each["when"]) for each in shown.as_json()["changes"]] == [
        ("update", "matched"),
        ("insert", "not_matched"),
    ]
    assert next(shown.lines(80)) == "fct: when matched, update: 2 rows"
    assert all("LIMIT 2" in text for text in driver.statements if " END = " in text)
    assert not [text for text in driver.statements if text.upper().startswith(("MERGE", "INSERT"))]


def test_a_merge_whose_table_is_not_there_cannot_be_shown(make_project):
    with pytest.raises(ProblemsError) as refused:
        Project.load(make_project(FILES)).show("fct", driver=FakeDriver())
    assert [(each.code, each.place.path) for each in refused.value.problems] == [("missing-input", "models/fct.sql")]


TABLE = """\
stg: 2 rows
| id | name |
| -- | ---- |
|  1 | a    |
| 20 | NULL |
"""


@pytest.mark.parametrize(
    ("words", "status", "out", "err"),
    [
        (["-s", "stg"], 0, TABLE, ""),
        (["-s", "stg", "--output", "json"], 0, {"node": "stg", "show": ROWS}, ""),
        (["--inline", "select 1", "--output", "json"], 0, {"show": ROWS}, ""),
        ([], 2, "", "give either --select"),
        (["-s", "stg", "--inline", "select 1"], 2, "", "give either --select"),
        (["--inline", "delete from x"], 2, "", "--inline:1:1: error: expected a query"),
        (["--inline", "select {{ nothing }}"], 2, "", '--inline:1:11: error: "nothing" is not defined'),
    ],
)
def test_the_command(shop, capfd, words, status, out, err):
    root, driver = shop
    with pytest.raises(SystemExit) as end:
        main(["show", *words, "--project-dir", str(root)], Host(start=Starts(driver)))
    shown = capfd.readouterr()
    assert end.value.code == status
    assert (json.loads(shown.out) if isinstance(out, dict) else shown.out) == out
    assert err in shown.err
