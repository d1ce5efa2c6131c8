"""The same project on a real standalone cluster (a master and two workers of this machine) and on a local driver."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from merge_runner import Project
from tests.standalone_cluster import Cluster

pytestmark = pytest.mark.slow

TABLES = ("colour", "fct_order", "dim_colour", "agg_day")
FILES = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
    "profiles.yml": """
        shop:
          target: local
          outputs:
            local: {master: "local[2]", schema: clustered, warehouse: warehouse/local}
            cluster:
              master: "{{ env_var('SPARK_MASTER') }}"
              schema: clustered
              warehouse: warehouse/cluster
              jvm: fast-start
              conf:
                spark.executor.memory: 512m
                spark.executor.extraJavaOptions: -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
                spark.sql.shuffle.partitions: 2
                spark.databricks.delta.snapshotPartitions: 1
    """,
    "seeds/colour.csv": "code,name\nA,amber\nB,blue\n",
    "data/orders.csv": "id,code,day,amount\n"
    + "".join(f"{n},{'AB'[n % 2]},2024-01-0{1 + n % 3},{n}.50\n" for n in range(40)),
    "models/m.yml": """
        sources:
          - name: raw
            tables:
              - name: orders
                path: data/orders.csv
                format: csv
                options: {header: true}
                columns:
                  - {name: id, data_type: bigint}
                  - {name: code, data_type: string}
                  - {name: day, data_type: date}
                  - {name: amount, data_type: "decimal(8,2)"}
    """,
    "models/stg_order.sql": """
        {{ config(materialized='view') }}
        select o.*, c.name from {{ source('raw', 'orders') }} as o join {{ ref('colour') }} as c on o.code = c.code
    """,
    "models/fct_order.sql": """
        {{ config(partition_by='day') }}
        merge into {{ this }} as t using {{ ref('stg_order') }} as s on t.day = s.day and t.id = s.id
        when matched and t.amount <> s.amount then update set *
        when not matched then insert *
    """,
    "models/dim_colour.sql": """
        merge into {{ this }} as t using (select distinct code, name from {{ ref('stg_order') }}) as s on t.code = s.code
        when matched and t.name <> s.name then update set *
        when not matched then insert *
    """,
    "models/agg_day.sql": """
        {{ config(materialized='table') }}
        select d.name, f.day, sum(f.amount) as amount, count(*) as orders
          from {{ ref('fct_order') }} as f join {{ ref('dim_colour') }} as d on f.code = d.code
         group by d.name, f.day
    """,
}


BUILDS = """
import json, os, sys
from pathlib import Path
from merge_runner import Project
from merge_runner.engine.startup import start_driver

root = Path(sys.argv[1])
profile = Project.load(root, target="cluster").prepared.files.profile
driver = start_driver(profile, root, root / "spark.log", os.environ)
for name in ("cluster", "again"):
    results = Project.load(root, target="cluster").build(driver=driver, lint=False, threads=2)
    assert results.ok, [result.message for result in results.results]
    responses = {result.unique_id.split(".")[2]: result.adapter_response for result in results.results}
    (root / f"{name}.json").write_text(json.dumps(responses))
driver.stop()
"""
"""Two builds on one driver, whose executors are those of both."""


@dataclass(frozen=True)
class Master:
    address: str
    workers: list[Path]


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """A running standalone master with two workers of one core each: its address, and the workers' folders."""
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        names = ("worker1", "worker2")
        for name in names:
            cluster.add_worker(name)
        cluster.wait_for(*names)
        yield Master(cluster.address, [cluster.folder / name for name in names])


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("shop")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(dedent(text))
    return root


@pytest.fixture(scope="module")
def built(project, master, driver):
    """Responses by target of the first build on each, and those of a second one on the cluster as `again`."""
    env = {**os.environ, "SPARK_MASTER": master.address}
    local = Project.load(project, target="local", env=env).build(driver=driver, lint=False, threads=2)
    assert local.ok, [result.message for result in local.results]
    responses = {"local": {result.unique_id.split(".")[2]: result.adapter_response for result in local.results}}
    command = [sys.executable, "-c", BUILDS, str(project)]
    process = subprocess.run(command, env=env, capture_output=True, text=True, timeout=480, check=False)
    log = project / "spark.log"
    assert process.returncode == 0, process.stderr + (log.read_text()[-4000:] if log.exists() else "")
    return responses | {name: json.loads((project / f"{name}.json").read_text()) for name in ("cluster", "again")}


def counts(responses, *keys):
    return {name: [response.get(key) for key in keys] for name, response in responses.items()}


def test_a_cluster_gives_the_same_tables_as_a_local_driver(built, project, spark):
    def rows(target, table):
        folder = project / "warehouse" / target / "clustered" / table
        return sorted(map(str, spark.read.format("delta").load(str(folder)).collect()))

    for table in TABLES:
        assert rows("local", table) == rows("cluster", table)
    assert [len(rows("cluster", table)) for table in TABLES] == [2, 40, 2, 6]


def test_a_cluster_reports_the_same_counts_as_a_local_driver(built):
    keys = (
        "operation",
        "rows_source",
        "rows_inserted",
        "rows_updated",
        "rows_deleted",
        "rows_affected",
        "files_total",
        "files_scanned",
    )
    assert counts(built["cluster"], *keys) == counts(built["local"], *keys)
    assert counts(built["cluster"], "rows_inserted")["fct_order"] == [40]


def test_a_second_build_on_the_cluster_changes_no_row(built):
    keys = ("rows_inserted", "rows_updated", "rows_deleted")
    again = counts(built["again"], *keys)
    assert again["fct_order"] == again["dim_colour"] == [0, 0, 0]


def test_the_jars_reach_the_executors_of_every_worker(built, master):
    for worker in master.workers:
        executors = list(worker.glob("app-*/*"))
        assert executors
        assert all(list(executor.glob("delta-spark_*.jar")) for executor in executors)
