"""The connection to the JVM breaks while a MERGE runs, and the JVM goes on: the MERGE is in its table once."""

import os
import socket
from contextlib import closing, suppress
from pathlib import Path

import pytest

from merge_runner import Project

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="connections are found in /proc"),
]

# It adds: one MERGE too many or too few is seen.
MERGE = """
{{ config(format='FORMAT'HOOK) }}
merge into {{ this }} as t
using (select if({{ var('gated') }}, gate(id), id) as id, 1L as n from range({{ var('rows') }})) as s on t.id = s.id
when matched then update set n = t.n + s.n
when not matched then insert *
"""
COLUMNS = "models: [{name: m, columns: [{name: id, data_type: bigint}, {name: n, data_type: bigint}]}]"


def to_the_jvm(spark):
    """The handles of this process's connections to the JVM."""
    port = spark.sparkContext._gateway.java_parameters.port
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if entry.readlink().name.startswith("socket:"):
                with closing(socket.socket(fileno=os.dup(int(entry.name)))) as connection:
                    peer = connection.getpeername()  # of a Unix socket it is a path
                    if isinstance(peer, tuple) and peer[1] == port:
                        yield int(entry.name)


def break_all(spark, but):
    """Breaks the connections to the JVM, all but some."""
    for handle in set(to_the_jvm(spark)) - but:
        with closing(socket.socket(fileno=os.dup(handle))) as connection:
            connection.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("table_format", [pytest.param("delta", marks=pytest.mark.slow), "iceberg"])
def test_a_merge_whose_connection_breaks_is_in_its_table_once(make_project, race, spark, table_format):
    merge = MERGE.replace("FORMAT", table_format)
    root = make_project(
        {
            "models/m.sql": merge.replace("HOOK", ", post_hook='select 1'"),
            "models/m.yml": COLUMNS,
            "models/below.sql": "{{ config(materialized='table') }} select * from {{ ref('m') }}",
        },
        table_format,
    )

    def build(gated, rows, batch):
        project = Project.load(root, vars={"gated": gated, "rows": rows})
        return project.build(driver=race, lint=False, threads=1, batch_id=batch)

    assert build("false", 2, 1).ok
    before = set(to_the_jvm(spark))
    results = race.meanwhile(lambda: break_all(spark, before), lambda: build("true", 3, 2))
    relation = Project.load(root, vars={"gated": "true", "rows": 3}).graph.nodes["model.shop.m"].relation
    rows = {(row["id"], row["n"]) for row in spark.table(str(relation)).collect()}
    assert rows == {(0, 2), (1, 2), (2, 1)}
    assert results.ok, [result.message for result in results.results]
    assert "the table says that it has committed" in results["m"].warnings[0]
    assert results["below"].status == "success"
    assert build("true", 3, 2)["m"].status == "no-op"  # what was set for the MERGE alone was set until it had committed
