"""The page of a project as one value, and as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from merge_runner.graph.graph import Node, RefNode, SourceNode
from merge_runner.graph.model_text import OlderRows
from merge_runner.lint.finding import Finding
from merge_runner.lint.report import Report, ReportedMerge
from merge_runner.pages.html import page
from merge_runner.pages.project.lineage_rows import lineage_rows
from merge_runner.pages.project.listed_nodes import NodeNumbers, group, listed_nodes
from merge_runner.pages.project.node_details import node_details
from merge_runner.pages.runs.history import LastResult
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.lineage.model_lineage import ModelLineages, has_lineage
from merge_runner.plan.load.project_context import Prepared

CHUNK = 40
"""Nodes whose details are in one compressed block: some 20 kB, which opens in milliseconds."""


def project_page(
    prepared: Prepared,
    report: Report,
    last: Mapping[str, LastResult],
    *,
    freshness: Mapping[str, Any] | None = None,
    older_rows: Mapping[str, OlderRows] | None = None,
) -> str:
    """Return the page of a project as HTML.

    `report` is what lint says of all models, `last` are the last results by id, `freshness` the results of
    `source freshness` by id, `older_rows` how many commits of a table an older text has made, by id.
    """
    overview, details = project_data(prepared, report, last, freshness or {}, older_rows or {})
    chunks = [details[start : start + CHUNK] for start in range(0, len(details), CHUNK)]
    return page(f"{prepared.graph.project} · merge-runner", "project", overview, chunks)


def project_data(
    prepared: Prepared,
    report: Report,
    last: Mapping[str, LastResult],
    freshness: Mapping[str, Any],
    older_rows: Mapping[str, OlderRows],
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what the page always has, and the details of each node by its number. Secrets are concealed."""
    graph = prepared.graph
    numbers = NodeNumbers(graph)
    layouts = Layouts.load(prepared)
    by_id = {
        unique_id: layouts.of(unique_id)
        for unique_id in numbers.ids
        if isinstance(graph.nodes[unique_id], RefNode | SourceNode)
    }
    merges = _merges(report)
    findings = _findings(report)
    lineages = ModelLineages(prepared, layouts)
    lineage = lineage_rows(
        numbers, [lineages.of(unique_id) for unique_id in numbers.ids if has_lineage(graph.nodes[unique_id])]
    )
    names = {unique_id: [column.name for column in layout.columns or ()] for unique_id, layout in by_id.items()}
    details = []
    for number, unique_id in enumerate(numbers.ids):
        node = graph.nodes[unique_id]
        merge = merges.get(node.name) if node.resource_type == "model" else None
        of_model = findings.get(node.name, ()) if node.resource_type == "model" else ()
        entry = node_details(prepared, numbers, node, by_id.get(unique_id), merge, of_model, last.get(unique_id))
        if number in lineage:
            entry["lineage"] = lineage[number]
        if unique_id in freshness:
            entry["freshness"] = freshness[unique_id]
        if (rows := older_rows.get(unique_id)) is not None and rows.older:
            entry["older_rows"] = str(rows)
        details.append(prepared.concealed(entry))
    merge_by_id = {
        unique_id: merges[graph.nodes[unique_id].name]
        for unique_id in numbers.ids
        if _is_model(graph.nodes[unique_id], merges)
    }
    entries = listed_nodes(numbers, names, merge_by_id, last)
    for entry, unique_id in zip(entries, numbers.ids, strict=True):
        entry["group"] = group(graph.nodes[unique_id])
        if unique_id in freshness:
            entry["fresh"] = freshness[unique_id].get("status")
    profile = prepared.files.profile
    data = {
        "project": graph.project,
        "target": profile.target,
        "schema": profile.schema,
        "made_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "chunk": CHUNK,
        "nodes": entries,
        "macros": list(_macros(prepared, numbers)),
        "findings": {severity: report.count(severity) for severity in ("error", "warning", "info")},
    }
    return prepared.concealed(data), details


def _is_model(node: Node, merges: Mapping[str, ReportedMerge]) -> bool:
    return node.resource_type == "model" and node.name in merges


def _merges(report: Report) -> dict[str, ReportedMerge]:
    """The MERGE of each model; those of hooks are not its own."""
    by_model: dict[str, ReportedMerge] = {}
    for merge in report.merges:
        if merge.model is not None:
            by_model.setdefault(merge.model, merge)
    return by_model


def _findings(report: Report) -> dict[str, Sequence[Finding]]:
    by_model: dict[str, list[Finding]] = {}
    for finding in report.findings:
        if finding.model is not None:
            by_model.setdefault(finding.model, []).append(finding)
    return dict(by_model)


def _macros(prepared: Prepared, numbers: NodeNumbers) -> Iterator[dict[str, Any]]:
    graph = prepared.graph
    callers: dict[str, list[int]] = {}
    for unique_id in numbers.ids:
        for macro_id in graph.nodes[unique_id].macros:
            callers.setdefault(macro_id, []).append(numbers[unique_id])
    for unique_id, macro in sorted(graph.macros.items()):
        yield {
            "name": macro.name,
            "path": macro.path,
            "about": macro.description,
            "sql": macro.sql,
            "calls": [callee.rpartition(".")[2] for callee in macro.macros],
            "used_by": callers.get(unique_id, []),
        }
