"""Reports of earlier runs, kept in the project's target folder under a key of everything that they depend on.

What is looked up needs no more than the standard library: neither the project nor its YAML is loaded where nothing has
changed. The cache can be deleted at any time, and an entry that cannot be read is as good as none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from merge_runner.atomic import keep_newest, write_atomic
from merge_runner.contributions import status
from merge_runner.contributions import tool as current_tool
from merge_runner.errors import Problem
from merge_runner.lint.registry import provided_paths
from merge_runner.lint.report import Report
from merge_runner.lint.run.outcome_json import finding_of_json, merge_of_json
from merge_runner.lint.suppress.baseline import DEFAULT
from merge_runner.project.load.state import ProjectState
from merge_runner.text import Place, as_source

FOLDER = "lint_cache"
_KEPT = 20
"""Entries that stay: a project is linted with a handful of different options."""


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
    texts: Mapping[str, bytes] = field(repr=False)
    """The files of the project, by path: excerpts of a kept report come from them."""

    @classmethod
    def of(
        cls, root: Path, options: Mapping[str, Any], others: Sequence[Path], tool: Sequence[Any] | None = None
    ) -> ReportCache | None:
        """Return the cache of a project for a run with these options (plain values); None: its settings are not read.

        `others` are files outside of the project's folders that the report depends on; `tool` is what lints, by default
        this package and what it uses.
        """
        path = options.get("target_path")
        state = ProjectState.of(root, None if path is None else str(path), others, also=(DEFAULT,))
        if state is None:
            return None
        digest = hashlib.blake2b(digest_size=20)
        said = json.dumps([str(root), linter() if tool is None else tool, options], sort_keys=True, default=str)
        digest.update(said.encode("utf-8", "surrogatepass"))
        digest.update(state.digest)
        return cls(root, root / state.target / FOLDER, digest.hexdigest(), state.contents)

    def get(self, env: Mapping[str, str]) -> Kept | None:
        """The kept report, if the environment variables that it depends on are the same."""
        try:
            checksum, _, content = (self.folder / f"{self.key}.json").read_text(encoding="utf-8").partition("\n")
            if checksum != _checksum(content):
                return None
            entry = json.loads(content)
            if self._hashed({name: env.get(name) for name in entry["env"]}) != entry["values"]:
                return None
            sources = {path: as_source(self.texts[path].decode("utf-8")) for path in entry["sources"]}
            return Kept(_report(entry["report"], sources), tuple(map(_problem, entry["warnings"])))
        except (OSError, ValueError, KeyError):
            return None

    def put(self, report: Report, asked: Mapping[str, str | None], warnings: Sequence[Problem] = ()) -> None:
        """Keep a report and its warnings, with the variables that it depends on; what cannot be written is not kept."""
        if not set(report.sources) <= set(self.texts):
            return  # a finding is in a file that the key knows nothing of
        content = json.dumps(
            {
                "env": sorted(asked),
                "values": self._hashed(asked),
                "sources": sorted(report.sources),
                "warnings": list(warnings),
                "report": replace(report, sources={}),
            },
            default=_fields,
        )
        try:
            write_atomic(self.folder / f"{self.key}.json", f"{_checksum(content)}\n{content}")
            keep_newest(self.folder, "*.json", _KEPT)
        except OSError:
            return

    def _hashed(self, values: Mapping[str, str | None]) -> str:
        """Environment variables may be secrets: of their values only one hash of all together is kept."""
        said = self.key + json.dumps(sorted(values.items()))
        return hashlib.blake2b(said.encode()).hexdigest()


def _fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name, for JSON; `asdict` would copy all that they hold before."""
    kind: Any = type(value)
    return {name: getattr(value, name) for name in _names(kind)}


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


def _report(entry: Mapping[str, Any], sources: Mapping[str, str]) -> Report:
    """The report of its fields. Raises KeyError or TypeError for anything else."""
    merges, findings = map(merge_of_json, entry["merges"]), map(finding_of_json, entry["findings"])
    return Report(tuple(merges), tuple(findings), entry["files"], entry["hidden"], entry["stale"], sources)


def _problem(entry: Mapping[str, Any]) -> Problem:
    place = Place(**entry["place"]) if entry["place"] is not None else None
    return Problem(**{**entry, "place": place, "calls": tuple(entry["calls"])})


def _checksum(content: str) -> str:
    return hashlib.blake2b(content.encode(), digest_size=20).hexdigest()


def linter() -> list[Any]:
    """Return what lints: what makes contributions, and the packages with rules, down to their files."""
    return [current_tool(), [found for package in provided_paths() for found in status(package)]]
