"""What the changed rows of a table can change, on the fake engine: cases from changed_rows.yml."""

import json
import re
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest

from merge_runner import Project
from merge_runner.engine.merge.changed_rows import ChangedRows, ConfinedColumn, ConfinedRows, over_confined_failures
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.model_tests import RunTest
from merge_runner.run.reuse.changed_rows import Unchanged, effect, keeps_to_its_rows
from merge_runner.run.reuse.eligible import inputs_of
from merge_runner.run.reuse.stored_state import stored_input
from tests.fake_engine.driver import FakeDriver
from tests.fake_engine.faults import Faults
from tests.fake_engine.lake import Lake, Table
from tests.fake_engine.session import FakeSession
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("changed_rows.yml"))
TYPES = {"id": "bigint", "n": "bigint", "day": "date", "note": "string"}
YML = """
version: 2
sources:
  - name: raw
    tables:
      - {name: orders, path: data/orders, format: delta, columns: [{name: id, data_type: bigint}]}
      - {name: items, path: data/items, format: delta, columns: [{name: day, data_type: date}]}
      - {name: again, path: data/items/../orders, format: delta, columns: [{name: id, data_type: bigint}]}
models: [{name: m, columns: [{name: day, data_type: date}, {name: n, data_type: bigint}]}]
"""
MERGE = (
    "{{ config(reuse='partitions', bounds='off', skip_unchanged='off') }}\n"
    "merge into {{ this }} as t using (USING) as s on t.day = s.day\n"
    "when matched and s.n <> t.n then update set * when not matched then insert * CLAUSE"
)


@pytest.fixture(autouse=True)
def reusing(monkeypatch):
    monkeypatch.delenv("MERGE_RUNNER_REUSE")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.get("using", case.get("sql")))
def test_case(make_project, case):
    text = case.get("sql") or MERGE.replace("USING", case["using"]).replace("CLAUSE", case.get("clause", ""))
    for name in ("orders", "items", "again"):
        text = text.replace(name.upper(), f"{{{{ source('raw', '{name}') }}}}")
    root = make_project({"models/m.yml": YML, "models/m.sql": text})
    driver = FakeDriver(Lake(), answers=answers(case))
    prepared = Project.load(root).prepared
    for name, folder in (("orders", "orders"), ("items", "items"), ("again", "orders")):
        commit(root / "data" / folder, 0)
        relation = prepared.graph.nodes[f"source.shop.raw.{name}"].relation
        table = f"{relation.schema}.{relation.identifier}"
        driver.lake.tables[table] = Table(table, TYPES, {}, root / "data" / folder)
    build(root, driver)
    commit(root / "data/orders", 1, case.get("columns", "{}"), case.get("size", 100), case.get("mapping", "none"))
    if case.get("other"):
        commit(root / "data/items", 1)
    driver.answers["SELECT (s.day) AS b0"] = {"b0": case.get("source", "date")}
    if case.get("fails"):
        driver.faults = Faults({"SELECT c0": ["fails"]})
    before, found = len(driver.statements), build(root, driver)
    ran = [each for each in driver.statements[before:] if each.lstrip().lower().startswith(("merge", "create or"))]
    if case.get("left out"):
        assert (found.status, found.message) == ("no-op", "raw.orders changed in no column that it reads")
        assert not ran
        assert build(root, driver).message.startswith("inputs unchanged since version")
        return
    assert (found.status, len(ran)) == ("success", 1)
    assert (" AS s on (t.day" in ran[0]) is ("only" in case)
    if "only" in case:
        on = f"(t.day = s.day\n) AND {case['only'].replace('(s.day)', 't.day')}\n"
        assert f" as s\nWHERE {case['only']}) AS s on {on}" in ran[0]
    said = found.message + "".join(found.warnings)
    assert case.get("whole", case.get("refused", "")) in said
    assert "source" in case or build(root, driver).status == "no-op"


def test_a_change_that_is_taken_back_after_it_was_read(make_project):
    using = "select day, sum(n) as n from {{ source('raw', 'orders') }} group by day"
    root = make_project({"models/m.yml": YML, "models/m.sql": MERGE.replace("USING", using).replace("CLAUSE", "")})
    orders = root / "data/orders"
    driver = FakeDriver(Lake(), answers=answers({"rows": []}))
    driver.lake.tables["raw.orders"] = Table("raw.orders", TYPES, {}, orders)
    commit(orders, 0)
    build(root, driver)

    def change(_session, text):
        if text.lstrip().startswith("merge"):
            commit(orders, 2)

    commit(orders, 1)
    assert build(root, driver).message == "raw.orders changed in no column that it reads"
    driver.observe = change
    (root / "models/m.sql").write_text((root / "models/m.sql").read_text() + " -- another text")
    build(root, driver)
    driver.observe = lambda *_: None
    commit(orders, 3)
    assert build(root, driver).status == "success"
    assert build(root, driver).status == "no-op"


@pytest.mark.parametrize(("more", "asks"), [("", False), (" and t.n = s.n", True)], ids=["all keys", "one of two keys"])
def test_rows_without_a_change_are_not_looked_for_among_few_rows(make_project, more, asks):
    text = MERGE.replace("USING", "select day, sum(n) as n from {{ source('raw', 'orders') }} group by day")
    text = text.replace("CLAUSE", "").replace("skip_unchanged='off'", "skip_unchanged='auto'")
    text = text.replace("on t.day = s.day", f"on t.day = s.day{more}")
    root = make_project({"models/m.yml": YML, "models/m.sql": text})
    rows = [[1, 5, date(2024, 1, 2), "a", -1], [1, 6, date(2024, 1, 2), "a", 1]]
    both_keys = {"SELECT (s.day) AS b0, (s.n) AS b1": {"b0": "date", "b1": "bigint"}}
    driver = FakeDriver(Lake(), answers=both_keys | answers({"rows": rows}))
    driver.lake.tables["raw.orders"] = Table("raw.orders", TYPES, {}, root / "data/orders")
    commit(root / "data/orders", 0)
    assert "skip_unchanged" in build(root, driver).adapter_response
    commit(root / "data/orders", 1)
    assert ("skip_unchanged" in build(root, driver).adapter_response) is asks
    assert "IN (DATE '2024-01-02')" in driver.statements[-1]


def build(root, driver):
    results = Project.load(root).build(driver=driver, lint=False, reuse="auto").results
    return next(result for result in results if result.unique_id == "model.shop.m")


def commit(folder, version, columns="{}", size=100, mapping="none"):
    actions = [{"commitInfo": {"operation": "WRITE", "txnId": f"{version}"}}]
    actions += [{"add": {"path": f"{version}", "partitionValues": {}, "size": size, "dataChange": True}}]
    (folder / "_delta_log").mkdir(parents=True, exist_ok=True)
    name = folder / "_delta_log" / f"{version:020}"
    name.with_suffix(".json").write_text("".join(json.dumps(each) + "\n" for each in actions))
    metadata = {"schemaString": columns, "configuration": {"delta.columnMapping.mode": mapping}}
    name.with_suffix(".crc").write_text(json.dumps({"metadata": metadata, "tableSizeBytes": size}))


def answers(case):
    types = TYPES | case.get("types", {})
    rows = [
        {f"c{place}": str(value) if isinstance(value, (int, date)) else value for place, value in enumerate(row)}
        for row in case["rows"] * case.get("times", 1)
    ]
    return {
        "SELECT * FROM delta.": types,
        "SELECT c0": rows,
        "SELECT (s.day) AS b0": {"b0": "date"},
        "SELECT 1 FROM": [],
    }


@pytest.mark.parametrize(
    ("kind", "values", "literals"),
    [
        ("string", ("${env:HOME}", "a"), "(CAST(X'247b656e763a484f4d457d' AS STRING), 'a')"),
        ("date", ("2024-01-02", "+12024-01-02"), None),
        ("boolean", ("true",), "(true)"),
        ("char(2)", ("a ",), None),
    ],
)
def test_values_of_changed_rows_are_literals_that_no_setting_changes(kind, values, literals):
    assert ConfinedColumn("c", "s.c", "c", kind, values).literals() == literals


def test_a_value_is_named_as_a_person_reads_it():
    assert str(ConfinedColumn("c", "s.c", "c", "date", ("2024-01-02", "2024-01-03"))) == "c=2024-01-02 and 1 more"
    named = "c=TIMESTAMP '1970-01-01 00:00:00.000001Z'"
    assert str(ConfinedColumn("c", "s.c", "c", "timestamp", ("1",))) == named


@pytest.mark.parametrize(
    ("kind", "query"),
    [
        ("date", "SELECT * FROM (select day from raw.orders\n) WHERE day IN (DATE '2024-01-02')"),
        ("string", None),
        ("timestamp", None),
    ],
)
def test_a_data_test_over_the_rows_that_may_fail(make_project, kind, query):
    root = make_project(
        {
            "models/m.sql": "select 1 as n",
            "models/m.yml": YML,
            "tests/t.sql": "select day from {{ source('raw', 'orders') }}",
        }
    )
    plan = Planner(Project.load(root).prepared, "").plan("test.shop.t")
    (step,) = (step for step in plan.steps if isinstance(step, RunTest))
    driver = FakeDriver(Lake(), answers={"SELECT day FROM (": {"day": kind}})
    rows = ConfinedRows((ConfinedColumn("day", "day", "", "date", ("2024-01-02",)),))
    found = over_confined_failures(step, rows, SimpleNamespace(session=FakeSession(driver, {})))
    assert (found if isinstance(found, str) else found.sql) == (
        query or "day has another type than where it comes from"
    )


CARRIED = "select g.day, count(*) as n from (select day from ORDERS union all select a.day from {{ this }} as a) as g group by g.day"
BOTH = "when matched then update set * when not matched then insert *"


@pytest.mark.parametrize(
    ("using", "clauses", "keeps"),
    [
        (CARRIED, BOTH, True),
        (CARRIED, "when matched and s.n = 0 then delete when matched then update set n = s.n", True),
        (CARRIED, "when not matched then insert (day, n) values (s.day, s.n)", True),
        (CARRIED, "when not matched then insert (n) values (s.n)", False),
        (CARRIED, "when not matched then insert (day, n) values (date'2024-01-01', s.n)", False),
        (CARRIED, "when matched then update set day = date_add(s.day, 1)", False),
        ("select max(day) as day, count(*) as n from {{ this }}", BOTH, False),
        ("select day, (select max(n) from {{ this }}) as n from ORDERS", BOTH, False),
        ("select day, n from ORDERS where n > (select max(n) from {{ this }})", BOTH, False),
        ("select o.day, o.n from ORDERS as o join {{ this }} as a on a.n = o.n", BOTH, False),
        ("select o.day, a.n from ORDERS as o left join {{ this }} as a on a.day = o.day", BOTH, True),
        (
            "select o.day, a.n from ORDERS as o join {{ this }} as a on a.day = o.day join OWN as b on b.n = o.n",
            BOTH,
            False,
        ),
        (
            "select o.day, a.n from ORDERS as o join {{ this }} as a on a.n = o.n join OWN as b on b.day = o.day",
            BOTH,
            False,
        ),
    ],
)
def test_a_merge_over_some_rows_leaves_what_the_others_depend_on(make_project, using, clauses, keeps):
    text = f"merge into {{{{ this }}}} as t using ({using}) as s on t.day = s.day {clauses}"
    text = text.replace("ORDERS", "{{ source('raw', 'orders') }}").replace("OWN", "{{ source('raw', 'own') }}")
    root = make_project({"models/m.sql": text})
    schema = re.search(r"schema: (\w+)", (root / "profiles.yml").read_text())[1]
    own = f"\n      - {{name: own, path: warehouse/{schema}/m, format: delta}}\nmodels:"
    (root / "models/m.yml").write_text(YML.replace("\nmodels:", own))
    prepared = Project.load(root).prepared
    plan = Planner(prepared, "").plan("model.shop.m")
    (step,) = (step for step in plan.steps if isinstance(step, RunMerge))
    rows = ConfinedRows((ConfinedColumn("day", "s.day", "day", "date", ("2024-01-02",)),))
    assert keeps_to_its_rows(plan, prepared, step, rows) is keeps


ADDED = ((("1", "5", "2024-01-02", "a"), 1),)
NOTED = ((("1", "5", "2024-01-02", "a"), -1), (("1", "5", "2024-01-02", "b"), 1))


@pytest.mark.parametrize(
    ("query", "rows", "found"),
    [
        ("select id, day from ORDERS where n < 0", ADDED, "id=1, day=2024-01-02"),
        ("select id, day from ORDERS where n < 0", NOTED, "unchanged"),
        ("select * from ORDERS where n < 0", NOTED, "id=1, n=5, day=2024-01-02, note=a and 1 more"),
        ("select day, count(*) as c from ORDERS group by day having count(*) > 1", ADDED, "day=2024-01-02"),
        ("select day from ORDERS", ((("1", "5", None, "a"), 1),), "no column shows which of its failures may be new"),
        ("select max(day) as day from ORDERS", ADDED, "no column shows which of its failures may be new"),
        ("{{ config(fail_calc='sum(n)') }} select n from ORDERS", ADDED, "it passes with some failures"),
        ("{{ config(error_if='> 3') }} select n from ORDERS", ADDED, "it passes with some failures"),
    ],
)
def test_new_failures_of_a_data_test_have_the_values_of_changed_rows(make_project, query, rows, found):
    text = query.replace("ORDERS", "{{ ref('orders') }}")
    model = "{{ config(materialized='table') }} select 1 as id"
    prepared = Project.load(make_project({"models/orders.sql": model, "tests/t.sql": text})).prepared
    plan = Planner(prepared, "").plan("test.shop.t")
    (item,) = inputs_of(plan)
    stored, states = stored_input(item, prepared), []
    for version in (0, 1):
        commit(Path(json.loads(stored.path)[1]), version)
        states.append({str(stored): stored.state()})
    effected = effect(plan, prepared, *states, lambda *_: ChangedRows(TYPES, tuple(TYPES), rows))
    assert ("unchanged" if isinstance(effected, Unchanged) else str(effected)) == found
