"""Lints paths: the models of a project, plain files, or both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.errors import Problem, Problems
from merge_runner.lint.paths.fixed_files import fix
from merge_runner.lint.paths.named import Named, check_paths, lint_root_of, named, project_of, readers, within
from merge_runner.lint.paths.request import ArgumentsError, Linted, LintMessages, LintRequest
from merge_runner.lint.run.lint_project import lint_project
from merge_runner.lint.sources.dbt_project import DBT_PROJECT
from merge_runner.lint.sources.sql_file import PlainFile, read_plain, with_text
from merge_runner.lint.sources.sql_files import plain_files
from merge_runner.lint.sources.sql_lint import Surroundings, lint_files
from merge_runner.lint.suppress.apply import joined
from merge_runner.lint.suppress.baseline import DEFAULT
from merge_runner.plan.load.project_context import Prepared, prepare_to_lint
from merge_runner.project.load.load import read_lint_settings, read_settings

if TYPE_CHECKING:
    from merge_runner.lint.report import Report

_ABOUT_MODELS = ("select", "exclude", "selector", "state")


def lint(request: LintRequest, env: Mapping[str, str], messages: LintMessages) -> Linted:
    """Return the report on what is asked for. Raises ProblemsError and ArgumentsError."""
    text = request.text
    paths = list(request.paths)
    if text is None:
        check_paths(paths)
    if not paths and request.project_dir is None and (Path.cwd() / DBT_PROJECT).is_file():
        paths = [Path()]  # a dbt user has no other project; one that is both is still ours
    root = project_of(request.project_dir, paths)
    if root is None:
        _refuse_selection(request)
        paths = paths or [request.project_dir or Path()]
        around = _surroundings(paths, request)
        return Linted(_plain(paths, request, env, messages, around), around.root)
    inner = within(root, paths[0]) if text is not None else None
    texts = {inner: text} if inner is not None and text is not None else {}
    prepared, jinja = prepare_to_lint(root, request.flags, env, texts, cache=request.cache)
    messages.not_read(prepared.files.not_read)
    meant = named(prepared, root, paths) if paths else None
    if request.write_baseline is not None and meant is not None and not meant.whole:
        raise ArgumentsError("--write-baseline is about the whole project: leave out PATHS.")
    ids = _ids(prepared, meant, request, messages)

    def look() -> Report:
        return lint_project(prepared, ids, request.rule_options, _of(jinja, meant), request.processes)

    if request.fix:
        report = look()
        fix({path: root / path for path in report.sources}, report, messages, unsafe=request.fix == "unsafe")
        prepared, jinja = prepare_to_lint(root, request.flags, env, cache=request.cache)
        ids = [unique_id for unique_id in ids if unique_id in prepared.graph.nodes]
    warnings = [*prepared.unread_vars, *prepared.graph.warnings_of(ids)]
    messages.warn(warnings)
    report = look()
    if meant is None or not (meant.plain or meant.foreign):
        return Linted(report, root, of_models=True, warnings=tuple(warnings))
    for path in meant.foreign:
        messages.say(f"{path}: in another project, not looked at", "warn")
    settings = prepared.files.settings
    around = Surroundings(root, settings.lint, settings.places, prepared.files.macros, prepared.files.vars)
    return Linted(joined(report, _plain(meant.plain, request, env, messages, around)), root)


def baseline_file(request: LintRequest) -> tuple[Path, bool]:
    """Return where `write_baseline` writes, and whether lint looks there by itself.

    That is what it names, else the baseline of the settings, else the usual name.
    """
    project_dir = request.project_dir
    root = project_of(project_dir, request.paths)
    named_here = read_settings(root, Problems()).lint.baseline if root is not None else None
    if root is None and (root := lint_root_of(request.paths or [project_dir or Path()])) is not None:
        named_here = read_lint_settings(root)[0].baseline
    usual = (root or Path.cwd()) / (named_here or DEFAULT)
    file = request.write_baseline if isinstance(request.write_baseline, Path) else usual
    return file, file.resolve() == usual.resolve()


def _ids(prepared: Prepared, meant: Named | None, request: LintRequest, messages: LintMessages) -> list[str]:
    """The nodes that are selected, among those that the paths mean."""
    selection = prepared.select(request.select, request.exclude, request.selector, request.state)
    messages.warn(selection.warnings)
    ids = list(selection.ids)
    if request.changed is not None:
        changes = prepared.select([f"git:{request.changed}"])
        messages.warn(changes.warnings)
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
    request: LintRequest,
    env: Mapping[str, str],
    messages: LintMessages,
    around: Surroundings,
) -> Report:
    """Return the report on plain files, outside of any project or next to the models of one."""
    root, text = around.root, request.text

    def look(files: Sequence[PlainFile]) -> Report:
        return lint_files(files, request.rule_options, env, around)

    if text is not None:
        path = paths[0]
        known = [file for file in plain_files(paths, root) if file.model] if path.exists() else []
        return look([with_text(known[0] if len(known) == 1 else PlainFile(path.as_posix(), path, None), text)])
    files = list(plain_files(paths, root))
    messages.warn(list(_stale(files)))
    if request.changed is not None:
        files = _changed(files, root, request.changed)
    report = look(files)
    if not request.fix:
        return report
    fix({file.path: file.file for file in files}, report, messages, unsafe=request.fix == "unsafe")
    return look([file if file.model else read_plain(file.file, file.path) for file in files])


def _stale(files: Sequence[PlainFile]) -> Iterator[Problem]:
    """A warning for dbt models that have changed since their manifest was written."""
    models = [file.model for file in files if file.model is not None and file.model.is_stale]
    if models:
        some = ", ".join(model.node.name for model in models[:3])
        names = some if len(models) <= 3 else f"{some} and {len(models) - 3} more"
        message = f"changed since dbt wrote the manifest, and linted as they were: {names}"
        yield Problem("stale-manifest", message, None, "run `dbt parse` (or `dbt compile`), and lint again")


def _surroundings(paths: Sequence[Path], request: LintRequest) -> Surroundings:
    """Return what holds for files outside of any project: [tool.merge-runner.lint] of a pyproject.toml above them."""
    vars_ = request.given_vars
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


def _refuse_selection(request: LintRequest) -> None:
    given = [name for name in _ABOUT_MODELS if getattr(request, name)]
    if given:
        raise ArgumentsError(f"--{given[0]} is about the models of a project, and these paths lie in none.")
