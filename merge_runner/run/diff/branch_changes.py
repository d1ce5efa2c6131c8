"""What a branch changes of a project, by a check-out of its base: nothing runs, and no table is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from merge_runner.errors import ProblemsError
from merge_runner.graph.artifact import Metadata
from merge_runner.graph.graph import ModelNode, RefNode, SourceNode, nodes_of
from merge_runner.graph.manifest import CompiledText, manifest
from merge_runner.graph.order import topological
from merge_runner.graph.selection.state import Change
from merge_runner.graph.selection.state import changes as state_changes
from merge_runner.lineage.changed_columns import Columns
from merge_runner.lint.finding import Finding
from merge_runner.lint.options import LintOptions
from merge_runner.lint.report import Report, ReportedMerge
from merge_runner.lint.run.lint_project import lint_project
from merge_runner.lint.suppress.baseline import Baseline
from merge_runner.pages.runs.history import kept_runs
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.lineage.column_reach import columns_reached
from merge_runner.plan.lineage.project_lineage import ProjectLineage
from merge_runner.plan.load.project_context import Prepared, prepare
from merge_runner.plan.steps.prediction import Prediction
from merge_runner.pruning.verdict import Verdict
from merge_runner.run.diff.diff import sensitive_columns
from merge_runner.run.results.past_merges import RUNS
from merge_runner.version import version

_OF_ALL_COLUMNS: frozenset[Change] = frozenset({"new", "relation"})
"""Changes that concern all columns of a model, whatever its text is."""
_OF_TEXT: frozenset[Change] = frozenset({"body"})
_LATER_RUN, _FIRST_RUN = 0, 1
"""The two texts of a model that `_texts` returns."""
_FIGURES = ("files", "bytes", "rewritten_bytes", "seconds")
_MOST = 1e18
"""Beyond any size or time that a run has predicted."""


@dataclass(frozen=True)
class NodeChange:
    """What a branch changes of a model, seed or source.

    `changes`: in what it differs from the base; empty: only what it reads, or what is said of it, does. `before` and
    `after` are the verdicts on its MERGEs, `reason` why it is so now. `columns` (None: all, or the rows themselves) are
    those that it makes otherwise, `reaches` the columns of other models that these reach, by model. `cost` is what the
    last run in this target predicted.
    """

    name: str
    changes: frozenset[Change] = frozenset()
    before: tuple[Verdict, ...] = ()
    after: tuple[Verdict, ...] = ()
    reason: str = ""
    columns: Columns = frozenset()
    reaches: Mapping[str, Columns] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    cost: Prediction | None = None


@dataclass(frozen=True)
class BranchChanges:
    """The changes of a project in the order of the DAG, and the models that are no more.

    `findings` are new ones that are about no model. `compared` are the ids of what both have and a change may reach:
    the tables that are worth comparing. `sensitive` are the names, case folded, of all columns that the base calls so:
    no branch shows their values by calling them or their table otherwise.
    """

    nodes: tuple[NodeChange, ...] = ()
    removed: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    compared: tuple[str, ...] = ()
    sensitive: frozenset[str] = frozenset()
    project: str = ""


def base_project(prepared: Prepared, folder: Path) -> Prepared:
    """Return the project as it is in the folder of its base, loaded with the same options. Raises ProblemsError."""
    try:
        return prepare(folder, prepared.flags, prepared.invocation.env)
    except ProblemsError as error:
        problems = [replace(problem, message=f"in the base {folder}: {problem.message}") for problem in error.problems]
        raise ProblemsError(problems) from error


def branch_changes(prepared: Prepared, base: Prepared, ids: Collection[str]) -> BranchChanges:
    """Return what differs between a project and its base, of the nodes `ids`. Raises ProblemsError."""
    graph = prepared.graph
    reports = lint_project(base, base.graph.nodes, LintOptions(use_baseline=False)), lint_project(prepared, graph.nodes)
    before, after = map(_verdicts, reports)
    # By its message a finding is the same where its subject, such as a whole source, is written in another way.
    old, new = ([replace(finding, subject=finding.message) for finding in report.findings] for report in reports)
    findings = Baseline.of(old).hide(new).visible
    changes, reach = _changes(prepared, base)
    costs = _costs(prepared)
    nodes, reached = [], set[str]()
    for unique_id in topological(graph, changes.keys() & set(ids)):
        node, own = graph.nodes[unique_id], changes[unique_id]
        columns = reach(unique_id) if own else {}
        reached |= {unique_id, *columns} if own else set()
        merges = after.get(node.full_name, ())
        change = NodeChange(
            node.full_name,
            own,
            tuple(merge.verdict for merge in before.get(node.full_name, ())),
            tuple(merge.verdict for merge in merges),
            "; ".join(merge.reason for merge in merges),
            columns.pop(unique_id, frozenset()),
            {graph.nodes[key].name: names for key, names in columns.items() if isinstance(graph.nodes[key], ModelNode)},
            tuple(finding for finding in findings if finding.model == node.full_name),
            costs.get(unique_id),
        )
        if own or change.before != change.after or change.findings:
            nodes.append(change)
    names = {graph.nodes[key].full_name for key in changes}
    both = reached & set(ids) & base.graph.nodes.keys()
    return BranchChanges(
        tuple(nodes),
        tuple(node.name for node in nodes_of(base.graph.nodes, ModelNode) if node.unique_id not in graph.nodes),
        tuple(finding for finding in findings if finding.model not in names),
        tuple(topological(graph, both)),
        frozenset(name.casefold() for node in nodes_of(base.graph.nodes, RefNode) for name in sensitive_columns(node)),
        graph.project,
    )


def _verdicts(report: Report) -> dict[str, tuple[ReportedMerge, ...]]:
    """Return the MERGEs of each model or seed: its own, and those of its hooks."""
    merges: dict[str, tuple[ReportedMerge, ...]] = {}
    for merge in report.merges:
        if merge.model is not None:
            merges[merge.model] = (*merges.get(merge.model, ()), merge)
    return merges


def _changes(
    prepared: Prepared, base: Prepared
) -> tuple[dict[str, frozenset[Change]], Callable[[str], dict[str, Columns]]]:
    """Return in what each model, seed and source differs, and what returns the columns that a changed one reaches.

    A var, or the config of a source, changes the text of a model and not its file.
    """
    texts, old_texts = _texts(prepared), _texts(base)
    previous = [_manifest(base, old_texts, run) for run in (_LATER_RUN, _FIRST_RUN)]
    changes, of_columns = {}, {}
    for unique_id, own in state_changes(prepared.graph, previous[_LATER_RUN]).items():
        if not isinstance(prepared.graph.nodes[unique_id], RefNode | SourceNode):
            continue
        changes[unique_id] = of_columns[unique_id] = own
        if unique_id in texts and not own & _OF_ALL_COLUMNS:
            is_changed = own or texts[unique_id] != old_texts[unique_id]
            changes[unique_id] = own or (_OF_TEXT if is_changed else own)
            of_columns[unique_id] = _OF_TEXT  # what config does to the columns is in the text
    reaches = [
        columns_reached(project, ProjectLineage(project, Layouts.load(project)), previous[run], of_columns)
        for run, project in enumerate((prepared, prepared.first_run))
    ]

    def reach(unique_id: str) -> dict[str, Columns]:
        runs = (_LATER_RUN, _FIRST_RUN) if len(set(texts.get(unique_id, ()))) > 1 else (_LATER_RUN,)
        reached: dict[str, Columns] = {}
        for run in runs:
            for key, columns in reaches[run](unique_id).items():
                earlier = reached.get(key, frozenset())
                reached[key] = None if columns is None or earlier is None else columns | earlier
        return reached

    return changes, reach


def _manifest(prepared: Prepared, texts: Mapping[str, tuple[str | None, str | None]], run: int) -> dict[str, Any]:
    """Return the manifest of a project with the compiled texts of a kind of run."""
    compiled = {key: CompiledText(text) for key, by_run in texts.items() if (text := by_run[run]) is not None}
    return manifest(prepared.graph, Metadata(datetime.now(timezone.utc), "", version()), compiled=compiled)


def _texts(prepared: Prepared) -> dict[str, tuple[str | None, str | None]]:
    """Return the compiled texts of each model by id, of a later and of a first run; None: it cannot be rendered."""
    texts = {}
    for node in nodes_of(prepared.graph.nodes, ModelNode):
        text = _text(prepared, node)
        texts[node.unique_id] = (text, _text(prepared.first_run, node) if node.differs_by_run else text)
    return texts


def _text(prepared: Prepared, node: ModelNode) -> str | None:
    try:
        return prepared.compiler.render(node.unique_id).text
    except ProblemsError:
        return None  # lint says why, or it depends on what a query returns


def _costs(prepared: Prepared) -> dict[str, Prediction]:
    """Return what the last run of each MERGE in this target was predicted to cost, by node id."""
    costs: dict[str, Prediction] = {}
    for run in kept_runs(prepared.target_path, RUNS):
        if run.record["target"] == prepared.files.profile.target:
            for entry in run.record["nodes"]:
                predicted = (entry.get("response") or {}).get("predicted")
                if predicted is not None:
                    values = {key: predicted.get(key) for key in _FIGURES}
                    if all(value is None or _is_figure(value) for value in values.values()):
                        costs.setdefault(entry["id"], Prediction(**values))
    return costs


def _is_figure(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value < _MOST
