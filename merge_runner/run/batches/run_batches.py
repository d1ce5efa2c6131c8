"""The batches of all models of a run: which are due is read from their tables once, before the first node runs."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.spark.errors import Kind, engine_error, from_engine
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.errors import ProblemsError
from merge_runner.graph.graph import ModelNode
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.plan import Planner
from merge_runner.run.batches.batch_jobs import BatchJob, batch_jobs, runs_in_batches
from merge_runner.run.batches.joined_result import joined_result
from merge_runner.run.batches.late_warnings import last_batch_time, late_warnings
from merge_runner.run.results.results import FAILED, Result
from merge_runner.run.scheduling.write_conflicts import WriteKey
from merge_runner.run.settings import RunSettings


class RunBatches:
    """The batches of one run. `results` are those of the batches that have ended, by job; threads add to them."""

    def __init__(self, prepared: Prepared, settings: RunSettings, run_id: str) -> None:
        self._prepared = prepared
        self._settings = settings
        self._run_id = run_id
        self._jobs_of: dict[str, list[BatchJob]] = {}
        self._jobs: dict[str, BatchJob] = {}
        self._errors: dict[str, str] = {}
        self._last_times: dict[str, int] = {}
        """When the last batch was committed before this run (ms), of models that warn of late rows."""
        self.results: dict[str, Result] = {}

    def plan_batches(self, ids: Iterable[str], driver: Driver, catalog: Catalog) -> None:
        """Read which batches of models are due, of those that have not been read: another driver runs what is left.

        Raises what the engine does where the driver is lost.
        """
        models = [
            node
            for unique_id in ids
            if runs_in_batches(node := self._prepared.graph.nodes[unique_id], self._settings)
            and isinstance(node, ModelNode)
            and unique_id not in self
        ]
        if not models:
            return
        planner = Planner(self._prepared, self._run_id)
        for node in models:
            try:
                jobs = batch_jobs(self._prepared, planner, node, self._settings, driver, catalog)
                if node.config.late_rows == "warn" and self._settings.event_time is None:
                    last = last_batch_time(self._prepared, node, self._settings.branch, driver, catalog)
                    self._last_times |= {node.unique_id: last} if last is not None else {}
            except ProblemsError as error:
                self._errors[node.unique_id] = "\n".join(map(str, error.problems))
            except Exception as failure:
                if not from_engine(failure):
                    raise
                refusal = engine_error(failure)
                if refusal.kind is Kind.LOST:
                    raise
                self._errors[node.unique_id] = str(refusal)
            else:
                self._jobs_of[node.unique_id] = jobs
                self._jobs |= {job.id: job for job in jobs}

    def __contains__(self, unique_id: str) -> bool:
        """Whether a node runs in batches."""
        return unique_id in self._jobs_of or unique_id in self._errors

    def job(self, id: str) -> BatchJob | None:
        """Return the batch of a job; None where the job is a node."""
        return self._jobs.get(id)

    def with_jobs(self, parents: Mapping[str, Collection[str]]) -> dict[str, Collection[str]]:
        """Return what each job waits for: a batch for the parents of its model, a model for all of its batches."""
        jobs: dict[str, Collection[str]] = {}
        for unique_id, own in parents.items():
            batches = self._jobs_of.get(unique_id, ())
            for job in batches:
                jobs[job.id] = own if job.after is None else (job.after,)
            jobs[unique_id] = [job.id for job in batches] or own
        return jobs

    def with_priorities(self, priorities: Mapping[str, Any]) -> dict[str, Any]:
        """Return the priorities of nodes, and those of batches: that of the model, the earlier window first."""
        own = {
            job.id: (*priorities[unique_id], number)
            for unique_id, jobs in self._jobs_of.items()
            for number, job in enumerate(jobs)
        }
        return {**priorities, **own}

    def with_writes(self, writes: Mapping[str, WriteKey]) -> dict[str, Hashable]:
        """Return what nodes and batches write; a model whose batches write its table writes nothing itself."""
        keys: dict[str, Hashable] = {node: key for node, key in writes.items() if node not in self}
        for unique_id, jobs in self._jobs_of.items():
            for number, job in enumerate(jobs, 1):
                keys[job.id] = WriteKey(writes[unique_id].table, number if job.shares_table else 0)
        return keys

    def reason_to_skip(self, job: BatchJob) -> str | None:
        """Return why a batch does not run; None: it may."""
        before = self._jobs[job.after] if job.after is not None else None
        if before is not None and self.results[before.id].status in (*FAILED, "skipped"):
            return f"skipped because the batch {before.due.window} did not succeed"
        if self._settings.fail_fast and any(result.status in FAILED for result in list(self.results.values())):
            return "skipped because another batch failed"
        return None

    def has_results(self, unique_id: str) -> bool:
        """Whether a batch of a model has a result."""
        return any(job.id in self.results for job in self._jobs_of.get(unique_id, ()))

    def warn_of_late_rows(self, unique_id: str, driver: Driver, catalog: Catalog) -> list[str]:
        """Return warnings of rows that came too late for the batches of a model, which have ended."""
        jobs, since = self._jobs_of.get(unique_id, ()), self._last_times.get(unique_id)
        node = self._prepared.graph.nodes[unique_id]
        if not jobs or since is None or not isinstance(node, ModelNode):
            return []
        windows, branch = [job.due.window for job in jobs], self._settings.branch
        try:
            return list(late_warnings(self._prepared, node, windows, since, branch, driver, catalog))
        except Exception as failure:
            if not from_engine(failure):
                raise
            return [f"rows that came too late could not be counted: {engine_error(failure).message}"]

    def result(self, unique_id: str) -> Result:
        """Return the result of a model; a batch without one was stopped before it began."""
        relation = str(self._prepared.graph.nodes[unique_id].relation)
        if unique_id in self._errors:
            return Result(unique_id, "error", message=self._errors[unique_id], relation_name=relation)
        stopped = Result(unique_id, "skipped", message="skipped because the run was stopped")
        batches = [(job, self.results.get(job.id, stopped)) for job in self._jobs_of[unique_id]]
        return joined_result(unique_id, batches, relation)
