"""The commands of the guide for YARN, on a real YARN in cluster mode: the driver is a container of it."""

import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from textwrap import dedent

import pytest

from tests.yarn_cluster import YarnCluster

pytestmark = [pytest.mark.spark, pytest.mark.nightly]
ROOT = Path(__file__).parents[3]
MODEL = """
    {{ config(partition_by='day') }}
    merge into {{ this }} as t
    using (select id, date_add(date'2024-01-01', cast(id % 2 as int)) as day from range(10)) as s
    on t.day = s.day and t.id = s.id
    when not matched then insert *
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with YarnCluster(tmp_path_factory.mktemp("yarn")) as running:
        yield running


@pytest.fixture(scope="module")
def project(cluster, tmp_path_factory):
    """A project with `run.py`, and an archive with a Python."""
    root = tmp_path_factory.mktemp("shop")
    conf = {
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": f"{(root / 'tables').as_uri()}",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={root / 'metastore'};create=true",
        "spark.executor.instances": "1",
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "1",
        "spark.databricks.delta.snapshotPartitions": "1",
    }
    files = {
        "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
        "profiles.yml": json.dumps({"shop": {"outputs": {"yarn": {"master": "yarn", "schema": "sub", "conf": conf}}}}),
        "models/fct.sql": dedent(MODEL),
        "run.py": "from merge_runner.cli.main import process\n\nprocess()\n",
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    python = root / "python"
    python.write_text(f'#!/bin/sh\nexport PYTHONPATH="{ROOT}:$PYTHONPATH"\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    (root / "target").mkdir()
    with tarfile.open(root / "target/environment.tar.gz", "w:gz") as archive:
        archive.add(python, "bin/python")
    return root


def submit(cluster, project, *arguments):
    """Run the guide's commands in a project, with other arguments of the build at their end."""
    section = (ROOT / "docs/guides/run-on-a-cluster.md").read_text(encoding="utf-8").partition("\n## YARN\n")[2]
    commands = re.search(r"```sh\n(.*?) --batch-id 42\n```", section, re.S)[1]
    folders = f"{Path(sys.executable).parent}:{cluster.home / 'bin'}"
    env = {**cluster.env, "PATH": f"{folders}:{cluster.env['PATH']}", "PYTHONPATH": str(ROOT)}
    script = ["/bin/sh", "-euc", f'{commands} "$@"', "sh", *arguments]
    return subprocess.run(script, cwd=project, env=env, capture_output=True, text=True, timeout=400, check=False)


def commits(project):
    """Operation and inserted rows of each commit of the table, oldest first."""
    found = []
    for path in sorted((project / "tables").rglob("_delta_log/*.json")):
        for line in path.read_text().splitlines():
            if (info := json.loads(line).get("commitInfo")) is not None:
                rows = info.get("operationMetrics", {}).get("numTargetRowsInserted")
                found.append((info["operation"], rows))
    return found


def test_a_driver_in_a_container_builds_the_project(cluster, project):
    done = submit(cluster, project, "--no-lint", "--batch-id", "42")
    assert done.returncode == 0, done.stderr[-3000:] + cluster.output("stdout")[-3000:]
    assert "10 inserted" in cluster.output("stdout")
    assert commits(project) == [("CREATE TABLE", None), ("MERGE", "10")]
    again = submit(cluster, project, "--no-lint", "--batch-id", "42")
    assert again.returncode == 0, again.stderr[-3000:]
    assert len(commits(project)) == 2  # the batch has committed: it is skipped by what the table says


def test_a_model_that_fails_is_a_failed_application(cluster, project):
    (project / "models/broken.sql").write_text("{{ config(materialized='table') }} select raise_error('no') as a\n")
    try:
        done = submit(cluster, project, "--no-lint", "-s", "broken")
    finally:
        (project / "models/broken.sql").unlink()
    assert done.returncode != 0
    assert "final status: FAILED" in done.stderr
