"""The artifacts of every invocation that runs nodes: the journal, the texts, run_results.json and the manifest."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from merge_runner.errors import Problem, ProblemsError
from merge_runner.graph.graph import run_config
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.results.artifacts import write_manifest, write_texts
from merge_runner.run.results.event_types import (
    InvocationFailed,
    InvocationFinished,
    InvocationStarted,
    MergesSummarised,
    Message,
)
from merge_runner.run.results.events import Events
from merge_runner.run.results.journal import Journal
from merge_runner.run.results.merge_report import ROWS, summary
from merge_runner.run.results.results import Result, RunResults, write_run_results
from merge_runner.version import version


class Invocation:
    """One invocation of a command. `id` is its own in all the world."""

    def __init__(self, prepared: Prepared, command: str, args: Mapping[str, Any], events: Events) -> None:
        self.id = str(uuid.uuid4())
        self._prepared = prepared
        self._command = command
        self._args = args
        self._events = events
        self._started_at = datetime.now(timezone.utc)
        events.conceal_with(prepared.concealed)

    def run(
        self,
        plans: Mapping[str, NodePlan],
        work: Callable[[], None],
        results: Callable[[], Sequence[Result]],
        ended: Callable[[], None] = lambda: None,
        taken: Callable[[], Mapping[str, NodePlan]] = dict,
    ) -> RunResults:
        """Does the work between the first and the last line of the journal, and writes the artifacts.

        `results` returns the results of the nodes; where the work is cut short, `ended` is called before. `taken`
        returns the plans that ran of nodes that have several.

        Raises what the work raises: after ProblemsError nothing has run, and the results of the run before stay what
        they are.
        """
        with Journal(self._prepared.target_path / "journal.jsonl") as journal:
            self._events.listen(journal)
            self._events.emit(
                InvocationStarted(
                    invocation_id=self.id, command=self._command, args=dict(self._args), nodes=list(plans)
                )
            )
            if journal.failure is not None:
                problem = Problem("journal", f"{journal.path}: {journal.failure.strerror}: nothing has run")
                raise ProblemsError([problem]) from journal.failure
            try:
                write_texts(self._prepared, plans, ("compiled", "run"))
                work()
            except ProblemsError as error:
                self._events.emit(InvocationFailed(problems=[str(problem) for problem in error.problems]))
                raise
            except BaseException:
                ended()
                self._finish({**plans, **taken()}, results(), journal)
                raise
            else:
                return self._finish({**plans, **taken()}, results(), journal)
            finally:
                self._events.forget(journal)

    def _finish(self, plans: Mapping[str, NodePlan], results: Sequence[Result], journal: Journal) -> RunResults:
        if journal.failure is not None:
            message = (
                f"{journal.path} has not got all events: {journal.failure.strerror}; the tables know what was done"
            )
            self._events.emit(Message(message, level="warn"))
        ended_at = datetime.now(timezone.utc)
        outcome = RunResults(
            self.id, self._command, self._started_at, ended_at, self._prepared.concealed(self._args), tuple(results)
        )
        write_run_results(self._prepared.target_path / "run_results.json", outcome, version())
        write_manifest(self._prepared, self.id, plans)
        self._summarise(plans, results)
        self._events.emit(InvocationFinished(counts=outcome.counts(), ok=outcome.ok))
        return outcome

    def _summarise(self, plans: Mapping[str, NodePlan], results: Sequence[Result]) -> None:
        nodes = self._prepared.graph.nodes
        formats = {node: run_config(nodes[node]).format for node in plans}
        merges = summary(results, formats)
        if merges:
            shown, hidden = merges[:ROWS], merges[ROWS:]
            self._events.emit(
                MergesSummarised(
                    merges=[row.as_json() for row in shown],
                    hidden=len(hidden),
                    hidden_hints=sum(bool(row.hints) for row in hidden),
                )
            )
