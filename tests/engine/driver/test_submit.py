"""merge-runner under spark-submit: on a real standalone master in client mode, from a zip, with jars that are given."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

from merge_runner.engine.spark.jars import fetch_jars
from merge_runner.engine.spark.spark_home import spark_home
from tests.standalone_cluster import Cluster

pytestmark = [pytest.mark.spark, pytest.mark.nightly]
ROOT = Path(__file__).parents[3]
FILES = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
    "models/fct.sql": """
        {{ config(partition_by='day') }}
        merge into {{ this }} as t
        using (select id, date_add(date'2024-01-01', cast(id % 2 as int)) as day from range(10)) as s
        on t.day = s.day and t.id = s.id
        when not matched then insert *
    """,
}
RUNNER = """
import merge_runner
assert ".zip" in merge_runner.__file__, merge_runner.__file__
from merge_runner.cli.main import process

process()
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("cluster")) as running:
        running.add_worker("worker")
        running.wait_for("worker")
        yield running


@pytest.fixture
def submit(cluster, tmp_path):
    """Run spark-submit with the package as a zip, and a project whose output has these keys."""

    def run(output, *options, arguments=("build", "--no-lint")):
        root = tmp_path / "shop"
        profile = {"shop": {"outputs": {"dev": {"schema": "submitted", "warehouse": "warehouse", **output}}}}
        for path, text in {**FILES, "profiles.yml": json.dumps(profile)}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(dedent(text))
        (tmp_path / "run.py").write_text(RUNNER)
        package = shutil.make_archive(str(tmp_path / "merge_runner"), "zip", ROOT, "merge_runner")
        command = [spark_home() / "bin/spark-submit", "--master", cluster.address, "--py-files", package, *options]
        env = {name: value for name, value in cluster.env.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [*command, tmp_path / "run.py", *arguments],
            cwd=root,
            env={
                **env,
                "MERGE_RUNNER_CACHE_DIR": str(tmp_path / "no jars here"),
                "MERGE_RUNNER_MAVEN_URL": "file:///nowhere",
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return done, root

    return run


CONFS = (
    "spark.driver.host=127.0.0.1",
    "spark.driver.bindAddress=127.0.0.1",
    "spark.executor.memory=512m",
    "spark.sql.shuffle.partitions=1",
)
OPTIONS = [word for conf in CONFS for word in ("--conf", conf)]


def test_a_project_is_built_by_spark_submit_with_the_jars_that_it_is_given(submit, cluster):
    jars = ",".join(map(str, fetch_jars(["delta"], os.environ)))
    output = {"master": cluster.address, "conf": {"spark.databricks.delta.snapshotPartitions": "1"}}
    for rows in (10, 0):
        done, root = submit(output, "--jars", jars, *OPTIONS)
        assert done.returncode == 0, done.stdout + done.stderr[-6000:]
        (result,) = json.loads((root / "target/run_results.json").read_text())["results"]
        assert (result["status"], result["adapter_response"]["rows_inserted"]) == ("success", rows)
    assert not (root.parent / "no jars here").exists()


def test_a_jvm_without_delta_and_an_output_for_another_master_are_refused(submit, cluster):
    done, _ = submit({"master": cluster.address}, *OPTIONS)
    assert done.returncode == 2, done.stdout + done.stderr[-6000:]
    # spark-submit writes what the program writes to stderr to its own stdout.
    assert "Spark was started without Delta, and no jar can be added to it now" in done.stdout
    assert "spark-submit --jars" in done.stdout
    done, _ = submit({"master": "local[2]"}, *OPTIONS)
    assert done.returncode == 2
    assert f"spark-submit runs this on {cluster.address}, and the output dev on local[2]" in done.stdout


def test_a_standalone_master_has_no_cluster_mode_for_python(submit, cluster):
    """Spark says so; the guide therefore names client mode."""
    done, _ = submit({"master": cluster.address}, "--deploy-mode", "cluster", *OPTIONS)
    assert done.returncode != 0
    assert (
        "Cluster deploy mode is currently not supported for python applications on standalone clusters" in done.stderr
    )
