"""Dagster: a component with an asset for each table of a project, and the functions that it is made of.

`pip install 'merge-runner[dagster]'`; docs/guides/dagster.md shows how to use it.
"""

from __future__ import annotations

from merge_runner.integrations.dagster.assets import build_assets, table_specs
from merge_runner.integrations.dagster.component import MergeRunnerComponent, Retry, Window

__all__ = ["MergeRunnerComponent", "Retry", "Window", "build_assets", "table_specs"]
