"""Airflow 3: a task group whose tables are built by one task, and operators for builds, lint and streams.

`pip install 'merge-runner[airflow]'`; docs/guides/airflow.md shows how to use it.
"""

from __future__ import annotations

from merge_runner.integrations.airflow.operators import (
    MergeRunnerBuildOperator,
    MergeRunnerLintOperator,
    MergeRunnerStreamOperator,
)
from merge_runner.integrations.airflow.task_group import MergeRunnerTaskGroup, table_asset
from merge_runner.integrations.airflow.waiting import MergeRunnerTableSensor

__all__ = [
    "MergeRunnerBuildOperator",
    "MergeRunnerLintOperator",
    "MergeRunnerStreamOperator",
    "MergeRunnerTableSensor",
    "MergeRunnerTaskGroup",
    "table_asset",
]
