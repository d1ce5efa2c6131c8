"""The artifacts of every invocation that runs nodes: the journal, the texts, run_results.json and the manifest."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import Any

from merge_runner.errors import Problem, ProblemsError
from merge_runner.graph.graph import run_config
from merge_runner.pages.runs.history import keep
from merge_runner.pages.runs.runs_page import write_report
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.results.artifacts import write_manifest, write_texts
from merge_runner.run.results.event_types import (
    InvocationFailed,
    InvocationFinished,
    InvocationStarted,
    MergesSummarised,
    Message,
    ReportWritten,
)
from merge_runner.run.results.events import Events
from merge_runner.run.results.journal import Journal
from merge_runner.run.results.merge_report import ROWS, summary
from merge_runner.run.results.notification import notify, run_document
from merge_runner.run.results.results import Result, RunResults, write_run_results
from merge_runner.run.results.run_record import RunRecorder
from merge_runner.version import version


class Invocation:
    """One invocation of a command. `id` is its own in all the world."""

    def __init__(self, prepared: Prepared, command: str, args: Mapping[str, Any], events: Events) -> None:
        self.id = str(uuid.uuid4())
        self._prepared = prepared
        self._command = command
        self._args = args
        self._events = events
        self._results: RunResults | None = None
        self._recorder = RunRecorder()
        self.started_at = datetime.now(timezone.utc)
        self.hooks: list[Result] = []
        """The results of the hooks of the run, as they come."""
        events.conceal_with(prepared.concealed)

    @contextmanager
    def record_run(
        self,
        plans: Mapping[str, NodePlan],
        results_so_far: Callable[[], Sequence[Result]],
        waits_for: Callable[[], Mapping[str, Collection[str]]] = dict,
    ) -> Iterator[None]:
        """Keep the journal of what runs inside, from the first line to the last, and write the artifacts at the end.

        `results_so_far` returns the results of the nodes, also of those that an exception has ended; `results` has them
        in the end. `waits_for` returns the nodes that each has waited for. After ProblemsError nothing has run, and the
        results of the run before stay what they are.
        """
        with Journal(self._prepared.target_path / "journal.jsonl") as journal:
            for listener in (journal, self._recorder):
                self._events.listen(listener)
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
                yield
            except ProblemsError as error:
                problems = [str(problem) for problem in error.problems]
                self._events.emit(InvocationFailed(problems=problems))
                self._notify(self._outcome(()), problems)
                raise
            except BaseException:
                self._finish(plans, results_so_far(), journal, waits_for(), stopped=True)
                raise
            else:
                self._finish(plans, results_so_far(), journal, waits_for())
            finally:
                for listener in (journal, self._recorder):
                    self._events.forget(listener)

    def record(self, results: Sequence[Result], waits_for: Mapping[str, Collection[str]]) -> Mapping[str, Any]:
        """Return what the page of runs will have of this one, as of now; secrets are concealed."""
        return self._record(self._outcome(results), waits_for)

    @property
    def results(self) -> RunResults:
        """The results, once everything has run."""
        if self._results is None:
            raise RuntimeError("the invocation has not ended")
        return self._results

    def _finish(
        self,
        plans: Mapping[str, NodePlan],
        results: Sequence[Result],
        journal: Journal,
        waits_for: Mapping[str, Collection[str]],
        *,
        stopped: bool = False,
    ) -> None:
        if journal.failure is not None:
            message = (
                f"{journal.path} has not got all events: {journal.failure.strerror}; the tables know what was done"
            )
            self._events.emit(Message(message, level="warn"))
        outcome = self._results = self._outcome(results)
        write_run_results(self._prepared.target_path / "run_results.json", outcome, version())
        executed = {result.unique_id: result.plan for result in results if result.plan is not None}
        write_manifest(self._prepared, self.id, {**plans, **executed})
        self._summarise(plans, results)
        self._report(self._record(outcome, waits_for))
        if not stopped:  # who stops a run knows of it, and does not want to wait
            self._notify(outcome)
        self._events.emit(InvocationFinished(counts=outcome.counts(), ok=outcome.ok, stopped=stopped))

    def _outcome(self, results: Sequence[Result]) -> RunResults:
        now, args = datetime.now(timezone.utc), self._prepared.concealed(self._args)
        return RunResults(self.id, self._command, self.started_at, now, args, tuple(results), tuple(self.hooks))

    def _notify(self, outcome: RunResults, problems: Sequence[str] = ()) -> None:
        if self._prepared.files.profile.notify:
            notify(self._prepared, run_document(self._prepared, outcome, problems), self._events)

    def _report(self, record: Mapping[str, Any]) -> None:
        """Keep the record of the run, and write the page of runs. A failure changes no result."""
        try:
            keep(self._prepared.target_path, record)
            path = write_report(self._prepared.target_path)
        except OSError as error:
            self._events.emit(Message(f"{error.filename}: {error.strerror}: the run has no page", level="warn"))
        else:
            self._events.emit(ReportWritten(path=str(path)))

    def _record(self, outcome: RunResults, waits_for: Mapping[str, Collection[str]]) -> Mapping[str, Any]:
        """The record of the run, without secrets."""
        prepared = self._prepared
        graph, target = prepared.graph, prepared.files.profile.target
        record = self._recorder.record(outcome, graph.nodes, waits_for, graph.project, target)
        concealed: Mapping[str, Any] = prepared.concealed(record)
        return concealed

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
