"""Reports of earlier runs, kept in the project's target folder under a key of everything that they depend on.

What is looked up needs no more than the standard library: neither the project nor its YAML is loaded where nothing has
changed. The cache can be deleted at any time, and an entry that cannot be read is as good as none.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from merge_runner.atomic import write_atomic
from merge_runner.contributions import status
from merge_runner.contributions import tool as current_tool
from merge_runner.errors import Problem, Problems
from merge_runner.lint.registry import provided_paths
from merge_runner.lint.report import Report
from merge_runner.lint.run.outcome_json import finding_of_json, merge_of_json
from merge_runner.lint.suppress.baseline import DEFAULT
from merge_runner.project.load.scan import scan
from merge_runner.project.syntax.toml import parse_toml
from merge_runner.text import Place, as_source

FOLDER = "lint_cache"
_KEPT = 20
"""Entries that stay: a project is linted with a handful of different options."""

_PATHS = {"model-paths": ["models"], "macro-paths": ["macros"], "test-paths": ["tests"], "seed-paths": ["seeds"]}
_FILES = ("pyproject.toml", "profiles.yml", "selectors.yml", "catalog.yml", DEFAULT)
_SUFFIXES = (".sql", ".yml", ".yaml", ".csv", ".md")


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
        cls, root: Path, options: Mapping[str, Any], others: Iterable[Path], tool: Sequence[Any] | None = None
    ) -> ReportCache | None:
        """Return the cache of a project for a run with these options (plain values); None: its settings are not read.

        `others` are files outside of the project's folders that the report depends on; `tool` is what lints, by default
        this package and what it uses.
        """
        try:
            table = parse_toml((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["merge-runner"]
            target = str(options.get("target_path") or table.get("target-path") or "target")
            texts: dict[str, bytes | None] = {name: _content(root / name) for name in _FILES}
            for key, default in _PATHS.items():
                for folder in _listed(table.get(key, default)):
                    texts.update(_files(root, folder, target, key))
            named = table.get("lint", {}).get("baseline")
            if named:
                texts.setdefault(named, _content(root / named))
            outside = [(str(path), _content(path)) for path in others]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        digest = hashlib.blake2b(digest_size=20)
        said = json.dumps([str(root), linter() if tool is None else tool, options], sort_keys=True, default=str)
        digest.update(said.encode("utf-8", "surrogatepass"))
        for name, content in (*sorted(texts.items()), *outside):
            digest.update(f"\0{name}\0".encode("utf-8", "surrogatepass"))
            digest.update(b"-" if content is None else hashlib.blake2b(content, digest_size=20).digest())
        known = {name: content for name, content in texts.items() if content is not None}
        return cls(root, root / target / FOLDER, digest.hexdigest(), known)

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
                "warnings": [asdict(problem) for problem in warnings],
                "report": asdict(replace(report, sources={})),
            }
        )
        try:
            write_atomic(self.folder / f"{self.key}.json", f"{_checksum(content)}\n{content}")
            for old in sorted(self.folder.glob("*.json"), key=_age, reverse=True)[_KEPT:]:
                old.unlink()
        except OSError:
            return

    def _hashed(self, values: Mapping[str, str | None]) -> str:
        """Environment variables may be secrets: of their values only one hash of all together is kept."""
        said = self.key + json.dumps(sorted(values.items()))
        return hashlib.blake2b(said.encode()).hexdigest()


def _report(entry: Mapping[str, Any], sources: Mapping[str, str]) -> Report:
    """The report that `asdict` took apart. Raises KeyError or TypeError for anything else."""
    merges, findings = map(merge_of_json, entry["merges"]), map(finding_of_json, entry["findings"])
    return Report(tuple(merges), tuple(findings), entry["files"], entry["hidden"], entry["stale"], sources)


def _problem(entry: Mapping[str, Any]) -> Problem:
    place = Place(**entry["place"]) if entry["place"] is not None else None
    return Problem(**{**entry, "place": place, "calls": tuple(entry["calls"])})


def _files(root: Path, start: str, target: str, key: str) -> Iterator[tuple[str, bytes]]:
    """What the project reads in a folder of its settings, by path. Raises OSError where that cannot be done."""
    problems = Problems()
    base = os.fspath(root)
    for folder in scan(base, start, problems, skip=frozenset({target}), skip_python=key == "test-paths"):
        yield f"{folder.path}/", b""
        for name in folder.files:
            if name.lower().endswith(_SUFFIXES):
                path = folder.join(name)
                with open(os.path.join(base, path), "rb") as stream:  # noqa: PTH118, PTH123 -- of thousands
                    yield path, stream.read()
    if len(problems):
        raise OSError("a folder cannot be read as a whole")


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _checksum(content: str) -> str:
    return hashlib.blake2b(content.encode(), digest_size=20).hexdigest()


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def linter() -> list[Any]:
    """Return what lints: what makes contributions, and the packages with rules, down to their files."""
    return [current_tool(), [found for package in provided_paths() for found in status(package)]]


def _age(path: Path) -> float:
    return path.stat().st_mtime
