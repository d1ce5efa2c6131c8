"""Runs in an environment with Airflow and astronomer-cosmos: PROJECT EXECUTABLE LINES → JSON.

LINES is a file with the output of a build with `--log-format dbt-json`.
"""

import json
import sys
from datetime import datetime
from pathlib import Path

root, executable, lines = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])

from airflow.sdk import DAG  # noqa: E402 - it reads its variables when it is imported
from cosmos import DbtTaskGroup, ExecutionConfig, ProfileConfig, ProjectConfig, RenderConfig  # noqa: E402
from cosmos.constants import InvocationMode, LoadMode  # noqa: E402
from cosmos.operators._watcher.base import store_dbt_resource_status_from_log  # noqa: E402

profile = ProfileConfig(profile_name="shop", target_name="dev", profiles_yml_filepath=root / "profiles.yml")


def rendered(mode, select=()):
    """The tasks of a DAG of the project, with what is above each."""
    project = ProjectConfig(dbt_project_path=root, manifest_path=root / "target/manifest.json", project_name="shop")
    with DAG(dag_id=f"shop_{mode.value}_{len(select)}", start_date=datetime(2026, 1, 1), schedule=None) as dag:
        DbtTaskGroup(
            group_id="shop",
            project_config=project,
            profile_config=profile,
            execution_config=ExecutionConfig(dbt_executable_path=executable, invocation_mode=InvocationMode.SUBPROCESS),
            render_config=RenderConfig(
                load_method=mode,
                select=list(select),
                dbt_executable_path=executable,
                invocation_mode=InvocationMode.SUBPROCESS,
            ),
        )
    return {task.task_id: sorted(task.upstream_task_ids) for task in dag.tasks}


class TaskInstance:
    """What the producer of WATCHER pushes to."""

    def __init__(self):
        self.pushed = {}

    def xcom_push(self, key, value, **_):
        self.pushed[key] = value

    def xcom_pull(self, key=None, **_):
        return self.pushed.get(key)


instance, below_failures = TaskInstance(), set()
for line in lines.read_text().splitlines():
    store_dbt_resource_status_from_log(
        line,
        {"context": {"ti": instance}, "project_dir": str(root)},
        tests_per_model={},
        test_results_per_model={},
        upstream_failure_skipped_ids=below_failures,
    )
report = {
    "manifest": rendered(LoadMode.DBT_MANIFEST),
    "selected": rendered(LoadMode.DBT_MANIFEST, ["orders+"]),
    "ls": rendered(LoadMode.DBT_LS),
    "pushed": instance.pushed,
}
sys.stdout.write(f"REPORT {json.dumps(report, default=str)}\n")
