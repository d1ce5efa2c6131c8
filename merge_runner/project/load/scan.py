"""The folders of a project and the files in them."""

from __future__ import annotations

import os
from collections.abc import Iterator

from merge_runner.errors import Problems
from merge_runner.lazy_dataclass import dataclass
from merge_runner.text import Place


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
    that hold Python files, with all that is below them. Links to folders are followed, except in a circle.
    """
    yield from _Scan(root, problems, skip, skip_python).folders(start, (), ())


@dataclass(frozen=True)
class _Scan:
    root: str
    problems: Problems
    skip: frozenset[str]
    skip_python: bool

    def folders(self, path: str, parts: tuple[str, ...], linked: tuple[str, ...]) -> Iterator[Folder]:
        """`linked` are the real paths of the folders that links have led into on the way here."""
        full = os.path.join(self.root, path)  # noqa: PTH118 -- Path objects are slow for thousands of files
        try:
            with os.scandir(full) as entries:
                found = sorted((entry for entry in entries if entry.name[0] != "."), key=lambda entry: entry.name)
        except FileNotFoundError:
            return
        except OSError as error:
            self.problems.add("unreadable", f"cannot be read: {error.strerror or error}", Place(path, 1, 1))
            return
        inner_folders = [entry for entry in found if _is_folder(entry)]
        names = {entry.name for entry in inner_folders}
        folder = Folder(path, parts, tuple(entry.name for entry in found if entry.name not in names))
        if self.skip_python and parts and any(name.endswith(".py") for name in folder.files):
            return
        yield folder
        for entry in inner_folders:
            inner = folder.join(entry.name)
            if inner in self.skip:
                continue
            below = linked
            if entry.is_symlink():
                real = os.path.realpath(entry.path)
                here = os.path.realpath(full)
                if real in linked or here == real or here.startswith(real + os.sep):
                    message = "this link leads back to a folder that holds it"
                    self.problems.add("symlink-loop", message, Place(inner, 1, 1), "remove the link")
                    continue
                below = (*linked, here, real)
            yield from self.folders(inner, (*parts, entry.name), below)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself: reading it as a file raises the error
        return False
