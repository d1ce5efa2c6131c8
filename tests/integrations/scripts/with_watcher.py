"""Runs in an environment with Airflow and astronomer-cosmos: the DAG of cosmos_dag.py by dag.test() → JSON."""

import json
import os
import subprocess
import sys
from datetime import datetime, timezone

subprocess.run([sys.executable, "-m", "airflow", "db", "migrate"], check=True, stdout=subprocess.DEVNULL)

from airflow.models.taskinstance import TaskInstance  # noqa: E402 - it reads its variables when it is imported
from airflow.utils.session import create_session  # noqa: E402

sys.path.insert(0, os.environ["AIRFLOW__CORE__DAGS_FOLDER"])
import cosmos_dag  # noqa: E402

run = cosmos_dag.dag.test(logical_date=datetime(2026, 1, 2, tzinfo=timezone.utc))
with create_session() as session:
    instances = session.query(TaskInstance).filter_by(dag_id=cosmos_dag.dag.dag_id, run_id=run.run_id).all()
    states = {each.task_id: each.state for each in instances}
report = {"state": run.state.value, "states": states}
sys.stdout.write(f"REPORT {json.dumps(report)}\n")
