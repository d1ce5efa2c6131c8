"""Which cached report an invocation of `lint` may use: the one for the same files and the same options."""

from __future__ import annotations

import os
from pathlib import Path

from merge_runner.cli.lint.options import LintCommand
from merge_runner.lint.run.cache import ReportCache
from merge_runner.project.syntax.toml import parse_toml

_UNCACHED = ("fix", "no_cache", "stdin_filename", "changed", "select", "exclude", "selector", "state")
"""A selection may depend on git or an earlier state, and what matches nothing is warned of each time."""

_DEPENDS = (
    *("paths", "rules", "ignore", "layout", "baseline"),
    *("project_dir", "profiles_dir", "profile", "target", "vars_text", "target_path", "full_refresh"),
)
"""Options that the report depends on; the others only say how it is written."""


def report_cache(options: LintCommand) -> ReportCache | None:
    """Return the cache of a run; None where the report depends on more than files, or must not come from the cache."""
    if any(getattr(options, name) for name in _UNCACHED) or options.write_baseline is not None:
        return None
    root = _nearest_project(options)
    if root is None:
        return None
    outside = [path for path in (options.layout, options.baseline) if path is not None]
    home = os.environ.get("HOME") or os.environ.get("USERPROFILE")
    folder = options.profiles_dir or (Path(home) if home else Path.home()) / ".merge-runner"
    depends = {name: getattr(options, name) for name in _DEPENDS}
    there = [(os.path.lexists(path), path.is_dir()) for path in options.paths]
    return ReportCache.of(root, {**depends, "there": there, "cwd": Path.cwd()}, [*outside, folder / "profiles.yml"])


def _nearest_project(options: LintCommand) -> Path | None:
    """Return the project that is most likely meant, without reading its settings; caching a report verifies it."""
    start: Path = options.project_dir or next(iter(options.paths), Path.cwd())
    start = Path(os.path.abspath(start))  # noqa: PTH100 -- `..` ends, links stay
    for folder in (start, *start.parents):
        try:
            content = (folder / "pyproject.toml").read_bytes()
            # Reading TOML takes long enough to leave out the files of other tools.
            if b"merge-runner" not in content:
                continue
            tool = parse_toml(content.decode()).get("tool", {})
            if "merge-runner" in tool:
                # Settings of lint alone are of files outside of any project, whose reports are not kept.
                return None if set(tool["merge-runner"]) == {"lint"} else folder
        except (OSError, ValueError, TypeError):
            continue
    return None
