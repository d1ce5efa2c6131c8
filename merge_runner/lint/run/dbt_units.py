"""The MERGEs that dbt generates for its models as units to lint, and those that are not known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from merge_runner.errors import Problems
from merge_runner.lint.check import CheckResult
from merge_runner.lint.context import LintedFile, LintedMerge
from merge_runner.lint.dbt.hooks import hook_merges
from merge_runner.lint.dbt.model import DbtModel
from merge_runner.lint.dbt.project import MANIFEST
from merge_runner.lint.finding import Finding
from merge_runner.lint.registry import rules
from merge_runner.lint.report import JudgementGap
from merge_runner.lint.run.dbt_files import models_by_project
from merge_runner.lint.run.plain_file import display_path
from merge_runner.lint.selection import RuleSelection
from merge_runner.lint.unit import LintUnit, without_fix
from merge_runner.merge.parse import parse
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.project.load.not_read import DBT_PROJECT
from merge_runner.project.syntax.read_text import read_text
from merge_runner.pruning.query.source import Lookup
from merge_runner.template.rendered_text import RenderedText
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText, Span

NEED_THE_QUERY = ("C001", "C002", "C003")
"""Rules that say nothing of a dbt model whose query is not known."""
_MOST_NAMES = 10
"""How many models a message names."""


class DbtUnits:
    """Makes units of the MERGEs that dbt runs for its models. `lookup` adds the tables of --layout to those of dbt."""

    def __init__(
        self,
        lookup: Callable[[Lookup | None], Lookup],
        selection: RuleSelection,
        templates: Templates,
        vars: Mapping[str, Any],
    ) -> None:
        self._lookup = lookup
        self._configured = selection.configured_codes
        self._templates = templates
        self._vars = vars

    def of_model(self, model: DbtModel) -> Iterator[LintUnit]:
        """Yield the MERGE of a model, where it has one that is known, and those in its hooks."""
        if model.text is not None:
            yield self._merge(model, model.text)
        for rendered in hook_merges(model, self._templates, self._vars):
            hook = LintedFile(model.config.source, None, rendered, model.node.name, container="dbt")
            yield LintUnit(hook, self._lookup(model.project.lookup()), adapt=without_fix)

    def _merge(self, model: DbtModel, text: str) -> LintUnit:
        def adapt(finding: Finding, merge: LintedMerge | None) -> Finding:
            return model.adapted(finding, merge, configured=finding.code in self._configured)

        file = LintedFile(model.config.source, None, None, model.node.name, scan=model.scan, container="dbt")
        lookup = self._lookup(model.project.lookup(model.node, model.query))
        try:
            statement = parse(text)
        except MergeSyntaxError as error:
            return LintUnit(replace(file, error=error, rendered=model.rendered(None)), lookup, adapt=adapt)
        # The way back to the author's config and query depends on the parts of the statement.
        return LintUnit(replace(file, statement=statement, rendered=model.rendered(statement)), lookup, adapt=adapt)


def property_sources(models: Sequence[DbtModel], results: Sequence[CheckResult]) -> Mapping[str, SourceText]:
    """Return the YAML files of dbt models in which findings are, by their names."""
    paths = {finding.place.path for item in results for finding in item.findings}
    paths -= {model.config.source.path for model in models}
    trees = [model.config.described() for model in models] if paths else []
    return {tree.source.path: tree.source for tree in trees if tree is not None and tree.source.path in paths}


def find_not_judged(models: Sequence[DbtModel], selection: RuleSelection) -> Iterator[JudgementGap]:
    """Yield the models of which dbt knows a query that lint does not, with the rules that needed it."""
    about = [rule for rule in rules() if rule.code in NEED_THE_QUERY]
    for model in models:
        path = model.config.source.path
        item = model.not_judged([rule.code for rule in about if selection.severity(rule, path) is not None])
        if item is not None:
            yield item


def _describe(model: DbtModel) -> str:
    why = model.unknown.why if model.unknown is not None else ""
    return f"{model.node.name} ({why})" if why else model.node.name


def unknown_merges(models: Sequence[DbtModel], root: Path) -> Iterator[LintedFile]:
    """Yield a file for each dbt project in which the MERGE of some model is not known, with that as its error."""
    for project, unknown in models_by_project(models):
        names = ", ".join(_describe(model) for model in unknown[:_MOST_NAMES])
        more = f" and {len(unknown) - _MOST_NAMES} more" if len(unknown) > _MOST_NAMES else ""
        many = "1 incremental model" if len(unknown) == 1 else f"{len(unknown)} incremental models"
        message = f"the MERGE of {many} is not known yet, since dbt's first run creates the table: {names}{more}"
        hint = "run `dbt run` a second time, which writes the MERGE into target/run, and lint again"
        file = project.target.parent / DBT_PROJECT
        source = read_text(file, display_path(file, root), Problems(), project.boundary)
        source = source or SourceText(display_path(project.target / MANIFEST, root), "")
        error = MergeSyntaxError(message, Span(0, 0), hint)
        yield LintedFile(source, None, RenderedText.plain(source), error=error, is_merge=False)
