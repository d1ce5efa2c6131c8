"""What the page of one node shows: texts, columns, layout, verdict with its proof, config."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from merge_runner.errors import ProblemsError
from merge_runner.graph.graph import (
    AnalysisNode,
    DataTestNode,
    ExposureNode,
    ModelNode,
    Node,
    RefNode,
    SeedNode,
    SourceNode,
    UnitTestNode,
)
from merge_runner.graph.manifest import config_as_json
from merge_runner.lint.finding import Finding
from merge_runner.lint.report import ReportedMerge
from merge_runner.pages.project.listed_nodes import NodeNumbers, is_test
from merge_runner.pages.project.marked_text import Piece, rendered_pieces, run_pieces
from merge_runner.pages.runs.history import LastResult
from merge_runner.plain_json import plain
from merge_runner.plan.load.project_context import Prepared
from merge_runner.project_file import Boundary, read_file
from merge_runner.pruning.layout.layout import TableLayout

_LONGEST = 200_000
"""Characters of one text that the page keeps: generated statements of megabytes would be all that it is."""


def node_details(
    prepared: Prepared,
    numbers: NodeNumbers,
    node: Node,
    layout: TableLayout | None,
    merge: ReportedMerge | None,
    findings: Sequence[Finding],
    last: LastResult | None,
) -> dict[str, Any]:
    """Return the details of a node, without what is empty. `layout` is that of its table or view."""
    values = {
        "description": node.description,
        "columns": _columns(numbers, node, layout),
        "author": _shorten(node.raw_code),
        **_compiled_texts(prepared, node, last),
        "proof": _proof(merge),
        "findings": [_finding(finding) for finding in findings],
        "layout": _layout(layout) if _has_table(node) else None,
        "config": plain({key: value for key, value in config_as_json(node).items() if value not in (None, [], {})}),
        "meta": plain(node.meta),
        "tests": numbers.of(
            child for child in numbers.graph.dag.succ[node.unique_id] if is_test(numbers.graph.nodes[child])
        ),
        "macros": [macro.rpartition(".")[2] for macro in node.macros],
        "unit": _unit(node),
        "source": _source(node),
        "exposure": _exposure(node),
        "last": {"at": last.at, **last.entry} if last is not None else None,
        "last_work": {"at": last.work.at, **last.work.entry} if last is not None and last.work is not None else None,
    }
    return {key: value for key, value in values.items() if value not in (None, "", [], {})}


def _has_table(node: Node) -> bool:
    return isinstance(node, SourceNode | SeedNode) or node.materialized in ("merge", "table")


def _columns(numbers: NodeNumbers, node: Node, layout: TableLayout | None) -> list[dict[str, Any]]:
    """The columns of the table in its order, with what is declared of each; those that are declared alone at last."""
    declarations = dict(node.columns) if isinstance(node, RefNode | SourceNode) else {}
    folded = {name.casefold(): column for name, column in declarations.items()}
    tests = _column_tests(numbers, node)
    columns = [(column.name, str(column.data_type) if column.data_type else None, column.nullable, column.generated)
             for column in (layout.columns if layout is not None and layout.columns else ())]  # fmt: skip
    names = {name.casefold() for name, *_ in columns}
    columns += [(name, None, None, None) for name in declarations if name.casefold() not in names]
    entries = []
    for name, data_type, nullable, generated in columns:
        declaration = folded.get(name.casefold(), {})
        entry = {
            "name": name,
            "type": declaration.get("data_type") or data_type,
            "about": declaration.get("description"),
            "not_null": nullable is False,
            "generated": generated,
            "tests": tests.get(name.casefold()),
            "constraints": [
                constraint.get("type")
                for constraint in declaration.get("constraints") or ()
                if isinstance(constraint, Mapping)
            ],
        }
        entries.append({key: value for key, value in entry.items() if value not in (None, "", [], False)})
    return entries


def _column_tests(numbers: NodeNumbers, node: Node) -> dict[str, list[int]]:
    tests: dict[str, list[int]] = {}
    for child in sorted(numbers.graph.dag.succ[node.unique_id]):
        test = numbers.graph.nodes[child]
        generic = test.generic_test if isinstance(test, DataTestNode) else None
        if generic is not None and generic.column and generic.attached_node == node.unique_id:
            tests.setdefault(generic.column.casefold(), []).append(numbers[child])
    return tests


def _compiled_texts(prepared: Prepared, node: Node, last: LastResult | None) -> dict[str, Any]:
    """The compiled text by its origins, or why there is none; and the text that ran, where it differs."""
    content: dict[str, Any] = {}
    if isinstance(node, ModelNode | AnalysisNode) or (isinstance(node, DataTestNode) and node.generic_test is None):
        try:
            content["compiled"] = _conceal(prepared, rendered_pieces(prepared.compiler.render(node.unique_id)))
        except ProblemsError as error:
            content["not_compiled"] = [prepared.conceal(str(problem)) for problem in error.problems]
    if last is not None and (text := _run_text(prepared, last)) is not None:
        content["ran"] = text
    return content


def _run_text(prepared: Prepared, last: LastResult) -> list[list[str]] | None:
    """The text of target/run, if the runner has put something into that which was compiled for the same run."""
    compiled = last.compiled_code
    if compiled is None or last.run_path is None:
        return None
    try:
        text = read_file(prepared.target_path / last.run_path, Boundary(prepared.target_path)).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return _conceal(prepared, run_pieces(compiled, text)) if text.strip() != compiled.strip() else None


def _conceal(prepared: Prepared, pieces: Sequence[Piece]) -> list[list[str]]:
    left, parts = _LONGEST, []
    for origin, text in pieces:
        parts.append([origin, prepared.conceal(text[:left])])
        left -= len(text)
        if left <= 0:
            parts.append(["cut", f"… cut after {_LONGEST:,} characters"])
            break
    return parts


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n… cut after {_LONGEST:,} characters"


def _proof(merge: ReportedMerge | None) -> dict[str, Any] | None:
    if merge is None:
        return None
    return {
        "verdict": merge.verdict,
        "reason": merge.reason,
        "class": merge.merge_class,
        "target": merge.target,
        "format": merge.format,
        "scan": "full" if merge.scans_all_on_purpose else "bounded",
        "evolves": merge.schema_evolution,
        "conjuncts": [asdict(conjunct) for conjunct in merge.conjuncts],
        "clauses": [asdict(clause) for clause in merge.clauses],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "message": finding.message,
        "hint": finding.hint,
        "place": str(finding.place),
    }


def _layout(layout: TableLayout | None) -> dict[str, Any] | None:
    if layout is None:
        return None
    values = {
        "format": layout.format,
        "partition_by": None if layout.partition_by is None else [str(part) for part in layout.partition_by],
        "cluster_by": None if layout.cluster_by is None else list(layout.cluster_by),
        "sort_by": list(layout.sort_by or ()) or None,
        "unique": [sorted(key) for key in layout.unique] or None,
        "properties": dict(layout.properties) or None,
        "files": layout.files,
        "bytes": layout.bytes,
    }
    return {key: value for key, value in values.items() if value is not None}


def _unit(node: Node) -> dict[str, Any] | None:
    if not isinstance(node, UnitTestNode):
        return None
    case = node.unit_test
    return {"model": case.model, "given": plain(case.given), "expect": plain(case.expect)}


def _exposure(node: Node) -> dict[str, Any] | None:
    if not isinstance(node, ExposureNode):
        return None
    config = node.config
    values = {
        "label": config.label,
        "type": config.type,
        "owner": config.owner.name,
        "email": config.owner.email,
        "maturity": config.maturity,
        "url": config.url,
    }
    return {key: value for key, value in values.items() if value}


def _source(node: Node) -> dict[str, Any] | None:
    if not isinstance(node, SourceNode):
        return None
    table = node.config
    return {"reads": table.path, "format": table.format, "files": list(node.files)[:20]}
