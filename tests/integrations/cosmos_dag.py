"""A DAG that Cosmos makes of a project in its WATCHER mode: one build, and a task for each model that follows it."""

import os
from datetime import datetime
from pathlib import Path

from airflow.sdk import DAG
from cosmos import DbtTaskGroup, ExecutionConfig, ProfileConfig, ProjectConfig, RenderConfig
from cosmos.constants import ExecutionMode, InvocationMode, LoadMode

root, executable = Path(os.environ["SHOP"]), os.environ["EXECUTABLE"]

with DAG("watched", schedule=None, start_date=datetime(2026, 1, 1), catchup=False) as dag:
    DbtTaskGroup(
        group_id="shop",
        project_config=ProjectConfig(
            dbt_project_path=root, manifest_path=root / "target/manifest.json", project_name="shop"
        ),
        profile_config=ProfileConfig("shop", "dev", profiles_yml_filepath=root / "profiles.yml"),
        execution_config=ExecutionConfig(
            execution_mode=ExecutionMode.WATCHER,
            dbt_executable_path=executable,
            invocation_mode=InvocationMode.SUBPROCESS,
        ),
        render_config=RenderConfig(
            load_method=LoadMode.DBT_MANIFEST,
            dbt_executable_path=executable,
            invocation_mode=InvocationMode.SUBPROCESS,
        ),
        operator_args={"env": {**os.environ, "DBT_LOG_FORMAT": "json"}, "install_deps": False, "retries": 0},
    )

# `dag.test` runs one task after the other, and a task that waits for the build would keep the build from beginning.
producer = dag.get_task("shop.dbt_producer_watcher")
for task in dag.tasks:
    if task is not producer and not task.upstream_task_ids:
        task.trigger_rule = "all_done"
        producer >> task
