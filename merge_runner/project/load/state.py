"""What loading a project reads, with a hash of each file: whether anything has changed since an earlier run, and what.

It needs no more than the standard library: neither settings nor YAML are read as such.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any

from merge_runner.atomic import write_atomic
from merge_runner.errors import Problems
from merge_runner.kept_values import PROTOCOL, read_values
from merge_runner.lazy_dataclass import dataclass
from merge_runner.project.load.not_read import FILES, FOLDERS
from merge_runner.project.load.package_paths import DECLARING, LOCK
from merge_runner.project.load.package_paths import FOLDER as PACKAGES
from merge_runner.project.load.scan import scan
from merge_runner.project.syntax.toml import parse_toml
from merge_runner.verified_file import Stamp, is_sure, stamp_of

_PATHS = {
    "model-paths": ["models"],
    "macro-paths": ["macros"],
    "test-paths": ["tests"],
    "seed-paths": ["seeds"],
    "analysis-paths": ["analyses"],
}
FILES_OF_ALL = ("pyproject.toml", "profiles.yml", "selectors.yml", "catalog.yml", LOCK, *DECLARING)
_SUFFIXES = (".sql", ".yml", ".yaml", ".csv", ".md", ".py")
_NONE = b"-"
_HASH = 20
_LOG = logging.getLogger("merge_runner.contributions")

Stamped = tuple[Stamp, int, bytes]
"""The stamp of a file, when it was read, and the hash of what was read."""

STAMPS = "file_stamps.bin"
"""The file with the stamps in the target folder: what has the same one is not read again by a later run either."""
_VERSION = 1
"""Of what that file has."""


@dataclass(frozen=True)
class ProjectState:
    """The files of the project at `root`, and files outside of it that were named as well."""

    root: Path
    target: str
    """The folder of everything generated, relative to the project."""
    contents: Contents = field(repr=False, compare=False)
    """The files of the project, by path."""
    hashes: Mapping[str, bytes] = field(repr=False)
    """A hash of each file; folders end in a slash, and what is looked for and not there has a dash."""
    named: tuple[str | None, tuple[Path, ...]] = (None, ())
    """What it was made for besides the project: the arguments of `of`."""
    stamps: Mapping[str, Stamped] = field(default_factory=dict, repr=False, compare=False)
    """By path those of the files in the folders: with the same stamp a file is not read again."""

    @classmethod
    def of(
        cls,
        root: Path,
        target_path: str | None,
        others: Sequence[Path],
        clock: Callable[[], int] = time.time_ns,
    ) -> ProjectState | None:
        """Return the state of a project now; None where its settings or its folders cannot be read as a whole.

        `target_path` None: that of the settings. `others` are files outside of the project's folders. `clock` returns
        nanoseconds as the times of files have them.
        """
        try:
            table = parse_toml((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["merge-runner"]
            target = str(target_path or table.get("target-path") or "target")
            files = _Files(root, target, clock)
            for name in FILES_OF_ALL:
                files.read(name)
            for key, default in _PATHS.items():
                for folder in _listed(table.get(key, default)):
                    files.read_folder(folder, skip_python=key == "test-paths")
            named = table.get("lint", {}).get("baseline")
            if named and named not in files.hashes:
                files.read(named)
            for folder in (*FOLDERS, *([PACKAGES] if LOCK in files.contents else [])):
                files.read_folder(folder)
            outside = {f"outside {path}": file_hash(path) for path in others}
            there = {f"there {name}": _hash(b"") if os.path.lexists(root / name) else _NONE for name in FILES}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        hashes = dict(sorted(files.hashes.items())) | outside | there
        contents = Contents(os.fspath(root), files.contents, files.hashes)
        state = cls(root, target, contents, hashes, (target_path, tuple(others)), files.stamps)
        _latest[root] = state
        return state

    def is_of(self, root: Path, target_path: str | None, others: Sequence[Path]) -> bool:
        """Return whether `of` made it with these arguments."""
        return (self.root, *self.named) == (root, target_path, tuple(others))

    def again(self) -> ProjectState | None:
        """Return the state of the same project now."""
        return self.of(self.root, *self.named)

    def keep(self) -> None:
        """Keep the stamps in the target folder for later runs; what cannot be written is not kept."""
        file = self.root / self.target / STAMPS
        if _kept.get(file) == self.stamps:
            return
        content = pickle.dumps((_VERSION, os.fspath(self.root), dict(self.stamps)), PROTOCOL)
        try:
            write_atomic(file, _hash(content) + content, synced=False)
        except OSError as error:
            _LOG.debug("%s; the stamps of files are not kept", error)
        _kept[file] = self.stamps

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
_kept: dict[Path, Mapping[str, Stamped]] = {}
"""The stamps that the files with them have, as this process has read or written them."""


class Contents(Mapping[str, bytes]):
    """The files of a project by path. What has not changed since an earlier run is read when it is asked for.

    Raises KeyError for a file that is not as it was when its hash was taken.
    """

    def __init__(self, root: str, read: dict[str, bytes], hashes: Mapping[str, bytes]) -> None:
        self._root = root
        self.read = read
        """What has been read."""
        self._hashes = hashes

    def __getitem__(self, path: str) -> bytes:
        if path not in self.read:
            if path not in self:
                raise KeyError(path)
            try:
                content = _read(f"{self._root}/{path}")
            except OSError:
                raise KeyError(path) from None
            if _hash(content) != self._hashes[path]:
                raise KeyError(path)
            self.read[path] = content
        return self.read[path]

    def __contains__(self, path: object) -> bool:
        return self._hashes.get(str(path), _NONE) != _NONE

    def __iter__(self) -> Iterator[str]:
        return filter(self.__contains__, self._hashes)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Files:
    """Reads the files of a project that have changed since its state was read last, by this process or another."""

    def __init__(self, root: Path, target: str, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._root = os.fspath(root)
        self._skip = frozenset({target})
        latest = _latest.get(root)
        self._before = _stamps_of(root, target) if latest is None else latest.stamps
        self._read_before: Mapping[str, bytes] = {} if latest is None else latest.contents.read
        self.contents: dict[str, bytes] = {}
        self.hashes: dict[str, bytes] = {}
        self.stamps: dict[str, Stamped] = {}

    def read(self, path: str) -> None:
        """Read a file that may be missing. Raises OSError."""
        content = _content(Path(self._root, path))
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
                    self._read_changed(folder.join(name))
        if len(problems):
            raise OSError("a folder cannot be read as a whole")

    def _read_changed(self, path: str) -> None:
        full = f"{self._root}/{path}"
        now = self._clock()
        found = os.stat(full)  # noqa: PTH116 -- of thousands
        stamp = stamp_of(found)
        before = self._before.get(path)
        if before is not None and before[0] == stamp and is_sure(stamp, before[1]):
            self.stamps[path], self.hashes[path] = before, before[2]
            if path in self._read_before:
                self.contents[path] = self._read_before[path]
            return
        content = self.contents[path] = _read(full)
        digest = self.hashes[path] = _hash(content)
        self.stamps[path] = stamp, now, digest


def _stamps_of(root: Path, target: str) -> Mapping[str, Stamped]:
    """Return the stamps that an earlier run has kept; none where they cannot be read."""
    file = root / target / STAMPS
    found: Mapping[str, Stamped] = {}
    try:
        content = file.read_bytes()
        if _hash(memoryview(content)[_HASH:]) == content[:_HASH]:
            version, of_root, stamps = read_values(content[_HASH:])
            if (version, of_root) == (_VERSION, os.fspath(root)):
                found = dict(stamps)
    except FileNotFoundError:
        pass
    except Exception as error:  # bytes of another process may mean anything
        _LOG.debug("%s: %s; all files are read", file, error)
    _kept[file] = found
    return found


def file_hash(path: Path) -> bytes:
    """Return a hash of a file; a dash where there is none. Raises OSError."""
    content = _content(path)
    return _NONE if content is None else _hash(content)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 -- of thousands
        return stream.read()


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _hash(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=_HASH).digest()


_EMPTY = _hash(b"")
