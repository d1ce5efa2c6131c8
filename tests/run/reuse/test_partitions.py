"""`reuse: partitions`: with it a table is what it is without, through edits of days of its source, on both formats."""

from random import Random
from uuid import uuid4

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

MODEL = """
{{ config(reuse='MODE', partition_by=['day']) }}
merge into {{ this }} as t
using (select id, n, day from {{ ref('orders') }} where n >= 0) as s on t.day = s.day and t.id = s.id
when matched and s.n > t.n then update set *
when not matched then insert *
"""
FILES = {
    "models/orders.sql": "{{ config(partition_by=['day'], unique_key=['id']) }} merge into {{ this }} as t using (select 1L as id, 1 as n, date'2024-01-01' as day) s "
    "on t.id = s.id when not matched then insert *",
    "models/whole.sql": MODEL.replace("MODE", "off"),
    "models/part.sql": MODEL.replace("MODE", "partitions"),
    "models/m.yml": """
        version: 2
        models:
          - {name: orders, columns: [{name: id, data_type: bigint}, {name: n, data_type: int}, {name: day, data_type: date}]}
          - {name: whole, columns: [{name: id, data_type: bigint}, {name: n, data_type: int}, {name: day, data_type: date}]}
          - {name: part, columns: [{name: id, data_type: bigint}, {name: n, data_type: int}, {name: day, data_type: date}]}
    """,
}
EDITS = (
    "insert into {t} select id, 1, date_add(date'2024-01-01', cast(id % 5 as int)) from range({k} * 10, {k} * 10 + 7)",
    "insert into {t} select {k} * 10 + 8, 1, date'2024-02-01'",
    "update {t} set n = n + 1 where day = date'2024-01-02'",
    "update {t} set n = -1 where day = date'2024-01-03' and id % 2 = 0",
    "delete from {t} where day = date'2024-01-04'",
    "update {t} set day = date'2024-01-05' where id % 7 = 3",
)
OF_FORMAT = {
    "delta": (
        "optimize {t}",
        "alter table {t} set tblproperties (mark = '{k}')",
        "restore table {t} to version as of {v}",
    ),
    "iceberg": (
        "call lake.system.rewrite_data_files(table => '{t}', options => map('rewrite-all', 'true'))",
        "call lake.system.rewrite_manifests('{t}')",
        "call lake.system.rollback_to_snapshot('{t}', {v})",
        "alter table {t} set tblproperties ('write.update.mode' = 'merge-on-read', 'write.delete.mode' = 'merge-on-read')",
        "alter table {t} add partition field bucket({k}, id)",
    ),
}


@pytest.fixture(params=["delta", pytest.param("iceberg", marks=pytest.mark.slow)])
def shop(request, make_project, spark):
    """A project with its format; one of Iceberg is in an embedded catalog, whose files are known without an engine."""
    if request.param == "delta":
        return make_project(FILES), request.param
    warehouse = spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")
    schema = f"lake.parts{uuid4().hex[:8]}"
    output = f"{{master: 'local[2]', schema: {schema}, warehouse: {warehouse}, catalogs: {{lake: {{type: embedded}}}}}}"
    return make_project({**FILES, "profiles.yml": f"shop: {{outputs: {{dev: {output}}}}}\n"}, "iceberg"), request.param


@pytest.mark.parametrize(
    ("rounds", "least"),
    [(3, 1), pytest.param(16, 4, marks=pytest.mark.nightly)],
)
def test_the_table_is_what_the_whole_source_makes(shop, driver, spark, monkeypatch, rounds, least):
    monkeypatch.delenv("MERGE_RUNNER_REUSE")
    root, table_format = shop
    graph = Project.load(root).graph
    names = {name: graph.nodes[f"model.shop.{name}"].relation for name in ("orders", "whole", "part")}
    random, messages = Random(5), []
    for number in range(rounds):
        if number:
            version = _version_before(spark, table_format, names["orders"])
            edits = (*EDITS, *OF_FORMAT[table_format])
            for edit in edits[:1] if number == 1 else random.sample(edits, k=random.choice([1, 1, 2])):
                spark.sql(edit.format(t=names["orders"], k=number, v=version))
        select = () if number == 0 else ["whole", "part"]
        results = Project.load(root).run(select=select, driver=driver)
        assert results.ok, [str(result.message) for result in results.results]
        messages.append(results["part"].message)
        found = [sorted(map(tuple, spark.table(str(names[name])).collect()), key=str) for name in ("whole", "part")]
        assert found[0] == found[1], (number, messages)
    assert sum("; only day=" in message for message in messages) >= least, messages


def _version_before(spark, table_format, table):
    """The version before the newest one."""
    if table_format == "delta":
        return max(1, spark.sql(f"describe history {table} limit 1").first()["version"] - 1)
    newest = spark.sql(
        f"select snapshot_id, parent_id from {table}.snapshots order by committed_at desc limit 1"
    ).first()
    return newest["parent_id"] or newest["snapshot_id"]
