"""Lint by paths, as the command line does: models of a project, or files of none."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from merge_runner.api.arguments import as_path, texts
from merge_runner.api.logged_messages import LoggedMessages
from merge_runner.lint.request import LintMessages, LintRequest, LintResult
from merge_runner.lint.run.report_cache import cached_report
from merge_runner.project.syntax.environment import RecordingEnv

if TYPE_CHECKING:
    from merge_runner.lint.report import Report


def lint_paths(
    paths: str | Path | Sequence[str | Path] = (),
    *,
    text: str | None = None,
    project_dir: str | Path | None = None,
    profiles_dir: str | Path | None = None,
    profile: str | None = None,
    target: str | None = None,
    vars: Mapping[str, Any] | str | None = None,
    target_path: str | None = None,
    full_refresh: bool = False,
    select: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    selector: str | None = None,
    state: str | Path | None = None,
    changed: str | None = None,
    rules: str | Sequence[str] = (),
    ignore: str | Sequence[str] = (),
    layout: str | Path | None = None,
    baseline: str | Path | None = None,
    write_baseline: str | Path | Literal[True] | None = None,
    fix: Literal["safe", "unsafe"] | None = None,
    cache: bool = True,
    processes: int | None = None,
    env: Mapping[str, str] | None = None,
    messages: LintMessages | None = None,
) -> Report:
    """Return what each MERGE of the paths will scan, and what is wrong there; needs no Spark.

    Paths are models or folders of a project or of a dbt project, or files of none; any other file of a project means
    the models that depend on it. Without paths that is the project in the working directory, or above. An argument
    means what the option of `merge-runner lint` of that name does; `text` replaces the text of the only path. `fix`
    applies the fixes to the files, `write_baseline` writes the findings to a file, or where lint looks for it (True).
    With `cache` the report of an earlier run is returned where nothing has changed since. Models are rendered in as
    many `processes`, None: as pay. `messages` receives warnings, instead of the logger `merge_runner.lint`.

    Raises ProblemsError for a path, project or setting that is wrong, and ValueError for arguments that do not go
    together.
    """
    request = LintRequest(
        paths=(Path(paths),) if isinstance(paths, str | Path) else tuple(map(Path, paths)),
        text=text,
        project_dir=as_path(project_dir),
        profiles_dir=as_path(profiles_dir),
        profile=profile,
        target=target,
        vars=vars,
        target_path=target_path,
        full_refresh=full_refresh,
        select=texts(select),
        exclude=texts(exclude),
        selector=selector,
        state=as_path(state),
        changed=changed,
        rules=texts(rules),
        ignore=texts(ignore),
        layout=as_path(layout),
        baseline=as_path(baseline),
        write_baseline=True if write_baseline is True else as_path(write_baseline),
        fix=fix,
        cache=cache,
        processes=processes,
    )
    recording = RecordingEnv(os.environ if env is None else env)
    return linted(request, recording, messages or LoggedMessages("lint")).report


def linted(request: LintRequest, env: RecordingEnv, messages: LintMessages) -> LintResult:
    """Return the report on what is asked for, and write the baseline. Raises as `lint_paths` does."""
    result = cached_report(request, env, messages)
    if request.write_baseline is None:
        return result
    from merge_runner.lint.run.lint_paths import baseline_file
    from merge_runner.lint.suppress.baseline import Baseline

    file, usual = baseline_file(request)
    Baseline.of(result.report.findings).write(file)
    return replace(result, baseline=file, usual=usual)
