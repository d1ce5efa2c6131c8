"""Lints files outside of any project, and the MERGEs that dbt generates for its models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from merge_runner.errors import Problems
from merge_runner.lint.check import CheckResult, check_file
from merge_runner.lint.context import LintedFile, LintedMerge
from merge_runner.lint.dbt.hooks import hook_merges
from merge_runner.lint.dbt.model import DbtModel
from merge_runner.lint.dbt.project import MANIFEST, DbtProject, read_dbt_project, target_folder
from merge_runner.lint.finding import Finding
from merge_runner.lint.options import LintOptions
from merge_runner.lint.registry import rules
from merge_runner.lint.report import JudgementGap, Report
from merge_runner.lint.run.contents_linter import ContentsLinter, ContentsReader
from merge_runner.lint.run.dbt_files import models_by_project
from merge_runner.lint.run.plain_file import PlainFile, display_path
from merge_runner.lint.selection import RuleSelection
from merge_runner.lint.suppress.apply import finish
from merge_runner.lint.suppress.baseline import Baseline
from merge_runner.lint.unit import LintUnit, without_fix
from merge_runner.merge.parse import parse
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.plan.layout.layout_file import Namespace, RecordedLayouts, recorded_layouts
from merge_runner.project.load.not_read import DBT_PROJECT
from merge_runner.project.schema.settings import LintSettings
from merge_runner.project.syntax.environment import RecordingEnv
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project.syntax.secret_names import secret_values, secret_vars
from merge_runner.project.syntax.toml_tree import TomlTree
from merge_runner.project_file import Boundary
from merge_runner.pruning.query.source import KnownTable, Lookup
from merge_runner.template.rendered_text import RenderedText
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText, Span

NEED_THE_QUERY = ("C001", "C002", "C003")
"""Rules that say nothing of a dbt model whose query is not known."""
_MOST_NAMES = 10
"""How many models a message names."""


@dataclass(frozen=True)
class Surroundings:
    """What holds for plain files: the settings, macros and vars of the folder `root` that they are in.

    A baseline is searched in `root`. `places` finds where a key of [tool.merge-runner] is written.
    """

    root: Path
    settings: LintSettings = field(default_factory=LintSettings)
    places: TomlTree | None = None
    macros: Sequence[SourceText] = ()
    vars: Mapping[str, Any] = field(default_factory=dict)


def lint_files(
    files: Sequence[PlainFile],
    options: LintOptions,
    env: Mapping[str, str],
    around: Surroundings,
) -> Report:
    """Lint files that hold a MERGE; the others are counted, and read for the tables that they create.

    Their format and layouts are those of --layout and, below a dbt project's target folder, of its manifest. Raises
    ProblemsError for options or settings that are wrong.
    """
    settings, vars = around.settings, around.vars
    selection = RuleSelection.from_settings(settings, around.places, rules=options.rules, ignore=options.ignore)
    baseline = Baseline.of_options(options, around.root, settings.baseline)
    env = env if isinstance(env, RecordingEnv) else RecordingEnv(env)
    tables = _KnownTables(options, around.root)
    templates = Templates(around.macros)
    contents = ContentsReader(templates, vars, env).read([file for file in files if file.model is None])
    linter = ContentsLinter.of(contents, selection, tables.of_file)
    linted = [linter.lint(file_contents) for file_contents in contents]
    results = [item for content in linted for item in content.results]
    texts = {name: text for content in linted for name, text in content.texts.items()}
    models = [file.model for file in files if file.model is not None]
    of_dbt = _DbtUnits(tables, selection, templates, vars)
    results += [unit.check(selection) for model in models for unit in of_dbt.of_model(model)]
    texts |= _property_sources(models, results)
    unknown = list(_unknown_merges(models, around.root))
    results += [check_file(file, None, selection) for file in unknown]
    texts |= {file.path: file.source for file in files if file.model is not None and file.source is not None}
    texts |= {file.path: file.source for file in unknown}
    merges = [item.merge for item in results if item.merge is not None]
    parsed = {merge.place.text_name for merge in merges}
    return finish(
        [finding for item in results for finding in item.findings],
        merges,
        texts,
        selection,
        baseline,
        secrets=frozenset((*secret_values(dict(env.reads)), *secret_vars(vars))),
        files=len(files),
        models={file.path: file.model.node.name for file in files if file.model is not None},
        not_judged=(*_find_not_judged(models, selection), *(item for content in linted for item in content.not_judged)),
        ran=lambda name, rule: rule.check_project is None and rule.ran_on(name in parsed),
        embedded={name: comments for content in linted for name, comments in content.comments.items()},
    )


class _KnownTables:
    """Finds tables in the file of --layout, and in the manifests of dbt projects."""

    def __init__(self, options: LintOptions, root: Path) -> None:
        problems = Problems()
        layouts = [(options.layout, str(options.layout))] if options.layout is not None else []
        self._recorded: RecordedLayouts = recorded_layouts(layouts, Namespace(), problems, Boundary(root))
        problems.check()
        self._dbt: dict[Path, DbtProject] = {}
        self._lookups: dict[Path, Lookup | None] = {}

    def of_file(self, file: PlainFile, parts: tuple[str, ...]) -> KnownTable | None:
        """Return a table that a file names, below the target folder of a dbt project also by its manifest."""
        if file.file not in self._lookups:
            self._lookups[file.file] = self._of_dbt(file.file)
        return self.lookup(self._lookups[file.file])(parts)

    def lookup(self, dbt: Lookup | None) -> Lookup:
        """Return what finds a recorded table, else that of a dbt project."""

        def find(parts: tuple[str, ...]) -> KnownTable | None:
            return self._recorded.lookup(parts) or (dbt(parts) if dbt is not None else None)

        return find

    def _of_dbt(self, file: Path) -> Lookup | None:
        target = target_folder(file)
        if target is None:
            return None
        if target not in self._dbt:
            problems = Problems()
            self._dbt[target] = read_dbt_project(target, problems)
            problems.check()
        project = self._dbt[target]
        node = project.node(file)
        return project.lookup(node, project.last_rows(node) if node is not None else None)


class _DbtUnits:
    """Makes units of the MERGEs that dbt runs for its models."""

    def __init__(
        self, tables: _KnownTables, selection: RuleSelection, templates: Templates, vars: Mapping[str, Any]
    ) -> None:
        self._tables = tables
        self._configured = selection.configured_codes
        self._templates = templates
        self._vars = vars

    def of_model(self, model: DbtModel) -> Iterator[LintUnit]:
        """Give the MERGE of a model, where it has one that is known, and those in its hooks."""
        if model.text is not None:
            yield self._merge(model, model.text)
        for rendered in hook_merges(model, self._templates, self._vars):
            hook = LintedFile(model.config.source, None, rendered, model.node.name, container="dbt")
            yield LintUnit(hook, self._tables.lookup(model.project.lookup()), adapt=without_fix)

    def _merge(self, model: DbtModel, text: str) -> LintUnit:
        def adapt(finding: Finding, merge: LintedMerge | None) -> Finding:
            return model.adapted(finding, merge, configured=finding.code in self._configured)

        file = LintedFile(model.config.source, None, None, model.node.name, scan=model.scan, container="dbt")
        lookup = self._tables.lookup(model.project.lookup(model.node, model.query))
        try:
            statement = parse(text)
        except MergeSyntaxError as error:
            return LintUnit(replace(file, error=error, rendered=model.rendered(None)), lookup, adapt=adapt)
        # The way back to the author's config and query depends on the parts of the statement.
        return LintUnit(replace(file, statement=statement, rendered=model.rendered(statement)), lookup, adapt=adapt)


def _property_sources(models: Sequence[DbtModel], results: Sequence[CheckResult]) -> Mapping[str, SourceText]:
    """The YAML files of dbt models in which findings are."""
    paths = {finding.place.path for item in results for finding in item.findings}
    paths -= {model.config.source.path for model in models}
    trees = [model.config.described() for model in models] if paths else []
    return {tree.source.path: tree.source for tree in trees if tree is not None and tree.source.path in paths}


def _find_not_judged(models: Sequence[DbtModel], selection: RuleSelection) -> Iterator[JudgementGap]:
    """Give the models of which dbt knows a query that lint does not, with the rules that needed it."""
    about = [rule for rule in rules() if rule.code in NEED_THE_QUERY]
    for model in models:
        path = model.config.source.path
        item = model.not_judged([rule.code for rule in about if selection.severity(rule, path) is not None])
        if item is not None:
            yield item


def _describe(model: DbtModel) -> str:
    why = model.unknown.why if model.unknown is not None else ""
    return f"{model.node.name} ({why})" if why else model.node.name


def _unknown_merges(models: Sequence[DbtModel], root: Path) -> Iterator[LintedFile]:
    """Give a file for each dbt project in which the MERGE of some model is not known, with that as its error."""
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
