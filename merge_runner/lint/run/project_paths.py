"""Lints paths in a project: its models, and plain files next to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from merge_runner.errors import Problem
from merge_runner.lint.report import Report
from merge_runner.lint.request import ArgumentsError, LintMessages, LintRequest, LintResult
from merge_runner.lint.run.fixed_files import fix
from merge_runner.lint.run.lint_files import Surroundings
from merge_runner.lint.run.lint_project import lint_project
from merge_runner.lint.run.named_models import PathSelection, readers, select_paths
from merge_runner.lint.run.plain_paths import lint_plain
from merge_runner.lint.run.roots import within
from merge_runner.lint.suppress.apply import join_reports
from merge_runner.plan.lineage.column_reach import column_reach
from merge_runner.plan.load.project_context import Prepared, prepare_to_lint


def lint_paths_of_project(
    root: Path, paths: Sequence[Path], request: LintRequest, env: Mapping[str, str], messages: LintMessages
) -> LintResult:
    """Return the report on paths in the project at `root`; without paths, on all of it. Raises ProblemsError."""
    text = request.text
    inner = within(root, paths[0]) if text is not None else None
    texts = {inner: text} if inner is not None and text is not None else {}
    prepared, jinja = prepare_to_lint(root, request.flags, env, texts, cache=request.cache)
    messages.not_read(prepared.not_read)
    path_selection = select_paths(prepared, root, paths) if paths else None
    if request.write_baseline is not None and path_selection is not None and not path_selection.whole:
        raise ArgumentsError("--write-baseline is about the whole project: leave out PATHS.")
    ids = _ids(prepared, path_selection, request, messages)

    def look() -> Report:
        return lint_project(prepared, ids, request.rule_options, _problems_of(jinja, path_selection), request.processes)

    if request.fix:
        report = look()
        fix({path: root / path for path in report.sources}, report, messages, unsafe=request.fix == "unsafe")
        prepared, jinja = prepare_to_lint(root, request.flags, env, cache=request.cache)
        ids = [unique_id for unique_id in ids if unique_id in prepared.graph.nodes]
    warnings = [*prepared.unread_vars, *prepared.graph.warnings_of(ids)]
    messages.warn(warnings)
    report = look()
    if path_selection is None or not (path_selection.plain or path_selection.foreign):
        return LintResult(report, root, of_models=not prepared.withheld, warnings=tuple(warnings))  # notes are not kept
    for path in path_selection.foreign:
        messages.say(f"{path}: in another project, not looked at", "warn")

    settings = prepared.files.settings
    around = Surroundings(root, settings.lint, settings.places, prepared.files.macros, prepared.files.vars)
    return LintResult(join_reports(report, lint_plain(path_selection.plain, request, env, messages, around)), root)


def _ids(
    prepared: Prepared, path_selection: PathSelection | None, request: LintRequest, messages: LintMessages
) -> list[str]:
    """The nodes that are selected, among those that the paths mean."""
    reach = None
    if request.columns:
        reach = column_reach(prepared)
    selection = prepared.select(request.select, request.exclude, request.selector, request.state, column_reach=reach)
    messages.warn(selection.warnings)
    ids = list(selection.ids)
    if request.changed is not None:
        changes = prepared.select([f"git:{request.changed}"])
        messages.warn(changes.warnings)
        changed_ids = {*changes.ids, *readers(prepared.graph, changes.ids)}
        ids = [unique_id for unique_id in ids if unique_id in changed_ids]
    return ids if path_selection is None else [unique_id for unique_id in ids if unique_id in path_selection.models]


def _problems_of(jinja: Sequence[Problem], path_selection: PathSelection | None) -> list[Problem]:
    """Return the problems to report: where paths name models, not those of other models."""
    if path_selection is None:
        return list(jinja)
    return [problem for problem in jinja if problem.place is None or problem.place.path not in path_selection.unnamed]
