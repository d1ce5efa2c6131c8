"""A task group of a project: one task that builds, and a task for each table that waits for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from airflow.sdk import Asset, TaskGroup

from merge_runner.integrations.airflow.operators import Batches, MergeRunnerBuildOperator
from merge_runner.integrations.airflow.waiting import MergeRunnerTableSensor
from merge_runner.integrations.manifest import ProjectTables, Table

BUILD = "build"
"""The name of the task that builds, in its group."""


def table_asset(project: str, table: Table) -> Asset:
    """Return the asset of a table: its name is that of the table, its URI `merge-runner://PROJECT/TABLE`."""
    return Asset(name=table.relation, uri=f"merge-runner://{project}/{table.relation}")


class MergeRunnerTaskGroup(TaskGroup):
    """A build as one task, and a task for each table that ends when the table and its tests are done.

    The tasks are those of the manifest, `target/manifest.json` of the project by default; nothing is run to make them.
    With `select` or `exclude` the project itself is loaded, without Spark. With `batches="data_interval"` models run
    the batches of the run's data interval, not those that are due. The build retries `retries` times, and goes on by
    `merge-runner retry`. Each table's task has the table as an outlet (`asset`; None: none). Raises ProblemsError where
    there is no manifest.
    """

    def __init__(
        self,
        group_id: str,
        *,
        project_dir: str | Path,
        manifest_path: str | Path | None = None,
        select: str = "",
        exclude: str = "",
        executable: str | None = None,
        target: str | None = None,
        profiles_dir: str | Path | None = None,
        target_path: str | None = None,
        vars: Mapping[str, Any] | None = None,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        batches: Batches = "due",
        retries: int = 0,
        retry_delay: timedelta = timedelta(minutes=1),
        pool: str | None = None,
        deferrable: bool = True,
        poke_interval: float = 5.0,
        asset: Callable[[str, Table], Asset | None] = table_asset,
        **kwargs: Any,
    ) -> None:
        super().__init__(group_id=group_id, **kwargs)
        manifest = Path(manifest_path or Path(project_dir) / (target_path or "target") / "manifest.json")
        common = {"dag": self.dag, "task_group": self}
        build = MergeRunnerBuildOperator(
            task_id=BUILD,
            project_dir=project_dir,
            executable=executable,
            target=target,
            profiles_dir=profiles_dir,
            target_path=target_path,
            vars=vars,
            args=args,
            env=env,
            select=select,
            exclude=exclude,
            manifest_path=manifest,
            batches=batches,
            retries=retries,
            retry_delay=retry_delay,
            **({} if pool is None else {"pool": pool}),
            **common,
        )
        has_selection = select or exclude
        tables = build.orchestrated().tables(select, exclude) if has_selection else ProjectTables.read(manifest)
        self.tables: dict[str, MergeRunnerTableSensor] = {}
        """The task of each table, by the name of the table's model."""
        tasks = {}
        for unique_id, table in tables.tables.items():
            outlet = asset(tables.project, table)
            tasks[unique_id] = MergeRunnerTableSensor(
                task_id=re.sub(r"[^A-Za-z0-9_.-]", "_", table.name),
                build_task_id=build.task_id,
                unique_id=unique_id,
                deferrable=deferrable,
                poke_interval=poke_interval,
                outlets=[] if outlet is None else [outlet],
                doc_md=table.entry["description"] or None,
                **common,
            )
            self.tables[table.name] = tasks[unique_id]
            for parent in table.parents:
                if parent in tasks:
                    tasks[parent] >> tasks[unique_id]
