"""What loading a project reads, with a hash of each file: whether anything has changed since an earlier run, and what.

It needs no more than the standard library: neither settings nor YAML are read as such.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from merge_runner.errors import Problems
from merge_runner.project.load.not_read import FILES, FOLDERS
from merge_runner.project.load.package_paths import DECLARING, LOCK
from merge_runner.project.load.package_paths import FOLDER as PACKAGES
from merge_runner.project.load.scan import scan
from merge_runner.project.syntax.toml import parse_toml
from merge_runner.project_file import Boundary, read_file

_PATHS = {
    "model-paths": ["models"],
    "macro-paths": ["macros"],
    "test-paths": ["tests"],
    "seed-paths": ["seeds"],
    "analysis-paths": ["analyses"],
}
FILES_OF_ALL = ("pyproject.toml", "profiles.yml", "selectors.yml", "catalog.yml", LOCK, *DECLARING)
_DATA = ".csv"
"""Of these the hash alone is of use: a seed may have many megabytes."""
_SUFFIXES = (".sql", ".yml", ".yaml", _DATA, ".md", ".py")
_NONE = b"-"
_HASH = 20


@dataclass(frozen=True)
class ProjectState:
    """The files of the project at `root`, and files outside of it that were named as well."""

    root: Path
    target: str
    """The folder of everything generated, relative to the project."""
    contents: Mapping[str, bytes] = field(repr=False, compare=False)
    """The files of the project, by path; folders and seeds are empty."""
    hashes: Mapping[str, bytes] = field(repr=False)
    """A hash of each file; folders end in a slash, and what is looked for and not there has a dash."""
    named: tuple[str | None, tuple[Path, ...]] = (None, ())
    """What it was made for besides the project: the arguments of `of`."""

    @classmethod
    def of(cls, root: Path, target_path: str | None, other_files: Sequence[Path]) -> ProjectState | None:
        """Return the state of a project now; None where its settings or its folders cannot be read as a whole.

        `target_path` None: that of the settings. `other_files` are files outside of the project's folders.
        """
        try:
            boundary = Boundary(root)
            table = parse_toml(read_file(root / "pyproject.toml", boundary).decode())["tool"]["merge-runner"]
            target = str(target_path or table.get("target-path") or "target")
            files = _Files(root, target, boundary)
            for name in FILES_OF_ALL:
                files.read(name)
            for key, default in _PATHS.items():
                for folder in _as_list(table.get(key, default)):
                    files.read_folder(folder, skip_python=key == "test-paths")
            baseline = table.get("lint", {}).get("baseline")
            if baseline and baseline not in files.hashes:
                files.read(baseline)
            for folder in (*FOLDERS, *([PACKAGES] if LOCK in files.contents else [])):
                files.read_folder(folder)
            outside = {f"outside {path}": file_hash(path) for path in other_files}
            there = {f"there {name}": _hash(b"") if os.path.lexists(root / name) else _NONE for name in FILES}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        hashes = dict(sorted(files.hashes.items())) | outside | there
        return cls(root, target, files.contents, hashes, (target_path, tuple(other_files)))

    def again(self) -> ProjectState | None:
        """Return the state of the same project now."""
        return self.of(self.root, *self.named)

    @cached_property
    def digest(self) -> bytes:
        """One hash of all."""
        digest = hashlib.blake2b(digest_size=20)
        for path, content_hash in self.hashes.items():
            digest.update(f"\0{path}\0".encode("utf-8", "surrogatepass"))
            digest.update(content_hash)
        return digest.digest()


def nearest_project(start: Path) -> Path | None:
    """Return the project that is most likely meant, from `start` upwards, without reading its settings as such."""
    start = Path(os.path.abspath(start))  # noqa: PTH100 -- `..` ends, links stay
    for folder in (start, *start.parents):
        try:
            content = read_file(folder / "pyproject.toml", Boundary(folder))
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


class _Files:
    """Reads the files of a project."""

    def __init__(self, root: Path, target: str, boundary: Boundary) -> None:
        self._root = os.fspath(root)
        self._boundary = boundary
        self._skip = frozenset({target})
        self.contents: dict[str, bytes] = {}
        self.hashes: dict[str, bytes] = {}

    def read(self, path: str) -> None:
        """Read a file that may be missing. Raises OSError."""
        content = _content(Path(self._root, path), self._boundary)
        self.hashes[path] = _NONE if content is None else _hash(content)
        if content is not None:
            self.contents[path] = content

    def read_folder(self, start: str, *, skip_python: bool = False) -> None:
        """Read what the project reads in a folder. Raises OSError where that cannot be done."""
        problems = Problems()
        for folder in scan(self._root, start, problems, skip=self._skip, skip_python=skip_python):
            self.hashes[f"{folder.path}/"] = _EMPTY
            self.contents[f"{folder.path}/"] = b""
            for name in folder.files:
                if name.lower().endswith(_SUFFIXES):
                    path = folder.join(name)
                    content = read_file(f"{self._root}/{path}", self._boundary)
                    self.hashes[path] = _hash(content)
                    self.contents[path] = b"" if name.lower().endswith(_DATA) else content
        if len(problems):
            raise OSError("a folder cannot be read as a whole")


def file_hash(path: Path) -> bytes:
    """Return a hash of a file that the user has named; a dash where there is none. Raises OSError."""
    content = _content(path, None)
    return _NONE if content is None else _hash(content)


def _content(path: Path, boundary: Boundary | None) -> bytes | None:
    return read_file(path, boundary) if path.is_file() else None


def _as_list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _hash(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_HASH).digest()


_EMPTY = _hash(b"")
