"""`reuse: partitions` over joins and aggregates: with it tables are what they are without, through edits of what they read."""

from random import Random

import pytest

from merge_runner import Project

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COLUMNS = {
    "orders": "{name: id, data_type: bigint}, {name: n, data_type: int}, {name: day, data_type: date}, {name: note, data_type: string}",
    "items": "{name: id, data_type: bigint}, {name: kind, data_type: string}, {name: day, data_type: date}",
    "sums": "{name: day, data_type: date}, {name: kind, data_type: string}, {name: n, data_type: bigint}, {name: rows, data_type: bigint}",
    "latest": "{name: id, data_type: bigint}, {name: n, data_type: int}, {name: day, data_type: date}, {name: kind, data_type: string}",
    "carried": "{name: day, data_type: date}, {name: rows, data_type: bigint}",
}
SOURCES = {
    "orders": "select 1L as id, 1 as n, date'2024-01-01' as day, 'a' as note",
    "items": "select id, concat('k', id % 3) as kind, date_add(date'2024-01-01', cast(id % 6 as int)) as day from range(40)",
}
MODELS = {
    "sums": """
        (select o.day, coalesce(i.kind, 'none') as kind, sum(o.n) as n, count(*) as rows
         from {{ ref('orders') }} as o left join {{ ref('items') }} as i on i.id = o.id group by o.day, i.kind) as s
        on t.day = s.day and t.kind = s.kind
        when matched and (t.n <> s.n or t.rows <> s.rows) then update set *
        when not matched then insert *
    """,
    "latest": """
        (select r.id, r.n, r.day, r.kind from (
           select i.id, o.n, i.day, i.kind, row_number() over (partition by i.id, i.day order by o.n desc, o.note) as nth
           from {{ ref('items') }} as i left join {{ ref('orders') }} as o on o.day = i.day and o.id % 4 = i.id % 4) as r
         where r.nth = 1) as s
        on t.day = s.day and t.id = s.id
        when matched and not (t.n <=> s.n and t.kind <=> s.kind) then update set *
        when not matched then insert *
    """,
    "carried": """
        (select g.day, count(g.id) as rows from (
           select o.day, o.id from {{ ref('orders') }} as o where o.n > 0
           union all select a.day, cast(null as bigint) as id from {{ this }} as a) as g group by g.day) as s
        on t.day = s.day
        when matched and s.rows = 0 then delete
        when matched and t.rows <> s.rows then update set *
        when not matched then insert *
    """,
}
EDITS = (
    "insert into {orders} select id, 1, date_add(date'2024-01-01', cast(id % 5 as int)), 'b' from range({k} * 10, {k} * 10 + 7)",
    "insert into {orders} select {k} * 10 + 8, 1, date'2024-02-01', null",
    "update {orders} set n = n + 1 where day = date'2024-01-02'",
    "update {orders} set n = -n where day = date'2024-01-03' and id % 2 = 0",
    "update {orders} set note = 'c' where id % 3 = 0",
    "update {orders} set day = null where id % 7 = 5",
    "update {orders} set day = date'2024-01-05' where id % 7 = 3",
    "delete from {orders} where day = date'2024-01-04'",
    "update {items} set kind = 'k9' where id % 5 = {k} % 5",
    "update {items} set day = date_add(day, 1) where id % 11 = {k} % 11",
    "delete from {items} where id = {k}",
    "optimize {orders}",
)


@pytest.mark.parametrize(("rounds", "least"), [(5, 4), pytest.param(30, 20, marks=pytest.mark.nightly)])
def test_the_tables_are_what_the_whole_sources_make(make_project, driver, spark, monkeypatch, rounds, least):
    monkeypatch.delenv("MERGE_RUNNER_REUSE")
    root = make_project(files())
    graph = Project.load(root).graph
    names = {name: graph.nodes[f"model.shop.{name}"].relation for name in ("orders", "items", *both())}
    random, messages = Random(7), []
    for number in range(rounds):
        if number:
            for edit in random.sample(EDITS, k=random.choice([1, 1, 2])):
                spark.sql(edit.format(**{name: names[name] for name in ("orders", "items")}, k=number))
        results = Project.load(root).run(select=() if number == 0 else both(), driver=driver)
        assert results.ok, [str(result.message) for result in results.results]
        messages += [results[f"{name}_part"].message for name in MODELS] if number else []
        for name in MODELS:
            found = [
                sorted(map(tuple, spark.table(str(names[f"{name}_{kind}"])).collect()), key=str)
                for kind in ("whole", "part")
            ]
            assert found[0] == found[1], (number, name, messages)
    assert sum("; only " in each or "in no column" in each for each in messages) >= least, messages


def both():
    return [f"{name}_{kind}" for name in MODELS for kind in ("whole", "part")]


def files():
    layouts = {"orders": "partition_by=['day']", "items": "unique_key=['id']"}
    texts = {
        f"models/{name}.sql": f"{{{{ config({layouts[name]}) }}}} "
        f"merge into {{{{ this }}}} as t using ({query}) as s on t.id = s.id when not matched then insert *"
        for name, query in SOURCES.items()
    }
    listed = [f"{{name: {name}, columns: [{COLUMNS[name]}]}}" for name in SOURCES]
    for name, text in MODELS.items():
        for kind, mode in (("whole", "off"), ("part", "partitions")):
            texts[f"models/{name}_{kind}.sql"] = (
                f"{{{{ config(reuse='{mode}') }}}} merge into {{{{ this }}}} as t using {text}"
            )
            listed.append(f"{{name: {name}_{kind}, columns: [{COLUMNS[name]}]}}")
    return {**texts, "models/m.yml": f"version: 2\nmodels: [{', '.join(listed)}]\n"}
