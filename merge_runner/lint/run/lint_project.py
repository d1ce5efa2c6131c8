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
    all_layouts = layouts or Layouts.load(prepared, options.layout)
    linter = ProjectLinter(prepared, all_layouts, selection)
    models = {node.unique_id for node in nodes_of(prepared.graph.nodes, ModelNode)}
    seeds = {node.unique_id for node in nodes_of(prepared.graph.nodes, SeedNode) if has_merges(node)}
    linted = [unique_id for unique_id in ids if unique_id in models or unique_id in seeds]
    linted_models = [unique_id for unique_id in linted if unique_id in models]
    whole = len(linted_models) == len(models)
    if layouts is None:
        cache = CheckCache(prepared, all_layouts, selection)
        results = _check(CachingLinter(linter, cache), linted, processes)
        cache.write()
    else:
        results = check_all(linter, linted, processes)
    of_project = linter.check_project(linted_models)
    reported = {problem.place for problem in jinja}  # rendering says again what the graph has said of refs
    findings = [
        finding
        for item in results
        for finding in item.findings
        if finding.code != "J001" or finding.place not in reported
    ]
    merges = [item.merge for item in results if item.merge is not None]
    parsed = {merge.path for merge in merges}
    merges += [merge for item in results for merge in item.hooks]
    paths = _paths(prepared.graph, frozenset(linted))
    findings += [finding for finding in of_project if whole or finding.place.path in paths]
    findings += _jinja_findings(jinja, selection)
    texts = AuthorsTexts(prepared, paths, {finding.place.path for finding in findings})
    return finish(
        findings,
        merges,
        texts,
        selection,
        baseline,
        secrets=prepared.secrets,
        files=len(linted_models),
        models=prepared.model_names,
        ran=lambda path, rule: rule.ran_on(path in parsed) if rule.check_project is None else whole,
        not_judged=[entry for item in results for entry in item.not_judged],
    )


def _check(linter: CachingLinter, unique_ids: Sequence[str], processes: int | None) -> Sequence[CheckResult]:
    """The outcome for each model: that of an earlier run, or one that is made and kept now."""
    cache = linter.cache
    cached = {unique_id: cache.get(unique_id) for unique_id in unique_ids}
    missing = [unique_id for unique_id, result in cached.items() if result is None]
    cache.close()
    outcomes = dict(zip(missing, check_all(linter, missing, processes), strict=True)) if missing else {}
    cache.put(outcomes)
    return [result or outcomes[unique_id].result for unique_id, result in cached.items()]


def _paths(graph: Graph, unique_ids: Collection[str]) -> set[str]:
    """The files of the nodes, and those that describe them."""
    nodes = (node for node in nodes_of(graph.nodes, RefNode) if node.unique_id in unique_ids)
    return {path for node in nodes for path in (node.path, node.patch_path) if path is not None}


def _jinja_findings(problems: Iterable[Problem], selection: RuleSelection) -> Iterator[Finding]:
    for problem in problems:
        path = problem.place.path if problem.place else ""
        file = LintedFile(SourceText(path, ""), None, None, problems=(problem,), is_merge=False)
        yield from check_file(file, None, selection).findings
