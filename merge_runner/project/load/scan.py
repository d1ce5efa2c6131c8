"""The folders of a project and the files in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from merge_runner.errors import Problems
from merge_runner.project_file import Boundary, RefusedFileError
from merge_runner.text import Place

_DEEPEST = 100
"""Folders in each other: code that goes through them calls itself, and a stranger's may be a thousand."""


@dataclass(frozen=True)
class Folder:
    """A folder: `path` relative to the project with forward slashes, `parts` below where the scan began, its files."""

    path: str
    parts: tuple[str, ...]
    files: tuple[str, ...]

    def join(self, name: str) -> str:
        """The path of a file in it, relative to the project."""
        return name if self.path == "." else f"{self.path}/{name}"


def scan(
    root: str, start: str, problems: Problems, *, skip: frozenset[str] = frozenset(), skip_python: bool = False
) -> Iterator[Folder]:
    """Every folder from `start` (relative to `root`) down, in the order of their names.

    What begins with a dot is left out, and so are the paths `skip`. `skip_python` leaves out folders below `start`
    that hold Python files, with all that is below them. Links to folders of the project or its repository are followed,
    once: links that lead to each other would make endless paths.
    """
    yield from _Scan(root, problems, skip, skip_python).folders(start)


class _Scan:
    def __init__(self, root: str, problems: Problems, skip: frozenset[str], skip_python: bool) -> None:
        self._root = root
        self._problems = problems
        self._skip = skip
        self._skip_python = skip_python
        self._boundary = Boundary(root)
        self._links: dict[str, str] = {}
        """By the real path of a folder the first link that has led to it."""

    def folders(self, start: str) -> Iterator[Folder]:
        if self._real_path(start) is None:
            return
        waiting: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [(start, (), ())]
        while waiting:
            path, parts, linked = waiting.pop()
            try:
                with os.scandir(self._full(path)) as entries:
                    visible = sorted((entry for entry in entries if entry.name[0] != "."), key=lambda entry: entry.name)
            except FileNotFoundError:
                continue
            except OSError as error:
                self._problems.add("unreadable", f"cannot be read: {error.strerror or error}", Place(path, 1, 1))
                continue
            inner_folders = [entry for entry in visible if _is_folder(entry)]
            names = {entry.name for entry in inner_folders}
            folder = Folder(path, parts, tuple(entry.name for entry in visible if entry.name not in names))
            if self._skip_python and parts and any(name.endswith(".py") for name in folder.files):
                continue
            yield folder
            for entry in reversed(inner_folders):
                inner = folder.join(entry.name)
                if inner in self._skip:
                    continue
                if len(parts) == _DEEPEST:
                    message = f"cannot be read: it is in {_DEEPEST} folders, and no more are searched"
                    self._problems.add("unreadable", message, Place(inner, 1, 1), "move it up")
                    continue
                below = self._follow_link(inner, linked) if entry.is_symlink() else linked
                if below is not None:
                    waiting.append((inner, (*parts, entry.name), below))

    def _follow_link(self, link: str, linked: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return `linked`, the real paths of the folders that links have led into on the way, with those of one more.

        None where it may not be followed, or leads to a folder that is read already.
        """
        real = self._real_path(link)
        if real is None:
            return None
        here = os.path.realpath(os.path.dirname(self._full(link)))  # noqa: PTH120
        if real in linked or here == real or here.startswith(real + os.sep):
            message = "this link leads back to a folder that holds it"
        elif self._links.setdefault(real, link) != link:
            message = f"this link leads to the folder that {self._links[real]} leads to"
        else:
            return *linked, here, real
        self._problems.add("symlink-loop", message, Place(link, 1, 1), "remove the link")
        return None

    def _real_path(self, path: str) -> str | None:
        try:
            return self._boundary.real_path(self._full(path))
        except RefusedFileError as error:
            self._problems.add(error.code, error.message, Place(path, 1, 1), error.hint)
            return None

    def _full(self, path: str) -> str:
        return os.path.join(self._root, path)  # noqa: PTH118 -- Path objects are slow for thousands of files


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself: reading it as a file raises the error
        return False
