"""Lints plain .sql files outside of any project, and the MERGEs that dbt generates for its models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from merge_runner.errors import Problems, ProblemsError
from merge_runner.lint.check import Checked, check_file, linted_merge
from merge_runner.lint.confidential import merge_without_secrets, without_secrets
from merge_runner.lint.context import LintedFile
from merge_runner.lint.registry import rules
from merge_runner.lint.report import NotJudged, Report
from merge_runner.lint.run.lint_project import LintOptions
from merge_runner.lint.selection import RuleSelection
from merge_runner.lint.sources.dbt_files import created
from merge_runner.lint.sources.dbt_model import DbtModel
from merge_runner.lint.sources.dbt_project import DBT_PROJECT, MANIFEST, DbtProject, read_dbt_project, target_folder
from merge_runner.lint.sources.sql_file import PlainFile, shown
from merge_runner.lint.suppress.apply import finish
from merge_runner.lint.suppress.baseline import Baseline
from merge_runner.merge.find import holds_merge
from merge_runner.merge.parse import parse
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.plan.layout.layout_file import Namespace, RecordedLayouts, recorded_layouts
from merge_runner.project.schema.secret_names import secret_values, secret_vars
from merge_runner.project.schema.settings import LintSettings
from merge_runner.project.syntax.environment import RecordingEnv
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project.syntax.toml_tree import TomlTree
from merge_runner.pruning.layout.layout import UNKNOWN
from merge_runner.pruning.query.source import KnownTable, Lookup
from merge_runner.relation import Relation
from merge_runner.template.context import Context
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
    """Lint files that hold a MERGE; the others are counted and nothing more.

    Their format and layouts are those of --layout and, below a dbt project's target folder, of its manifest. Raises
    ProblemsError for options or settings that are wrong.
    """
    settings, vars = around.settings, around.vars
    selection = RuleSelection.from_settings(settings, around.places, rules=options.rules, ignore=options.ignore)
    baseline = None
    if options.use_baseline and options.baseline is not None:
        baseline = Baseline.read(options.baseline, str(options.baseline))
    elif options.use_baseline:
        baseline = Baseline.find(around.root, settings.baseline)
    env = env if isinstance(env, RecordingEnv) else RecordingEnv(env)
    linter = _PlainLinter(options, vars, env, selection, Templates(around.macros))
    checked = [linter.check(file) for file in files]
    models = [file.model for file in files if file.model is not None]
    unknown = list(_unknown_merges(models, around.root))
    checked += [check_file(file, None, selection) for file in unknown]
    texts = {file.path: file.source for file in files if file.source is not None}
    texts |= {file.path: file.source for file in unknown} | linter.described
    secrets = frozenset((*secret_values(dict(env.asked)), *secret_vars(vars)))
    merges = [merge_without_secrets(item.merge, secrets) for item in checked if item.merge is not None]
    parsed = {merge.path for merge in merges}
    return finish(
        [without_secrets(finding, secrets) for item in checked for finding in item.findings],
        merges,
        texts,
        selection,
        baseline,
        files=len(files),
        models={file.path: file.model.node.name for file in files if file.model is not None},
        not_judged=tuple(_not_judged(models, selection)),
        ran=lambda path, rule: rule.check_project is None and rule.ran_on(path in parsed),
    )


class _PlainLinter:
    def __init__(
        self,
        options: LintOptions,
        vars: Mapping[str, Any],
        env: Mapping[str, str],
        selection: RuleSelection,
        templates: Templates,
    ) -> None:
        self._vars = vars
        self._env = env
        self._selection = selection
        problems = Problems()
        layouts = [(options.layout, str(options.layout))] if options.layout is not None else []
        self._recorded: RecordedLayouts = recorded_layouts(layouts, Namespace(), problems)
        problems.check()
        self._templates = templates
        self._configured = frozenset(rule.code for rule in rules() if selection.configured(rule))
        self._dbt: dict[Path, DbtProject] = {}
        self.described: dict[str, SourceText] = {}
        """The YAML files of dbt projects in which findings are."""

    def check(self, file: PlainFile) -> Checked:
        if file.model is not None and file.source is not None:
            return self._check_model(file.model, file.source)
        if file.source is None:
            nothing = SourceText(file.path, "")
            error = MergeSyntaxError(file.problem or "cannot be read", Span(0, 0), "lint reads SQL in UTF-8")
            linted = LintedFile(nothing, None, Rendered.plain(nothing), error=error)
            return check_file(linted, None, self._selection)
        linted = LintedFile(file.source, None, None)
        try:
            rendered = self._templates.render(file.source, self._context(file))
        except ProblemsError as error:
            return check_file(replace(linted, problems=error.problems), None, self._selection)
        linted = replace(linted, rendered=rendered)
        if not holds_merge(rendered.text):
            return Checked(())
        try:
            statement = parse(rendered.text)
        except MergeSyntaxError as error:
            return check_file(replace(linted, error=error), None, self._selection)
        linted = replace(linted, statement=statement)
        lookup = self._lookup(file.file)
        target = lookup(statement.target.parts) if statement.target.parts else None
        merge = linted_merge(linted, statement, target.layout if target else UNKNOWN, lookup)
        return check_file(linted, merge, self._selection)

    def _check_model(self, model: DbtModel, source: SourceText) -> Checked:
        """Look at the MERGE that dbt runs for a model; nothing where it has none, or where it is not known."""
        if model.text is None:
            return Checked(())
        linted = LintedFile(source, None, None, model.node.name, scan=model.scan)
        try:
            statement = parse(model.text)
        except MergeSyntaxError as error:
            linted = replace(linted, error=error, rendered=model.rendered(None))
            checked, merge = check_file(linted, None, self._selection), None
        else:
            linted = replace(linted, statement=statement, rendered=model.rendered(statement))
            lookup = self._known(model.project.lookup(model.node, model.query))
            target = lookup(statement.target.parts) if statement.target.parts else None
            merge = linted_merge(linted, statement, target.layout if target else UNKNOWN, lookup)
            checked = check_file(linted, merge, self._selection)
        found = tuple(
            model.adapted(finding, merge, configured=finding.code in self._configured) for finding in checked.findings
        )
        if any(finding.place.path != source.path for finding in found) and (yaml := model.config.described()):
            self.described[yaml.source.path] = yaml.source
        return Checked(found, checked.merge)

    def _lookup(self, file: Path) -> Lookup:
        return self._known(self._dbt_lookup(file))

    def _known(self, dbt: Lookup | None) -> Lookup:

        def find(parts: tuple[str, ...]) -> KnownTable | None:
            return self._recorded.lookup(parts) or (dbt(parts) if dbt is not None else None)

        return find

    def _dbt_lookup(self, file: Path) -> Lookup | None:
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

    def _context(self, file: PlainFile) -> Context:
        """Names stand for themselves: there is no project that knows better."""
        return Context(
            model_name=file.file.stem,
            this=Relation(file.file.stem),
            resolve_ref=Relation,
            resolve_source=lambda source, table: Relation(table, source),
            vars=self._vars,
            env=self._env,
            target={},
            full_refresh=False,
            incremental=True,
        )


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
        source = read_text(file, shown(file, root), Problems()) if file.is_file() else None
        source = source or SourceText(shown(project.target / MANIFEST, root), "")
        error = MergeSyntaxError(message, Span(0, 0), hint)
        yield LintedFile(source, None, Rendered.plain(source), error=error, is_merge=False)
