"""What Airflow lists under its providers."""

from __future__ import annotations

from typing import Any

from merge_runner.version import version


def provider_info() -> dict[str, Any]:
    """Return the package as Airflow's schema has it."""
    return {
        "package-name": "merge-runner",
        "name": "merge-runner",
        "description": "SQL MERGE models on Spark: one build whose tables are tasks, lint, and streams.",
        "versions": [version()],
    }
