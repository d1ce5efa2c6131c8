"""Runs the hooks of a run: the project's own statements before its first node, and after its last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.operation import Statements
from merge_runner.engine.spark.errors import engine_error, from_engine
from merge_runner.engine.table_format.commit_metadata import stamp, stamp_confs
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.graph.graph import RefNode
from merge_runner.graph.manifest import entry
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.load.run_hooks import Moment, check_run_hooks, hook_name, hook_values, run_hooks
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.node.outcome import error_message
from merge_runner.run.node.text_on_engine import attacher, engine_problems
from merge_runner.run.results.event_types import HookFinished
from merge_runner.run.results.events import Events, Level
from merge_runner.run.results.invocation import Invocation
from merge_runner.run.results.results import FAILED, Command, Result, Status, Timing
from merge_runner.template.context import model_values
from merge_runner.text import PlacedText

COMMANDS: frozenset[str] = frozenset({"build", "run", "seed", "test"})
"""The commands that run hooks."""


class ResultOfNode(dict[str, Any]):
    """A result as hooks read it: by dbt's keys, as attributes of a template's value are."""

    def to_dict(self) -> dict[str, Any]:
        """Return the keys and values, as dbt's results do."""
        return dict(self)


class RunHooks:
    """The hooks of one run. Their results go to the invocation."""

    def __init__(self, prepared: Prepared, invocation: Invocation, command: Command, events: Events) -> None:
        self._prepared = prepared
        self._invocation = invocation
        self._command = command
        self._events = events

    def check(self) -> None:
        """Render the hooks as dbt parses them, where the command runs hooks. Raises ProblemsError."""
        if self._command in COMMANDS:
            check_run_hooks(self._prepared)

    def start(self, driver: Driver, catalog: Catalog, plans: Mapping[str, NodePlan]) -> bool:
        """Run `on-run-start`, once the schemas that `plans` write are there; return whether nodes may run."""
        return self._run("on-run-start", driver, catalog, (), plans)

    def end(self, driver: Driver, catalog: Catalog, results: Sequence[Result]) -> None:
        """Run `on-run-end` with the results of the nodes; of hooks before it gets those that failed, as in dbt."""
        failed = [hook for hook in self._invocation.hooks if hook.status in FAILED]
        self._run("on-run-end", driver, catalog, (*failed, *results))

    def _run(
        self,
        moment: Moment,
        driver: Driver,
        catalog: Catalog,
        results: Sequence[Result],
        plans: Mapping[str, NodePlan] | None = None,
    ) -> bool:
        """Run the hooks of a moment in one session, up to the first that fails; return whether none does."""
        hooks = run_hooks(self._prepared, moment) if self._command in COMMANDS else ()
        if not hooks:
            return True
        values, group = self._values(results), f"{self._invocation.id}/{moment}"
        stamped = stamp_confs(stamp(self._invocation.id, moment))
        done, started = 0, _now()
        try:
            with driver.session(stamped) as session, driver.job_group(session, group, moment):
                statements = Statements(session, catalog, self._prepared.on_log)
                try:
                    for plan in (plans or {}).values():
                        if plan.writes is not None:
                            catalog.ensure_schema(session, plan.writes)
                    for hook in hooks:
                        started = _now()
                        text = self._perform(hook, hook_name(self._prepared, moment, done + 1), values, statements)
                        self._keep(moment, done, "success", "OK", started, text)
                        done += 1
                except KeyboardInterrupt:
                    driver.cancel(group)
                    raise
        except Exception as raised:
            if not from_engine(raised):
                raise
            error = engine_error(raised)
            self._keep(moment, done, "error", error_message(error, error.place or hooks[done].at), started)
            for index in range(done + 1, len(hooks)):
                self._keep(moment, index, "skipped", "skipped because the hook before it failed", _now())
        return done == len(hooks)

    def _perform(self, hook: PlacedText, name: str, values: Mapping[str, Any], statements: Statements) -> str:
        """Render a hook and execute its text, unless that is blank; return the text. Raises EngineError."""
        with engine_problems(statements):
            on_read = attacher(self._prepared, statements)
            text = self._prepared.compiler.run_hook(hook, name, values, on_read, statements).strip()
            if text:
                statements.run(text)
        return text

    def _keep(
        self, moment: Moment, index: int, status: Status, message: str, started: datetime, text: str | None = None
    ) -> None:
        conceal = self._prepared.conceal
        result = Result(
            self._unique_id(moment, index),
            status,
            timing=(Timing("execute", started, _now()),),
            message=conceal(message),
            compiled_code=conceal(text) if text is not None else None,
        )
        self._invocation.hooks.append(result)
        words = f"{moment} {index + 1}: {message} in {result.execution_time:.1f} s"
        level: Level = "error" if status in FAILED else "info"
        self._events.emit(HookFinished(result=result.as_json(), message=words, level=level))

    def _unique_id(self, moment: Moment, index: int) -> str:
        return f"operation.{self._prepared.graph.project}.{hook_name(self._prepared, moment, index + 1)}"

    def _values(self, results: Sequence[Result]) -> dict[str, Any]:
        """Return what the hooks can name."""
        graph, invocation = self._prepared.graph, self._invocation
        nodes = [graph.nodes[result.unique_id] for result in results if result.unique_id in graph.nodes]
        failed = {result.unique_id for result in results if result.status in (*FAILED, "skipped")}
        relations = [
            node.relation
            for node in nodes
            if isinstance(node, RefNode) and node.unique_id not in failed and node.materialized != "ephemeral"
        ]
        schemas = dict.fromkeys((table.catalog, table.schema or "") for table in relations if table is not None)
        return hook_values(
            self._prepared,
            self._command,
            invocation.id,
            invocation.started_at,
            [self._result(result) for result in results],
            list(schemas),
        )

    def _result(self, result: Result) -> ResultOfNode:
        graph = self._prepared.graph
        if result.unique_id in graph.nodes:
            node = self._prepared.concealed(entry(graph, graph.nodes[result.unique_id]))
        else:  # a hook
            node = model_values("operation", (graph.project, result.unique_id.rpartition(".")[2]), "pyproject.toml")
        return ResultOfNode(result.as_json(), node=ResultOfNode(node))


def _now() -> datetime:
    return datetime.now(timezone.utc)
