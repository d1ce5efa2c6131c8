"""Lints plain .sql files outside of any project, and the generated statements in a dbt project's target/run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from merge_runner.errors import Problems, ProblemsError
from merge_runner.lint.baseline import Baseline
from merge_runner.lint.check import Checked, check_file, linted_merge
from merge_runner.lint.confidential import merge_without_secrets, without_secrets
from merge_runner.lint.dbt_project import DbtProject, read_dbt_project, target_folder
from merge_runner.lint.finish import finish
from merge_runner.lint.report import Report
from merge_runner.lint.run import LintOptions
from merge_runner.lint.selection import RuleSelection
from merge_runner.lint.subject import LintedFile
from merge_runner.merge.error import MergeSyntaxError
from merge_runner.merge.find import holds_merge
from merge_runner.merge.parse import parse
from merge_runner.plan.layout_file import Namespace, RecordedLayouts, recorded_layouts
from merge_runner.project.environment import RecordingEnv
from merge_runner.project.read_text import read_text
from merge_runner.project.secret_names import secret_values, secret_vars
from merge_runner.project.settings import LintSettings
from merge_runner.project.toml_tree import TomlTree
from merge_runner.pruning.layout import UNKNOWN
from merge_runner.pruning.source import KnownTable, Lookup
from merge_runner.relation import Relation
from merge_runner.template.context import Context
from merge_runner.template.rendered import Rendered
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText, Span

DBT_PROJECT = "dbt_project.yml"


@dataclass(frozen=True)
class PlainFile:
    """A file as it is to be shown (`path`), and its text; None where it could not be read, and `problem` says why."""

    path: str
    file: Path
    source: SourceText | None
    problem: str | None = None


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


def plain_files(paths: Iterable[Path], root: Path) -> Iterator[PlainFile]:
    """The files that are meant: a file itself, of a folder all .sql files below it, hidden ones left out.

    Of a dbt project these are the statements in its target/run. They are shown relative to `root` where they lie in it.
    A file that holds no SQL by its name is left out: a hook is given whatever has changed. Raises ProblemsError for a
    path that does not exist.
    """
    problems = Problems()
    found: dict[Path, None] = {}
    for path in paths:
        if (path / DBT_PROJECT).is_file():
            path = path / "target/run"  # noqa: PLW2901 -- its models are no SQL before dbt has made it of them
            if not path.is_dir():
                hint = "`dbt run` or `dbt build` writes the statements there"
                problems.add("no-such-file", f"this is a dbt project, and there is no folder {path}", None, hint)
                continue
        if path.is_dir():
            inside = (file for file in sorted(path.rglob("*.sql")) if not _is_hidden(file.relative_to(path)))
            found.update(dict.fromkeys(file for file in inside if not file.is_dir()))
        elif path.exists() or path.is_symlink():
            if not holds_no_sql(path.name):
                found[path] = None
        else:
            problems.add("no-such-file", f"there is no file or folder {path}")
    problems.check()
    for file in found:
        yield read_plain(file, _shown(file, root))


def holds_no_sql(file: str) -> bool:
    """Whether the name of a file says that it holds something else than SQL."""
    return file.lower().endswith((".yml", ".yaml", ".toml", ".json", ".csv", ".md", ".py"))


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
    secrets = frozenset((*secret_values(dict(env.asked)), *secret_vars(vars)))
    merges = [merge_without_secrets(item.merge, secrets) for item in checked if item.merge is not None]
    parsed = {merge.path for merge in merges}
    return finish(
        [without_secrets(finding, secrets) for item in checked for finding in item.findings],
        merges,
        {file.path: file.source for file in files if file.source is not None},
        selection,
        baseline,
        files=len(files),
        models={},
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
        self._dbt: dict[Path, DbtProject] = {}

    def check(self, file: PlainFile) -> Checked:
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

    def _lookup(self, file: Path) -> Lookup:
        dbt = self._dbt_lookup(file)

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
        return self._dbt[target].lookup(file)

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
        )


def read_plain(file: Path, path: str) -> PlainFile:
    """A file with its text, shown as `path`."""
    problems = Problems()
    source = read_text(file, path, problems)
    return PlainFile(path, file, source, next((problem.message for problem in problems), None))


def _shown(file: Path, root: Path) -> str:
    absolute = Path(os.path.abspath(file))  # noqa: PTH100 -- `..` ends, links stay
    return absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else absolute.as_posix()


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
