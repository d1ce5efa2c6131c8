"""Reports of earlier runs, each under a key of everything that it depends on.

What is looked up needs no more than the standard library: neither the project nor its YAML is loaded where nothing has
changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from merge_runner.contributions import Contributions, status
from merge_runner.contributions import tool as current_tool
from merge_runner.errors import Problem
from merge_runner.lint.registry import provided_paths
from merge_runner.lint.report import Report
from merge_runner.lint.run.outcome_json import as_json, problem_of_json, report_of_json
from merge_runner.lint.suppress.baseline import DEFAULT
from merge_runner.project.load.state import ProjectState, file_hash
from merge_runner.text import as_source

_HASH = 20


@dataclass(frozen=True)
class Kept:
    """A kept report, and the warnings about the project that were shown with it."""

    report: Report
    warnings: tuple[Problem, ...]


@dataclass(frozen=True)
class ReportCache:
    """The entry of one run on the project at `root`: `key` covers all that it depends on but the environment."""

    root: Path
    key: bytes
    state: ProjectState = field(repr=False, compare=False)
    """The files of the project: excerpts of a kept report come from them."""
    kept: Contributions = field(repr=False, compare=False)

    @classmethod
    def of(
        cls,
        root: Path,
        kept: Contributions,
        options: Mapping[str, Any],
        profiles: Path,
        others: Sequence[Path] = (),
        tool: Sequence[Any] | None = None,
    ) -> ReportCache | None:
        """Return the cache of a project for a run with these options (plain values); None: its files cannot be read.

        `profiles` and `others` are files outside of the project's folders that the report depends on; `tool` is what
        lints, by default this package and what it uses.
        """
        path = options.get("target_path")
        state = ProjectState.of(root, None if path is None else str(path), [profiles])
        if state is None:
            return None
        digest = hashlib.blake2b(digest_size=_HASH)
        said = json.dumps(
            ["report", str(root), linter() if tool is None else tool, options], sort_keys=True, default=str
        )
        digest.update(said.encode("utf-8", "surrogatepass"))
        digest.update(state.digest)
        try:
            for file in (root / DEFAULT, *others):
                digest.update(file_hash(file))
        except OSError:
            return None
        return cls(root, digest.digest(), state, kept)

    def get(self, env: Mapping[str, str]) -> Kept | None:
        """Return the kept report, if the environment variables that it depends on are the same."""
        entry = self.kept.get(self.key, lambda _kind, name: env.get(name))
        self.kept.close()
        if entry is None:
            return None
        _, (report, paths, warnings) = entry
        sources = {path: as_source(self.state.contents[path].decode("utf-8")) for path in paths}
        return Kept(report_of_json(report, sources), tuple(map(problem_of_json, warnings)))

    def put(self, report: Report, asked: Mapping[str, str | None], warnings: Sequence[Problem] = ()) -> None:
        """Keep a report and its warnings, with the variables that it depends on."""
        if not report.sources.keys() <= self.state.contents.keys():
            return  # a finding is in a file that the key knows nothing of
        value = as_json(replace(report, sources={})), sorted(report.sources), as_json(tuple(warnings))
        self.kept.put(self.key, [("env", name) for name in asked], lambda _kind, name: asked[name], value)
        self.kept.write()


def linter() -> list[Any]:
    """Return what lints: what makes contributions, and the packages with rules, down to their files."""
    return [current_tool(), [found for package in provided_paths() for found in status(package)]]
