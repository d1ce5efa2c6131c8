"""The report of an earlier run for the same files and the same request, or one that is made now."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from merge_runner.lint.registry import files_of_provided_rules
from merge_runner.lint.request import LintMessages, LintRequest, LintResult
from merge_runner.lint.run.outcome_json import as_json, problem_of_json, report_of_json
from merge_runner.lint.suppress.baseline import DEFAULT
from merge_runner.project.load.answer_cache import AnswerCache
from merge_runner.project.load.state import nearest_project, profiles_outside
from merge_runner.project.syntax.environment import RecordingEnv
from merge_runner.text import as_source

UNCACHED = ("fix", "changed", "select", "exclude", "selector", "state")
"""A selection may depend on git or an earlier state, and what matches nothing is warned of each time."""

DEPENDS = (
    *("paths", "rules", "ignore", "layout", "baseline"),
    *("project_dir", "profiles_dir", "profile", "target", "vars", "target_path", "full_refresh"),
)
"""What the report depends on."""


def cached_report(request: LintRequest, env: RecordingEnv, messages: LintMessages) -> LintResult:
    """Return the report, from the cache where nothing has changed since. Raises ProblemsError and ArgumentsError."""
    cache = _cache(request, env.whole)
    answer = cache.get(env) if cache is not None else None
    if cache is not None and answer is not None:
        logging.getLogger("merge_runner.lint").debug("nothing has changed since the report of an earlier run")
        linted = _add_excerpts(answer, cache)
        messages.warn(linted.warnings)
        return linted
    from merge_runner.lint.run.lint_paths import lint_paths

    linted = lint_paths(request, env, messages)
    # It is kept where it is about the project that the key is made of, and has no finding in any other file.
    if cache is not None and linted.of_models and linted.folder == cache.state.root:
        report = linted.report
        if report.sources.keys() <= cache.state.contents.keys():
            values = as_json(replace(report, sources={})), sorted(report.sources), as_json(linted.warnings)
            cache.put(values, env)
    return linted


def _add_excerpts(answer: Any, cache: AnswerCache) -> LintResult:
    """Return a report of the store with its excerpts from the files."""
    report, paths, warnings = answer
    contents = cache.state.contents
    sources = {path: as_source(contents[path].decode("utf-8")) for path in paths}
    return LintResult(report_of_json(report, sources), cache.state.root, True, tuple(map(problem_of_json, warnings)))


def _cache(request: LintRequest, env: Mapping[str, str]) -> AnswerCache | None:
    """Return the cache of a run; None where the report depends on more than files, or must not come from the cache."""
    if not request.cache or request.text is not None or request.write_baseline is not None:
        return None
    if any(getattr(request, name) for name in UNCACHED):
        return None
    root = nearest_project(request.project_dir or next(iter(request.paths), Path.cwd()))
    if root is None:
        return None
    files = [path for path in (request.layout, request.baseline) if path is not None]
    depends = {name: getattr(request, name) for name in DEPENDS}
    there = [(os.path.lexists(path), path.is_dir()) for path in request.paths]
    return AnswerCache.of(
        root,
        ["report", files_of_provided_rules(), depends, there, str(Path.cwd())],
        env,
        target_path=request.target_path,
        other_files=[profiles_outside(env, request.profiles_dir), root / DEFAULT, *files],
    )
