"""Lints plain files: SQL, notebooks and code outside of any project, or next to the models of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.errors import Problem
from merge_runner.graph.git import changed_files
from merge_runner.lint.request import LintMessages, LintRequest
from merge_runner.lint.run.fixed_files import fix
from merge_runner.lint.run.lint_files import Surroundings, lint_files
from merge_runner.lint.run.plain_file import PlainFile, read_plain, with_text
from merge_runner.lint.run.plain_files import plain_files
from merge_runner.lint.run.roots import lint_root_of
from merge_runner.project.load.find_project import read_lint_settings

if TYPE_CHECKING:
    from merge_runner.lint.report import Report


def lint_plain(
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
        models = [file for file in plain_files(paths, root) if file.model] if path.exists() else []
        return look([with_text(models[0] if len(models) == 1 else PlainFile(path.as_posix(), path, None), text)])
    files = list(plain_files(paths, root))
    messages.warn(list(_stale(files)))
    if request.changed is not None:
        files = _files_changed_since(files, root, request.changed)
    report = look(files)
    if not request.fix:
        return report
    fix({file.path: file.file for file in files}, report, messages, unsafe=request.fix == "unsafe")
    return look([file if file.model else read_plain(file.file, file.path, file.boundary) for file in files])


def _stale(files: Sequence[PlainFile]) -> Iterator[Problem]:
    """A warning for dbt models that have changed since their manifest was written."""
    models = [file.model for file in files if file.model is not None and file.model.is_stale]
    if models:
        some = ", ".join(model.node.name for model in models[:3])
        names = some if len(models) <= 3 else f"{some} and {len(models) - 3} more"
        message = f"changed since dbt wrote the manifest, and linted as they were: {names}"
        yield Problem("stale-manifest", message, None, "run `dbt parse` (or `dbt compile`), and lint again")


def surroundings(paths: Sequence[Path], request: LintRequest) -> Surroundings:
    """Return what holds for files outside of any project: [tool.merge-runner.lint] of a pyproject.toml above them."""
    vars_ = request.vars_by_name
    root = lint_root_of(paths)
    if root is None:
        return Surroundings(Path.cwd(), vars=vars_)
    settings, places = read_lint_settings(root)
    return Surroundings(root, settings, places, vars=vars_)


def _files_changed_since(files: Sequence[PlainFile], root: Path, ref: str) -> list[PlainFile]:
    """The files below `root` that have changed since a commit."""
    paths = changed_files(root, ref)
    return [file for file in files if file.path in paths]
