"""Reports of earlier runs, kept in the project's target folder under a key of everything that they depend on.

What is looked up needs no more than the standard library: neither the project nor its YAML is loaded where nothing has
changed. The cache can be deleted at any time, and an entry that cannot be read is as good as none.
"""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from merge_runner.atomic import keep_newest, write_atomic
from merge_runner.contributions import status
from merge_runner.contributions import tool as current_tool
from merge_runner.errors import Problem
from merge_runner.kept_values import PROTOCOL, read_values
from merge_runner.lazy_dataclass import dataclass
from merge_runner.lint.registry import provided_paths
from merge_runner.lint.report import Report
from merge_runner.lint.suppress.baseline import DEFAULT
from merge_runner.project.load.state import ProjectState, file_hash
from merge_runner.text import as_source

FOLDER = "lint_cache"
SUFFIX = ".report"
_KEPT = 20
"""Entries that stay: a project is linted with a handful of different options."""
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
    folder: Path
    key: str
    state: ProjectState = field(repr=False, compare=False)
    """The files of the project: excerpts of a kept report come from them."""

    @classmethod
    def of(
        cls,
        root: Path,
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
        said = json.dumps([str(root), linter() if tool is None else tool, options], sort_keys=True, default=str)
        digest.update(said.encode("utf-8", "surrogatepass"))
        digest.update(state.digest)
        try:
            for file in (root / DEFAULT, *others):
                digest.update(file_hash(file))
        except OSError:
            return None
        return cls(root, root / state.target / FOLDER, digest.hexdigest(), state)

    def get(self, env: Mapping[str, str]) -> Kept | None:
        """The kept report, if the environment variables that it depends on are the same."""
        try:
            content = self._file.read_bytes()
            if _checksum(memoryview(content)[_HASH:]) != content[:_HASH]:
                return None
            asked, answers, paths, report, warnings = read_values(content[_HASH:])
            if self._hashed({name: env.get(name) for name in asked}) != answers:
                return None
            sources = {path: as_source(self.state.contents[path].decode("utf-8")) for path in paths}
            self.state.keep()
            return Kept(replace(report, sources=sources), warnings)
        except Exception:  # bytes of another process may mean anything
            return None

    def put(self, report: Report, asked: Mapping[str, str | None], warnings: Sequence[Problem] = ()) -> None:
        """Keep a report and its warnings, with the variables that it depends on; what cannot be written is not kept."""
        if not report.sources.keys() <= self.state.contents.keys():
            return  # a finding is in a file that the key knows nothing of
        paths = sorted(report.sources)
        entry = sorted(asked), self._hashed(asked), paths, replace(report, sources={}), tuple(warnings)
        content = pickle.dumps(entry, PROTOCOL)
        try:
            write_atomic(self._file, _checksum(content), content, synced=False)
            self.state.keep()
            keep_newest(self.folder, f"*{SUFFIX}", _KEPT)
        except OSError:
            return

    @property
    def _file(self) -> Path:
        return self.folder / f"{self.key}{SUFFIX}"

    def _hashed(self, values: Mapping[str, str | None]) -> str:
        """Environment variables may be secrets: of their values only one hash of all together is kept."""
        said = self.key + json.dumps(sorted(values.items()))
        return hashlib.blake2b(said.encode()).hexdigest()


def _checksum(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=_HASH).digest()


def linter() -> list[Any]:
    """Return what lints: what makes contributions, and the packages with rules, down to their files."""
    return [current_tool(), [found for package in provided_paths() for found in status(package)]]
