"""What `lint` looks at: the models of a project, or plain files, by its options."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from merge_runner.cli.display.messages import say
from merge_runner.cli.display.problems import no_effect, show_not_read, show_warnings, unread_vars
from merge_runner.cli.lint.options import LintCommand
from merge_runner.cli.lint.paths import Named, check_paths, lint_root_of, named, project_of, readers, within
from merge_runner.cli.loading import parsed_vars, project_flags, selected
from merge_runner.errors import Problem
from merge_runner.lint.run.lint_project import LintOptions, lint_project
from merge_runner.lint.sources.dbt_project import DBT_PROJECT
from merge_runner.lint.sources.sql_file import PlainFile, read_plain, with_text
from merge_runner.lint.sources.sql_files import plain_files
from merge_runner.lint.sources.sql_lint import Surroundings, lint_files
from merge_runner.lint.suppress.apply import joined
from merge_runner.text import as_source

if TYPE_CHECKING:
    from merge_runner.lint.report import Report
    from merge_runner.plan.load.project_context import Prepared

_ABOUT_MODELS = ("select", "exclude", "selector", "state")


@dataclass(frozen=True)
class Linted:
    """A report whose paths are relative to `folder`. `of_models`: it depends on files of the project there alone.

    `warnings` are about the project rather than one of its MERGEs, and have been shown.
    """

    report: Report
    folder: Path
    of_models: bool = False
    warnings: tuple[Problem, ...] = ()


def lint(options: LintCommand, env: Mapping[str, str], said: LintOptions) -> Linted:
    """The report on what the options name. Raises ProblemsError and UsageError."""
    text = None
    paths = list(options.paths)
    if options.stdin_filename:
        text, paths = _standard_input(), [Path(options.stdin_filename)]
    if text is None:
        check_paths(paths)
    if not paths and options.project_dir is None and (Path.cwd() / DBT_PROJECT).is_file():
        paths = [Path()]  # a dbt user has no other project; one that is both is still ours
    root = project_of(options.project_dir, paths)
    if root is None:
        _refuse_selection(options)
        paths = paths or [options.project_dir or Path()]
        around = _surroundings(paths, options)
        return Linted(_plain(paths, options, env, said, text, around), around.root)
    from merge_runner.plan.load.project_context import prepare_to_lint

    inner = within(root, paths[0]) if text is not None else None
    texts = {inner: text} if inner is not None and text is not None else {}
    prepared, jinja = prepare_to_lint(root, project_flags(options), env, texts)
    show_not_read(prepared.files, options)
    meant = named(prepared, root, paths) if paths else None
    if options.write_baseline is not None and meant is not None and not meant.whole:
        raise click.UsageError("--write-baseline is about the whole project: leave out PATHS.")
    ids = _ids(prepared, meant, options)
    if options.fix:
        from merge_runner.cli.lint.fixes import fix

        report = lint_project(prepared, ids, said, _of(jinja, meant))
        fix({path: root / path for path in report.sources}, report, unsafe=options.unsafe_fixes)
        prepared, jinja = prepare_to_lint(root, project_flags(options), env)
        ids = [unique_id for unique_id in ids if unique_id in prepared.graph.nodes]
    warnings = [*unread_vars(prepared), *no_effect(prepared.graph, ids)]
    show_warnings(warnings, as_errors=options.warn_error)
    report = lint_project(prepared, ids, said, _of(jinja, meant))
    if meant is None or not (meant.plain or meant.foreign):
        return Linted(report, root, of_models=True, warnings=tuple(warnings))
    for path in meant.foreign:
        say(f"{path}: in another project, not looked at", "warn")
    settings = prepared.files.settings
    around = Surroundings(root, settings.lint, settings.places, prepared.files.macros, prepared.files.vars)
    return Linted(joined(report, _plain(meant.plain, options, env, said, text, around)), root)


def baseline_file(options: LintCommand) -> tuple[Path, bool]:
    """Where --write-baseline writes, and whether lint looks there by itself.

    That is what it names, else the baseline of the settings, else the usual name.
    """
    from merge_runner.errors import Problems
    from merge_runner.lint.suppress.baseline import DEFAULT
    from merge_runner.project.load.load import read_lint_settings, read_settings

    project_dir = options.project_dir
    root = project_of(project_dir, options.paths)
    named_here = read_settings(root, Problems()).lint.baseline if root is not None else None
    if root is None and (root := lint_root_of(options.paths or [project_dir or Path()])) is not None:
        named_here = read_lint_settings(root)[0].baseline
    usual = (root or Path.cwd()) / (named_here or DEFAULT)
    file = Path(options.write_baseline) if options.write_baseline else usual
    return file, file.resolve() == usual.resolve()


def _ids(prepared: Prepared, meant: Named | None, options: LintCommand) -> list[str]:
    """The nodes that are selected, among those that the paths mean."""
    from merge_runner.api import Project

    project = Project(prepared)
    ids = list(selected(project, options).ids)
    if options.changed is not None:
        changes = project.select([f"git:{options.changed}"])
        show_warnings(changes.warnings, as_errors=options.warn_error)
        changed = {*changes.ids, *readers(prepared.graph, changes.ids)}
        ids = [unique_id for unique_id in ids if unique_id in changed]
    return ids if meant is None else [unique_id for unique_id in ids if unique_id in meant.models]


def _of(jinja: Sequence[Problem], meant: Named | None) -> list[Problem]:
    """Return the problems to report: where paths name models, not those of other models."""
    if meant is None:
        return list(jinja)
    return [problem for problem in jinja if problem.place is None or problem.place.path not in meant.unnamed]


def _plain(
    paths: Sequence[Path],
    options: LintCommand,
    env: Mapping[str, str],
    said: LintOptions,
    text: str | None,
    around: Surroundings,
) -> Report:
    """Return the report on plain files, outside of any project or next to the models of one."""
    root = around.root

    def look(files: Sequence[PlainFile]) -> Report:
        return lint_files(files, said, env, around)

    if text is not None:
        path = paths[0]
        known = [file for file in plain_files(paths, root) if file.model] if path.exists() else []
        return look([with_text(known[0] if len(known) == 1 else PlainFile(path.as_posix(), path, None), text)])
    files = list(plain_files(paths, root))
    show_warnings(_stale(files), as_errors=options.warn_error)
    if options.changed is not None:
        files = _changed(files, root, options.changed)
    report = look(files)
    if not options.fix:
        return report
    from merge_runner.cli.lint.fixes import fix

    fix({file.path: file.file for file in files}, report, unsafe=options.unsafe_fixes)
    return look([file if file.model else read_plain(file.file, file.path) for file in files])


def _stale(files: Sequence[PlainFile]) -> Iterator[Problem]:
    """A warning for dbt models that have changed since their manifest was written."""
    models = [file.model for file in files if file.model is not None and file.model.is_stale]
    if models:
        some = ", ".join(model.node.name for model in models[:3])
        names = some if len(models) <= 3 else f"{some} and {len(models) - 3} more"
        message = f"changed since dbt wrote the manifest, and linted as they were: {names}"
        yield Problem("stale-manifest", message, None, "run `dbt parse` (or `dbt compile`), and lint again")


def _surroundings(paths: Sequence[Path], options: LintCommand) -> Surroundings:
    """Return what holds for files outside of any project: [tool.merge-runner.lint] of a pyproject.toml above them."""
    from merge_runner.project.load.load import read_lint_settings

    vars_ = parsed_vars(options.vars_text)
    root = lint_root_of(paths)
    if root is None:
        return Surroundings(Path.cwd(), vars=vars_)
    settings, places = read_lint_settings(root)
    return Surroundings(root, settings, places, vars=vars_)


def _changed(files: Sequence[PlainFile], root: Path, ref: str) -> list[PlainFile]:
    """The files below `root` that have changed since a commit."""
    from merge_runner.graph.git import changed_files

    changed = changed_files(root, ref)
    return [file for file in files if file.path in changed]


def _refuse_selection(options: LintCommand) -> None:
    given = [name for name in _ABOUT_MODELS if getattr(options, name)]
    if given:
        raise click.UsageError(f"--{given[0]} is about the models of a project, and these paths lie in none.")


def _standard_input() -> str:
    return as_source(sys.stdin.buffer.read().decode("utf-8", "replace"))
