"""A lint run over a project: from its graph to a report."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from merge_runner.errors import Problem
from merge_runner.graph.graph import Graph, ModelNode, RefNode, SeedNode, nodes_of
from merge_runner.lint.check import CheckResult, check_file
from merge_runner.lint.context import LintedFile
from merge_runner.lint.finding import Finding
from merge_runner.lint.options import LintOptions
from merge_runner.lint.report import Report
from merge_runner.lint.run.authors_texts import AuthorsTexts
from merge_runner.lint.run.check_cache import CachingLinter, CheckCache
from merge_runner.lint.run.hook_files import has_merges
from merge_runner.lint.run.parallel import check_all
from merge_runner.lint.run.project_linter import ProjectLinter
from merge_runner.lint.selection import RuleSelection
from merge_runner.lint.suppress.apply import finish
from merge_runner.lint.suppress.baseline import Baseline
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.load.project_context import Prepared
from merge_runner.text import SourceText


def lint_project(
    prepared: Prepared,
    ids: Iterable[str],
    options: LintOptions | None = None,
    jinja: Sequence[Problem] = (),
    processes: int | None = None,
    layouts: Layouts | None = None,
) -> Report:
    """Lint the models and the hooks of seeds among the nodes `ids`, in as many processes as pay by default.

    `jinja` are the problems to report of files that could not become models. With `layouts`, those of the project's
    tables, nothing is kept for later runs, and nothing kept is read.

    Raises ProblemsError for settings, layout files or a baseline that are wrong.
    """
    options = options or LintOptions()
    settings = prepared.files.settings
    selection = RuleSelection.from_settings(settings.lint, settings.places, rules=options.rules, ignore=options.ignore)
    baseline = Baseline.of_options(options, prepared.files.root, settings.lint.baseline)
    found_layouts = layouts or Layouts.load(prepared, options.layout)
    linter = ProjectLinter(prepared, found_layouts, selection)
    models = {node.unique_id for node in nodes_of(prepared.graph.nodes, ModelNode)}
    seeds = {node.unique_id for node in nodes_of(prepared.graph.nodes, SeedNode) if has_merges(node)}
    asked = [unique_id for unique_id in ids if unique_id in models or unique_id in seeds]
    chosen = [unique_id for unique_id in asked if unique_id in models]
    whole = len(chosen) == len(models)
    if layouts is None:
        kept = CheckCache(prepared, found_layouts, selection)
        checked = _checked(CachingLinter(linter, kept), asked, processes)
        kept.write()
    else:
        checked = check_all(linter, asked, processes)
    of_project = linter.check_project(chosen)
    reported = {problem.place for problem in jinja}  # rendering says again what the graph has said of refs
    found = [
        finding
        for item in checked
        for finding in item.findings
        if finding.code != "J001" or finding.place not in reported
    ]
    merges = [item.merge for item in checked if item.merge is not None]
    parsed = {merge.path for merge in merges}
    merges += [merge for item in checked for merge in item.hooks]
    paths = _paths(prepared.graph, frozenset(asked))
    found += [finding for finding in of_project if whole or finding.place.path in paths]
    found += _jinja_findings(jinja, selection)
    texts = AuthorsTexts(prepared, paths, {finding.place.path for finding in found})
    return finish(
        found,
        merges,
        texts,
        selection,
        baseline,
        secrets=prepared.secrets,
        files=len(chosen),
        models=prepared.model_names,
        ran=lambda path, rule: rule.ran_on(path in parsed) if rule.check_project is None else whole,
        not_judged=[each for item in checked for each in item.not_judged],
    )


def _checked(linter: CachingLinter, chosen: Sequence[str], processes: int | None) -> Sequence[CheckResult]:
    """The outcome for each model: that of an earlier run, or one that is made and kept now."""
    kept = linter.kept
    found = {unique_id: kept.get(unique_id) for unique_id in chosen}
    missing = [unique_id for unique_id, known in found.items() if known is None]
    kept.close()
    made = dict(zip(missing, check_all(linter, missing, processes), strict=True)) if missing else {}
    kept.put(made)
    return [known or made[unique_id].checked for unique_id, known in found.items()]


def _paths(graph: Graph, chosen: Collection[str]) -> set[str]:
    """The files of the nodes, and those that describe them."""
    nodes = (node for node in nodes_of(graph.nodes, RefNode) if node.unique_id in chosen)
    return {path for node in nodes for path in (node.path, node.patch_path) if path is not None}


def _jinja_findings(problems: Iterable[Problem], selection: RuleSelection) -> Iterator[Finding]:
    for problem in problems:
        path = problem.place.path if problem.place else ""
        file = LintedFile(SourceText(path, ""), None, None, problems=(problem,), is_merge=False)
        yield from check_file(file, None, selection).findings
