"""Lints files outside of any project, and the MERGEs that dbt generates for its models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from merge_runner.errors import Problems
from merge_runner.lint.check import CheckResult, check_file, linted_merge
from merge_runner.lint.confidential import merge_without_secrets, without_secrets
from merge_runner.lint.context import LintedFile
from merge_runner.lint.finding import Finding
from merge_runner.lint.options import LintOptions
from merge_runner.lint.registry import rules
from merge_runner.lint.report import NotJudged, Report
from merge_runner.lint.selection import RuleSelection
from merge_runner.lint.sources.contents_lint import ContentsLinter, ContentsReader
from merge_runner.lint.sources.dbt_files import created
from merge_runner.lint.sources.dbt_hooks import hook_merges
from merge_runner.lint.sources.dbt_model import DbtModel
from merge_runner.lint.sources.dbt_project import MANIFEST, DbtProject, read_dbt_project, target_folder
from merge_runner.lint.sources.sql_file import PlainFile, shown
from merge_runner.lint.suppress.apply import finish
from merge_runner.lint.suppress.baseline import Baseline
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
from merge_runner.pruning.query.target_view import target_layout
from merge_runner.template.rendered import Rendered
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
    baseline = None
    if options.use_baseline and options.baseline is not None:
        boundary = Boundary(around.root).of_named(options.baseline)
        baseline = Baseline.read(options.baseline, str(options.baseline), boundary)
    elif options.use_baseline:
        baseline = Baseline.find(around.root, settings.baseline)
    env = env if isinstance(env, RecordingEnv) else RecordingEnv(env)
    known = _KnownTables(options, around.root)
    read = ContentsReader(Templates(around.macros), vars, env).read([file for file in files if file.model is None])
    linter = ContentsLinter.of(read, selection, known.of_file)
    found = [linter.lint(each) for each in read]
    checked = [item for each in found for item in each.checked]
    texts = {name: text for each in found for name, text in each.texts.items()}
    models = [file.model for file in files if file.model is not None]
    of_dbt = _DbtLinter(known, selection)
    checked += [of_dbt.check(model, file.source) for file in files if (model := file.model) and file.source is not None]
    checked += [each for model in models for each in of_dbt.check_hooks(model, Templates(around.macros), vars)]
    unknown = list(_unknown_merges(models, around.root))
    checked += [check_file(file, None, selection) for file in unknown]
    texts |= {file.path: file.source for file in files if file.model is not None and file.source is not None}
    texts |= {file.path: file.source for file in unknown} | of_dbt.described
    secrets = frozenset((*secret_values(dict(env.asked)), *secret_vars(vars)))
    merges = [merge_without_secrets(item.merge, secrets) for item in checked if item.merge is not None]
    parsed = {merge.place.text_name for merge in merges}
    return finish(
        [without_secrets(finding, secrets) for item in checked for finding in item.findings],
        merges,
        texts,
        selection,
        baseline,
        files=len(files),
        models={file.path: file.model.node.name for file in files if file.model is not None},
        not_judged=(*_not_judged(models, selection), *(item for each in found for item in each.not_judged)),
        ran=lambda name, rule: rule.check_project is None and rule.ran_on(name in parsed),
        embedded={name: comments for each in found for name, comments in each.comments.items()},
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


class _DbtLinter:
    """Looks at the MERGEs that dbt runs for its models."""

    def __init__(self, known: _KnownTables, selection: RuleSelection) -> None:
        self._known = known
        self._selection = selection
        self._configured = frozenset(rule.code for rule in rules() if selection.configured(rule))
        self.described: dict[str, SourceText] = {}
        """The YAML files of dbt projects in which findings are."""

    def check(self, model: DbtModel, source: SourceText) -> CheckResult:
        """Return the outcome for a model; nothing where it has no MERGE, or where it is not known."""
        if model.text is None:
            return CheckResult(())
        linted = LintedFile(source, None, None, model.node.name, scan=model.scan, container="dbt")
        try:
            statement = parse(model.text)
        except MergeSyntaxError as error:
            linted = replace(linted, error=error, rendered=model.rendered(None))
            checked, merge = check_file(linted, None, self._selection), None
        else:
            linted = replace(linted, statement=statement, rendered=model.rendered(statement))
            lookup = self._known.lookup(model.project.lookup(model.node, model.query))
            merge = linted_merge(linted, statement, target_layout(statement.target.parts, lookup), lookup)
            checked = check_file(linted, merge, self._selection)
        found = tuple(
            model.adapted(finding, merge, configured=finding.code in self._configured) for finding in checked.findings
        )
        self._describe(model, found)
        return CheckResult(found, checked.merge)

    def check_hooks(self, model: DbtModel, templates: Templates, vars: Mapping[str, Any]) -> Iterator[CheckResult]:
        """Give the outcome for each MERGE in the hooks of a model."""
        for rendered in hook_merges(model, templates, vars):
            linted = LintedFile(model.config.source, None, rendered, model.node.name, container="dbt")
            try:
                statement = parse(rendered.text)
            except MergeSyntaxError as error:
                checked = check_file(replace(linted, error=error), None, self._selection)
            else:
                lookup = self._known.lookup(model.project.lookup())
                layout = target_layout(statement.target.parts, lookup)
                merge = linted_merge(replace(linted, statement=statement), statement, layout, lookup)
                checked = check_file(merge.file, merge, self._selection)
            found = tuple(replace(finding, fix=None) for finding in checked.findings)
            self._describe(model, found)
            yield CheckResult(found, checked.merge)

    def _describe(self, model: DbtModel, found: Sequence[Finding]) -> None:
        """Keep the YAML file of a model where a finding is in it."""
        if any(finding.place.path != model.config.source.path for finding in found):
            yaml = model.config.described()
            if yaml is not None:
                self.described[yaml.source.path] = yaml.source


def _not_judged(models: Sequence[DbtModel], selection: RuleSelection) -> Iterator[NotJudged]:
    """Give the models of which dbt knows a query that lint does not, with the rules that needed it."""
    about = [rule for rule in rules() if rule.code in NEED_THE_QUERY]
    for model in models:
        path = model.config.source.path
        found = model.not_judged([rule.code for rule in about if selection.severity(rule, path) is not None])
        if found is not None:
            yield found


def _named(model: DbtModel) -> str:
    why = model.unknown.why if model.unknown is not None else ""
    return f"{model.node.name} ({why})" if why else model.node.name


def _unknown_merges(models: Sequence[DbtModel], root: Path) -> Iterator[LintedFile]:
    """Give a file for each dbt project in which the MERGE of some model is not known, with that as its error."""
    for project, unknown in created(models):
        names = ", ".join(_named(model) for model in unknown[:_MOST_NAMES])
        more = f" and {len(unknown) - _MOST_NAMES} more" if len(unknown) > _MOST_NAMES else ""
        many = "1 incremental model" if len(unknown) == 1 else f"{len(unknown)} incremental models"
        message = f"the MERGE of {many} is not known yet, since dbt's first run creates the table: {names}{more}"
        hint = "run `dbt run` a second time, which writes the MERGE into target/run, and lint again"
        file = project.target.parent / DBT_PROJECT
        source = read_text(file, shown(file, root), Problems(), project.boundary)
        source = source or SourceText(shown(project.target / MANIFEST, root), "")
        error = MergeSyntaxError(message, Span(0, 0), hint)
        yield LintedFile(source, None, Rendered.plain(source), error=error, is_merge=False)
