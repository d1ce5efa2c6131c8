"""Makes OpenLineage's run events: one run for an invocation, and below it one for each of its nodes."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from merge_runner.graph.graph import DataTestNode
from merge_runner.openlineage import facets
from merge_runner.openlineage.node_facts import ProjectFacts
from merge_runner.openlineage.settings import LineageSettings, RunRef
from merge_runner.plan.load.project_context import Prepared
from merge_runner.run.results.event_types import (
    InvocationFailed,
    InvocationFinished,
    InvocationStarted,
    NodeFinished,
    NodeStarted,
)
from merge_runner.run.results.events import Event

State = Literal["START", "COMPLETE", "FAIL", "ABORT"]
KINDS = (InvocationStarted, InvocationFailed, InvocationFinished, NodeStarted, NodeFinished)
"""The events of an invocation that lead to events here."""

_ENDS: Mapping[str, State] = {"error": "FAIL", "fail": "FAIL", "partial success": "FAIL", "skipped": "ABORT"}
_FIGURES = {
    "operation": "operation",
    "verdict": "verdict",
    "verdict_held": "verdictHeld",
    "files_total": "filesTotal",
    "files_scanned": "filesScanned",
    "files_removed": "filesRemoved",
    "rows_source": "rowsSource",
    "rows_inserted": "rowsInserted",
    "rows_updated": "rowsUpdated",
    "rows_deleted": "rowsDeleted",
    "rows_copied": "rowsCopied",
    "bounds": "runtimeFilters",
    "attempts": "attempts",
    "batch_id": "batchId",
}
"""Keys of `adapter_response` and what the facet of a MERGE calls them."""


@dataclass
class RunEvents:
    """Makes the events of one invocation. `spark` is the version of the engine, where it is known."""

    prepared: Prepared
    settings: LineageSettings
    facts: ProjectFacts
    spark: str | None
    _run: RunRef | None = None
    _groups: dict[str, str] = field(default_factory=dict)
    """The job group of each node that runs, which is different in each batch of a stream."""

    def of(self, event: Event) -> Iterator[dict[str, Any]]:
        """Yield the events that an event of the invocation leads to; their texts may have secrets."""
        if isinstance(event, InvocationStarted):
            name = f"{self.prepared.graph.project}.{event.command}"
            self._run = RunRef(event.invocation_id, self.settings.namespace, name)
            yield self._of_invocation(event, "START")
        elif self._run is None:
            return
        elif isinstance(event, (InvocationFailed, InvocationFinished)):
            for node in self._groups:  # it is not waited for, as after a second Ctrl-C
                yield self._of_node(event, node, "ABORT")
            yield self._end(event)
            self._run = None  # what a thread says from now on belongs to no run
        elif isinstance(event, NodeStarted):
            self._groups[event.node] = event.group
            yield self._of_node(event, event.node, "START")
        elif isinstance(event, NodeFinished):
            if event.node not in self._groups:  # it is skipped, and has not started
                yield self._of_node(event, event.node, "START")
            state = _ENDS.get(event.result["status"], "COMPLETE")
            yield self._of_node(event, event.node, state, event.result)
            self._groups.pop(event.node, None)

    def _end(self, event: InvocationFailed | InvocationFinished) -> dict[str, Any]:
        if isinstance(event, InvocationFailed):
            return self._of_invocation(event, "FAIL", "\n".join(event.problems))
        return self._of_invocation(event, "ABORT" if event.stopped else "COMPLETE" if event.ok else "FAIL")

    def _of_invocation(self, event: Event, state: State, message: str | None = None) -> dict[str, Any]:
        assert self._run is not None
        content = facets.processing_engine(self.spark)
        if self.settings.parent is not None:
            root = (self.settings.root or self.settings.parent).as_json()
            content |= facets.facet("parent", **self.settings.parent.as_json(), root=root)
        content |= _error(message)
        job = facets.facet("jobType", processingType="BATCH", integration="MERGE_RUNNER", jobType="COMMAND")
        return self._event(event, state, self._run, content, job, (), ())

    def _of_node(
        self, event: Event, unique_id: str, state: State, result: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        assert self._run is not None
        facts, node = self.facts.of(unique_id), self.prepared.graph.nodes[unique_id]
        root = self.settings.root or self.settings.parent or self._run
        content = facets.facet("parent", **self._run.as_json(), root=root.as_json())
        content |= facets.processing_engine(self.spark)
        job, inputs, output = dict(facts.job), facts.inputs, facts.output
        if result is not None:
            response = result["adapter_response"]
            content |= _error(result["message"] if state != "COMPLETE" else None)
            if node.materialized == "merge":
                content |= _merge_facet(response)
            if result["compiled_code"]:
                job |= facets.facet("sql", query=result["compiled_code"], dialect="spark")
            inputs, output = _with_figures(inputs, output, response)
            if isinstance(node, DataTestNode):
                inputs = self._with_assertion(inputs, node, result)
        id = uuid.uuid5(uuid.UUID(self._run.run_id), self._groups.get(unique_id, unique_id))
        run = RunRef(str(id), self.settings.namespace, unique_id)
        return self._event(event, state, run, content, job, inputs, (output,) if output is not None else ())

    def _with_assertion(
        self, inputs: tuple[Mapping[str, Any], ...], node: DataTestNode, result: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], ...]:
        """Return the inputs of a data test, with its result at the dataset that it tests."""
        tested = self.facts.tested(node)
        assertion = facets.facet("dataQualityAssertions", assertions=[_assertion(node, result)])
        return tuple(
            {**dataset, "inputFacets": assertion}
            if tested is not None and (dataset["namespace"], dataset["name"]) == (tested.namespace, tested.name)
            else dataset
            for dataset in inputs
        )

    @staticmethod
    def _event(
        event: Event,
        state: State,
        run: RunRef,
        content: Mapping[str, Any],
        job: Mapping[str, Any],
        inputs: tuple[Mapping[str, Any], ...],
        outputs: tuple[Mapping[str, Any], ...],
    ) -> dict[str, Any]:
        return {
            "eventType": state,
            "eventTime": event.at.isoformat(),
            "run": {"runId": run.run_id, "facets": dict(content)},
            "job": {"namespace": run.namespace, "name": run.name, "facets": dict(job)},
            "inputs": list(inputs),
            "outputs": list(outputs),
            "producer": facets.PRODUCER,
            "schemaURL": facets.EVENT_SCHEMA,
        }


def _error(message: str | None) -> dict[str, Any]:
    return facets.facet("errorMessage", message=message, programmingLanguage="SQL") if message is not None else {}


def _merge_facet(response: Mapping[str, Any]) -> dict[str, Any]:
    return facets.facet(facets.MERGE, **{name: response.get(key) for key, name in _FIGURES.items()})


def _with_figures(
    inputs: tuple[Mapping[str, Any], ...], output: Mapping[str, Any] | None, response: Mapping[str, Any]
) -> tuple[tuple[Mapping[str, Any], ...], Mapping[str, Any] | None]:
    """Return the datasets of a node with what was read and written; a MERGE scans files of its target."""
    if output is None:
        return inputs, None
    place = (output["namespace"], output["name"])
    scanned = facets.facet("inputStatistics", fileCount=response.get("files_scanned"))
    inputs = tuple(
        {**dataset, "inputFacets": scanned} if scanned and (dataset["namespace"], dataset["name"]) == place else dataset
        for dataset in inputs
    )
    version = response.get("table_version")
    content = facets.facet("version", datasetVersion=None if version is None else str(version))
    statistics = facets.facet(
        "outputStatistics",
        rowCount=response.get("rows_affected"),
        size=response.get("bytes_added"),
        fileCount=response.get("files_added"),
    )
    return inputs, {**output, "facets": {**output["facets"], **content}, "outputFacets": statistics}


def _assertion(node: DataTestNode, result: Mapping[str, Any]) -> dict[str, Any]:
    test: Any = node.generic_test
    assertion: dict[str, Any] = {
        "assertion": test.name if test is not None else "custom_sql",
        "success": result["status"] == "pass",
        "severity": node.config.severity,
        "name": node.name,
    }
    if test is not None and test.column is not None:
        assertion["column"] = test.column
    if result["failures"] is not None:
        assertion |= {"expected": "0", "actual": str(result["failures"])}
    return assertion
