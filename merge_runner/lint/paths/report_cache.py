"""The report of an earlier run for the same files and the same request, or one that is made now."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path

from merge_runner.contributions import Contributions
from merge_runner.lint.paths.request import Linted, LintMessages, LintRequest
from merge_runner.lint.run.cache import ReportCache
from merge_runner.project.load.state import nearest_project, profiles_outside
from merge_runner.project.syntax.environment import RecordingEnv

_UNCACHED = ("fix", "changed", "select", "exclude", "selector", "state")
"""A selection may depend on git or an earlier state, and what matches nothing is warned of each time."""

_DEPENDS = (
    *("paths", "rules", "ignore", "layout", "baseline"),
    *("project_dir", "profiles_dir", "profile", "target", "vars", "target_path", "full_refresh"),
)
"""What the report depends on."""


def kept_or_made(request: LintRequest, env: RecordingEnv, messages: LintMessages) -> Linted:
    """Return the report, from the cache where nothing has changed since. Raises ProblemsError and ArgumentsError."""
    cache = _report_cache(request, env.whole)
    kept = cache.get(env.given) if cache is not None else None
    if cache is not None and kept is not None:
        logging.getLogger("merge_runner.lint").debug("nothing has changed since the report of an earlier run")
        messages.warn(kept.warnings)
        return Linted(kept.report, cache.root, True, kept.warnings)
    from merge_runner.lint.paths.inputs import lint

    linted = lint(request, env, messages)
    # It is kept where it is about the project that the key is made of, and nothing has changed while it was made.
    same = cache is not None and linted.of_models and linted.folder == cache.root
    if cache is not None and same and _report_cache(request, env.whole) == cache:
        cache.put(linted.report, env.asked, linted.warnings)
    return linted


def _report_cache(request: LintRequest, env: Mapping[str, str]) -> ReportCache | None:
    """Return the cache of a run; None where the report depends on more than files, or must not come from the cache."""
    if not request.cache or request.text is not None or request.write_baseline is not None:
        return None
    if any(getattr(request, name) for name in _UNCACHED):
        return None
    root = nearest_project(request.project_dir or next(iter(request.paths), Path.cwd()))
    kept = Contributions.of_project(root, env) if root is not None else None
    if root is None or kept is None:
        return None
    outside = [path for path in (request.layout, request.baseline) if path is not None]
    profiles = profiles_outside(env, request.profiles_dir)
    depends = {name: getattr(request, name) for name in _DEPENDS}
    there = [(os.path.lexists(path), path.is_dir()) for path in request.paths]
    return ReportCache.of(root, kept, {**depends, "there": there, "cwd": Path.cwd()}, profiles, outside)
