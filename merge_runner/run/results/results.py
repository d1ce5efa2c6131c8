"""Results of an invocation, and `run_results.json` in dbt's shape."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from merge_runner.atomic import write_atomic
from merge_runner.engine.response import NodeResponse, Remarks
from merge_runner.graph.artifact import Metadata, utc

if TYPE_CHECKING:
    from merge_runner.plan.steps.node_plan import NodePlan

Command = Literal["build", "run", "seed", "test", "optimize", "clone"]
Status = Literal["success", "error", "fail", "warn", "skipped", "pass", "no-op", "partial success"]
FAILED: frozenset[Status] = frozenset({"error", "fail", "partial success"})
SUCCEEDED: frozenset[Status] = frozenset({"success", "no-op"})
"""How a model or a batch of one ends well."""
TYPES: Mapping[Command, frozenset[str]] = {
    "build": frozenset({"model", "seed", "test", "unit_test"}),
    "run": frozenset({"model"}),
    "seed": frozenset({"seed"}),
    "test": frozenset({"test", "unit_test"}),
    "optimize": frozenset({"model", "seed"}),
    "clone": frozenset({"model", "seed"}),
}
"""The resource types that a command runs; others that are selected are passed over."""


@dataclass(frozen=True)
class Timing:
    """A phase of a node: `compile` or `execute`, with its start and end (UTC)."""

    name: str
    started_at: datetime
    completed_at: datetime


@dataclass(frozen=True)
class Result:
    """The outcome of one node. `cause` names the node that is to blame for a skip.

    `plan` is the plan that ran, None where none did.
    """

    unique_id: str
    status: Status
    timing: tuple[Timing, ...] = ()
    thread_id: str = ""
    response: NodeResponse = field(default_factory=NodeResponse)
    message: str | None = None
    failures: int | None = None
    compiled_code: str | None = None
    relation_name: str | None = None
    warnings: tuple[str, ...] = ()
    cause: str | None = None
    plan: NodePlan | None = None

    @property
    def adapter_response(self) -> dict[str, Any]:
        """What the node reports, as in run_results.json (docs/reference/adapter-response.md)."""
        return {**self.response.as_json(), **Remarks("\n".join(self.warnings) or None, self.cause).as_json()}

    @property
    def execution_time(self) -> float:
        """Seconds of all phases: what lay between them was waiting."""
        return sum((phase.completed_at - phase.started_at).total_seconds() for phase in self.timing)

    def as_json(self) -> dict[str, Any]:
        """The entry of run_results.json: dbt's keys alone, since its schema allows no others."""
        return {
            "status": self.status,
            "timing": [
                {
                    "name": phase.name,
                    "started_at": utc(phase.started_at),
                    "completed_at": utc(phase.completed_at),
                }
                for phase in self.timing
            ],
            "thread_id": self.thread_id,
            "execution_time": self.execution_time,
            "adapter_response": self.adapter_response,
            "message": self.message,
            "failures": self.failures,
            "unique_id": self.unique_id,
            "compiled": self.compiled_code is not None,
            "compiled_code": self.compiled_code,
            "relation_name": self.relation_name,
            "batch_results": _batch_results(self.response.batches),
        }


def _batch_results(batches: Sequence[Mapping[str, Any]] | None) -> dict[str, list[list[str]]] | None:
    """Return the windows of batches by how they ended, as dbt has them."""
    if batches is None:
        return None
    ends: dict[str, list[list[str]]] = {"successful": [], "failed": []}
    for batch in batches:
        name = "successful" if batch["status"] in SUCCEEDED else "failed"
        ends[name].append([batch["start"], batch["end"]])
    return ends


@dataclass(frozen=True)
class RunResults:
    """All results of one invocation, in the order in which they came; `results` are those of its nodes."""

    invocation_id: str
    command: str
    started_at: datetime
    completed_at: datetime
    args: Mapping[str, Any]
    results: tuple[Result, ...]
    hooks: tuple[Result, ...] = ()
    """The results of the hooks of the run, `on-run-start` and `on-run-end`: dbt has them among those of the nodes."""

    @property
    def failed(self) -> tuple[Result, ...]:
        """What failed: hooks of the run, models, seeds and tests."""
        return tuple(result for result in (*self.hooks, *self.results) if result.status in FAILED)

    @property
    def ok(self) -> bool:
        """Whether no model, seed, test or hook of the run failed."""
        return not self.failed

    def __getitem__(self, name: str) -> Result:
        """The result of the node with this name or unique id. Raises KeyError."""
        for result in self.results:
            if name in (result.unique_id, result.unique_id.split(".", 2)[-1]):
                return result
        raise KeyError(name)

    def counts(self) -> dict[str, int]:
        """How many results have each status."""
        counts: dict[str, int] = {}
        for result in self.results:
            counts[result.status] = counts.get(result.status, 0) + 1
        return counts


def write_run_results(path: Path, run: RunResults, version: str) -> None:
    """Replaces run_results.json in one step."""
    write_atomic(path, run_results_text(run, version))


def run_results_text(run: RunResults, version: str) -> str:
    """Return the text of run_results.json."""
    document = {
        "metadata": Metadata(run.completed_at, run.invocation_id, version, run.started_at).as_json("run-results/v6"),
        "results": [result.as_json() for result in (*run.results, *run.hooks)],
        "elapsed_time": (run.completed_at - run.started_at).total_seconds(),
        "args": {**run.args, "which": run.command},
    }
    return json.dumps(document, default=str)
