"""What loading a project reads, with a hash of each file: whether anything has changed since an earlier run, and what.

It needs no more than the standard library: neither settings nor YAML are read as such.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any

from merge_runner.errors import Problems
from merge_runner.lazy_dataclass import dataclass
from merge_runner.project.load.not_read import FILES, FOLDERS
from merge_runner.project.load.package_paths import DECLARING, LOCK
from merge_runner.project.load.package_paths import FOLDER as PACKAGES
from merge_runner.project.load.scan import scan
from merge_runner.project.syntax.toml import parse_toml

_PATHS = {"model-paths": ["models"], "macro-paths": ["macros"], "test-paths": ["tests"], "seed-paths": ["seeds"]}
FILES_OF_ALL = ("pyproject.toml", "profiles.yml", "selectors.yml", "catalog.yml", LOCK, *DECLARING)
_SUFFIXES = (".sql", ".yml", ".yaml", ".csv", ".md", ".py")
_NONE = b"-"
_UNSURE = 2_000_000_000
"""Nanoseconds: a file that had changed so shortly before it was read may have changed again in the same tick."""

Stamp = tuple[int, int, int, int]
"""Times of the last change of a file and of its entry in nanoseconds, size, number."""


@dataclass(frozen=True)
class ProjectState:
    """The files of the project at `root`, and files outside of it that were named as well."""

    root: Path
    target: str
    """The folder of everything generated, relative to the project."""
    contents: Mapping[str, bytes] = field(repr=False)
    """The files of the project, by path."""
    hashes: Mapping[str, bytes] = field(repr=False)
    """A hash of each file; folders end in a slash, and what is looked for and not there has a dash."""
    named: tuple[str | None, tuple[Path, ...]] = (None, ())
    """What it was made for besides the project: the arguments of `of`."""
    stamps: Mapping[str, tuple[Stamp, int]] = field(default_factory=dict, repr=False, compare=False)
    """By path the stamp of each file in the folders, and when it was read: with the same stamp it is not read again."""

    @classmethod
    def of(cls, root: Path, target_path: str | None, others: Sequence[Path]) -> ProjectState | None:
        """Return the state of a project now; None where its settings or its folders cannot be read as a whole.

        `target_path` None: that of the settings. `others` are files outside of the project's folders.
        """
        try:
            table = parse_toml((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["merge-runner"]
            target = str(target_path or table.get("target-path") or "target")
            read = _Files(root, target)
            found: dict[str, bytes | None] = {name: _content(root / name) for name in FILES_OF_ALL}
            for key, default in _PATHS.items():
                for folder in _listed(table.get(key, default)):
                    found.update(read.folder(folder, skip_python=key == "test-paths"))
            named = table.get("lint", {}).get("baseline")
            if named:
                found.setdefault(named, _content(root / named))
            for folder in (*FOLDERS, *([PACKAGES] if found[LOCK] is not None else [])):
                found.update(read.folder(folder))
            outside = {f"outside {path}": _content(path) for path in others}
            there = {f"there {name}": b"" if os.path.lexists(root / name) else None for name in FILES}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        hashes = {
            path: _NONE if content is None else read.hash(path, content) for path, content in sorted(found.items())
        }
        hashes |= {path: _NONE if content is None else _hash(content) for path, content in (outside | there).items()}
        contents = {path: content for path, content in found.items() if content is not None}
        state = cls(root, target, contents, hashes, (target_path, tuple(others)), read.stamps)
        _latest[root] = state
        return state

    def is_of(self, root: Path, target_path: str | None, others: Sequence[Path]) -> bool:
        """Return whether `of` made it with these arguments."""
        return (self.root, *self.named) == (root, target_path, tuple(others))

    def again(self) -> ProjectState | None:
        """Return the state of the same project now."""
        return self.of(self.root, *self.named)

    @cached_property
    def digest(self) -> bytes:
        """One hash of all."""
        digest = hashlib.blake2b(digest_size=20)
        for path, each in self.hashes.items():
            digest.update(f"\0{path}\0".encode("utf-8", "surrogatepass"))
            digest.update(each)
        return digest.digest()


def nearest_project(start: Path) -> Path | None:
    """Return the project that is most likely meant, from `start` upwards, without reading its settings as such."""
    start = Path(os.path.abspath(start))  # noqa: PTH100 -- `..` ends, links stay
    for folder in (start, *start.parents):
        try:
            content = (folder / "pyproject.toml").read_bytes()
            # Reading TOML takes long enough to leave out the files of other tools.
            if b"merge-runner" not in content:
                continue
            tool = parse_toml(content.decode()).get("tool", {})
            if "merge-runner" in tool:
                # Settings of lint alone are of files outside of any project.
                return None if set(tool["merge-runner"]) == {"lint"} else folder
        except (OSError, ValueError, TypeError):
            continue
    return None


def profiles_outside(env: Mapping[str, str], profiles_dir: Path | None) -> Path:
    """Return the profiles.yml outside of a project that counts where the project has none."""
    home = env.get("HOME") or env.get("USERPROFILE")
    return (profiles_dir or (Path(home) if home else Path.home()) / ".merge-runner") / "profiles.yml"


_latest: dict[Path, ProjectState] = {}
"""The state that was read last of each project in this process."""


class _Files:
    """Reads the files of a project that have changed since its state was read last."""

    def __init__(self, root: Path, target: str) -> None:
        self._root = os.fspath(root)
        self._skip = frozenset({target})
        self._before = _latest.get(root)
        self.stamps: dict[str, tuple[Stamp, int]] = {}

    def folder(self, start: str, *, skip_python: bool = False) -> Iterator[tuple[str, bytes]]:
        """Yield what the project reads in a folder, by path. Raises OSError where that cannot be done."""
        problems = Problems()
        for folder in scan(self._root, start, problems, skip=self._skip, skip_python=skip_python):
            yield f"{folder.path}/", b""
            for name in folder.files:
                if name.lower().endswith(_SUFFIXES):
                    path = folder.join(name)
                    yield path, self._content(path)
        if len(problems):
            raise OSError("a folder cannot be read as a whole")

    def hash(self, path: str, content: bytes) -> bytes:
        """Return the hash of a file; that of the state before where the file was not read again."""
        before = self._before
        return before.hashes[path] if before and before.contents.get(path) is content else _hash(content)

    def _content(self, path: str) -> bytes:
        full = os.path.join(self._root, path)  # noqa: PTH118 -- of thousands
        now = time.time_ns()
        found = os.stat(full)  # noqa: PTH116
        stamp = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
        if self._before is not None and path in self._before.stamps:
            known, read_at = self._before.stamps[path]
            if known == stamp and max(stamp[:2]) + _UNSURE < read_at:
                self.stamps[path] = known, read_at
                return self._before.contents[path]
        self.stamps[path] = stamp, now
        with open(full, "rb") as stream:  # noqa: PTH123
            return stream.read()


def file_hash(path: Path) -> bytes:
    """Return a hash of a file; a dash where there is none. Raises OSError."""
    content = _content(path)
    return _NONE if content is None else _hash(content)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _hash(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=20).digest()
