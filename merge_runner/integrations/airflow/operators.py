"""Operators: a build whose tables other tasks wait for, lint, and streams. Each is one process of merge-runner."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowException

from merge_runner.integrations.attempts import Attempts
from merge_runner.integrations.manifest import ProjectTables
from merge_runner.integrations.process import THIS, Event, Process
from merge_runner.integrations.progress import Outcome, Progress
from merge_runner.integrations.project import OrchestratedProject
from merge_runner.integrations.run_log import failures, log_line
from merge_runner.integrations.windows import event_time_arguments

if TYPE_CHECKING:
    from airflow.sdk import Context

Batches = Literal["due", "data_interval"]


class MergeRunnerOperator(BaseOperator):
    """What every operator of merge-runner takes: the project, and how its commands are started.

    `executable` is the command line of merge-runner, such as that of an environment with Spark; by default that of
    Airflow's own. `vars`, `args` and `env` are templates.
    """

    template_fields: Sequence[str] = ("vars", "args", "env", "target")
    template_fields_renderers: ClassVar[dict[str, str]] = {"vars": "json", "env": "json"}
    ui_color = "#e8f4f8"

    def __init__(
        self,
        *,
        project_dir: str | Path,
        executable: str | None = None,
        target: str | None = None,
        profiles_dir: str | Path | None = None,
        target_path: str | None = None,
        vars: Mapping[str, Any] | None = None,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.project_dir = str(project_dir)
        self.executable = executable
        self.target = target
        self.profiles_dir = None if profiles_dir is None else str(profiles_dir)
        self.target_path = target_path
        self.vars = dict(vars or {})
        self.args = list(args)
        self.env = dict(env or {})
        self._process: Process | None = None

    def orchestrated(self) -> OrchestratedProject:
        """Return the project with the options that all of its commands have."""
        return OrchestratedProject(
            Path(self.project_dir),
            THIS if self.executable is None else shlex.split(self.executable),
            self.target,
            None if self.profiles_dir is None else Path(self.profiles_dir),
            self.target_path,
            self.vars,
            self.env,
        )

    def on_kill(self) -> None:
        """End the process as Ctrl-C does: what it was doing is cancelled, and its results are written."""
        if self._process is not None:
            self._process.stop()

    def start(self, command: Sequence[str], arguments: Sequence[str]) -> Process:
        """Start a command, and log its command line."""
        project = self.orchestrated()
        self.log.info(shlex.join(project.command_line(command, arguments)))
        self._process = project.start(command, arguments)
        return self._process

    def logged(self, events: Iterator[Event]) -> Iterator[Event]:
        """Yield events, and log those that a user reads."""
        for event in events:
            line = log_line(event)
            if line is not None:
                getattr(self.log, line[0])(line[1])
            yield event

    def check(self, results: Sequence[Mapping[str, Any]]) -> None:
        """Raise AirflowException where the process that has ended did not succeed."""
        process = self._process
        if process is not None and process.returncode:
            lines = failures(results) or [process.reason()]
            raise AirflowException("\n".join(lines))


class MergeRunnerBuildOperator(MergeRunnerOperator):
    """Build, and publish the outcome of each table as an XCom as soon as the table and its tests are done.

    Its key is the unique id of the table. A second try of the task calls `merge-runner retry`. `select` and `exclude`
    are in the syntax of --select. `batches` of models: those that are due, or those of the data interval of the run.
    """

    template_fields: Sequence[str] = (*MergeRunnerOperator.template_fields, "select", "exclude")

    def __init__(
        self,
        *,
        select: str = "",
        exclude: str = "",
        manifest_path: str | Path | None = None,
        batches: Batches = "due",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if batches not in get_args(Batches):
            raise ValueError(f"batches: {batches!r} is none of {', '.join(get_args(Batches))}")
        self.batches = batches
        self.select = select
        self.exclude = exclude
        self.manifest_path = None if manifest_path is None else str(manifest_path)

    def execute(self, context: Context) -> dict[str, int]:
        """Return how many nodes have each status. Raises AirflowException where one has failed."""
        ti, run = context["ti"], context["dag_run"]
        project = self.orchestrated()
        tables = ProjectTables.read(self.manifest_path) if self.manifest_path else project.tables()
        progress = Progress(tables, final=ti.try_number > ti.max_tries, generation=run.clear_number or 0)
        attempts = Attempts(self.start, project.target_folder(), f"{ti.dag_id} {ti.run_id} {ti.task_id} {ti.map_index}")
        results: list[Mapping[str, Any]] = []
        for event in self.logged(attempts.events(self._arguments(context), ti.try_number)):
            if event["event"] == "node_finished":
                results.append(event["result"])
                self._publish(ti, progress.add(event["result"]))
        self._publish(ti, progress.end())
        self.check(results)
        counts: dict[str, int] = {}
        for result in results:
            counts[result["status"]] = counts.get(result["status"], 0) + 1
        return counts

    def _arguments(self, context: Context) -> list[str]:
        return [
            *self.args,
            *(_data_interval(context) if self.batches == "data_interval" else []),
            *(["--select", *self.select.split()] if self.select else []),
            *(["--exclude", *self.exclude.split()] if self.exclude else []),
        ]

    @staticmethod
    def _publish(ti: Any, outcomes: Iterator[tuple[str, Outcome]]) -> None:
        for unique_id, outcome in outcomes:
            ti.xcom_push(key=unique_id, value=outcome.as_json())


def _data_interval(context: Context) -> list[str]:
    """Return the arguments that run the batches of the data interval. Raises AirflowException without one."""
    start, end = context.get("data_interval_start"), context.get("data_interval_end")
    if start is None or end is None or start >= end:
        raise AirflowException(
            "this run has no data interval: give its DAG a schedule that has one, such as CronDataIntervalTimetable, "
            'or take batches="due"'
        )
    return event_time_arguments(start, end)


class MergeRunnerStreamOperator(MergeRunnerOperator):
    """Read the streams that feed the selected models: all data until now (`available_now`), or until it is ended."""

    template_fields: Sequence[str] = (*MergeRunnerOperator.template_fields, "select")

    def __init__(self, *, select: str = "", available_now: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.select = select
        self.available_now = available_now

    def execute(self, context: Context) -> dict[str, dict[str, int]]:
        """Return the batches and rows of each stream. Raises AirflowException where one has failed."""
        arguments = [
            *self.args,
            *(["--available-now"] if self.available_now else []),
            *(["--select", *self.select.split()] if self.select else []),
        ]
        totals: dict[str, dict[str, int]] = {}
        results = []
        for event in self.logged(self.start(["stream"], arguments).events()):
            if event["event"] == "stream_finished":
                totals[event["stream"]] = {"batches": event["batches"], "rows": event["rows"]}
            elif event["event"] == "node_finished":
                results.append(event["result"])
        self.check(results)
        return totals


class MergeRunnerLintOperator(MergeRunnerOperator):
    """Lint the project, or `paths` in it, without Spark: what each MERGE will scan. Fails where lint finds an error."""

    template_fields: Sequence[str] = (*MergeRunnerOperator.template_fields, "paths")

    def __init__(self, *, paths: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.paths = list(paths)

    def execute(self, context: Context) -> dict[str, Any]:
        """Return the `summary` of the report: merges, errors, warnings, verdicts. Raises AirflowException."""
        project = self.orchestrated()
        arguments = ["--format", "json", *self.args, *self.paths]
        command = project.command_line(["lint"], arguments)
        self.log.info(shlex.join(command))
        process = subprocess.run(
            command, cwd=self.project_dir, env=project.environment(), capture_output=True, text=True, check=False
        )
        if process.returncode not in (0, 1) or not process.stdout.strip():
            raise AirflowException(process.stderr.strip() or f"exit status {process.returncode}")
        report = json.loads(process.stdout)
        for finding in report["findings"]:
            place = ":".join(str(finding[key]) for key in ("path", "line", "column") if finding.get(key))
            level = {"error": "error", "warning": "warning"}.get(finding["severity"], "info")
            getattr(self.log, level)("%s %s [%s] %s", place, finding["severity"], finding["code"], finding["message"])
        summary: dict[str, Any] = report["summary"]
        if process.returncode:
            raise AirflowException(f"lint: {summary['errors']} errors, {summary['warnings']} warnings")
        return summary
