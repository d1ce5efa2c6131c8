"""Lints paths: those in a project, or plain files outside of any."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from merge_runner.errors import Problems
from merge_runner.lint.request import ArgumentsError, LintMessages, LintRequest, LintResult
from merge_runner.lint.run.plain_paths import lint_plain, surroundings
from merge_runner.lint.run.roots import check_paths, lint_root_of, project_of
from merge_runner.lint.suppress.baseline import DEFAULT
from merge_runner.project.load.find_project import read_lint_settings, read_settings
from merge_runner.project.load.not_read import DBT_PROJECT

_ABOUT_MODELS = ("select", "exclude", "selector", "state", "columns")


def lint_paths(request: LintRequest, env: Mapping[str, str], messages: LintMessages) -> LintResult:
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
        around = surroundings(paths, request)
        return LintResult(lint_plain(paths, request, env, messages, around), around.root)
    # What reads and renders a project is loaded where there is one.
    from merge_runner.lint.run.project_paths import lint_paths_of_project

    return lint_paths_of_project(root, paths, request, env, messages)


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


def _refuse_selection(request: LintRequest) -> None:
    options = [name for name in _ABOUT_MODELS if getattr(request, name)]
    if options:
        raise ArgumentsError(f"--{options[0]} is about the models of a project, and these paths lie in none.")
