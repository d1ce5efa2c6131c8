"""A DAG of a project: lint, and its tables. The options are in the file that SHOP_DAG names."""

import json
import os
from datetime import datetime, timedelta
from pathlib import Path

from airflow.sdk import DAG, CronDataIntervalTimetable

from merge_runner.integrations.airflow import (
    MergeRunnerBuildOperator,
    MergeRunnerLintOperator,
    MergeRunnerStreamOperator,
    MergeRunnerTaskGroup,
)

given = json.loads(Path(os.environ["SHOP_DAG"]).read_text())

with DAG("shop", schedule=None, start_date=datetime(2026, 1, 1), catchup=False) as dag:
    lint = MergeRunnerLintOperator(task_id="lint", **given["project"])
    tables = MergeRunnerTaskGroup(
        "tables",
        **given["project"],
        vars={"day": "{{ ds }}"},
        retries=given["retries"],
        retry_delay=timedelta(seconds=1),
        poke_interval=0.5,
    )
    lint >> tables

with DAG("shop_stream", schedule=None, start_date=datetime(2026, 1, 1), catchup=False) as stream_dag:
    MergeRunnerStreamOperator(task_id="stream", select="fed", **given["project"])

windows = {"select": "a", "batches": "data_interval", **given["project"]}
with DAG("shop_days", schedule=CronDataIntervalTimetable("@daily", "UTC"), start_date=datetime(2026, 1, 1)) as days_dag:
    MergeRunnerBuildOperator(task_id="build", **windows)

with DAG("shop_no_interval", schedule=None, start_date=datetime(2026, 1, 1)) as no_interval_dag:
    MergeRunnerBuildOperator(task_id="build", **windows)
