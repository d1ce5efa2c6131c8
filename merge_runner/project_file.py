"""Opening the files of a project, which a stranger may have written: regular files inside of it, of a bounded size.

A link or a path of a check-out may name any file of the machine, a device that never ends, or a pipe that nobody
writes. It needs no more than the standard library.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

LIMIT = "MERGE_RUNNER_MAX_FILE_MB"
"""The environment variable with the most megabytes of a file; no setting of a project, which a stranger may write."""
_MEGABYTE = 1 << 20
_MOST = 64 * _MEGABYTE
_MOST_OF_ARTIFACT = 512 * _MEGABYTE
_SMALLEST_READ = 4096
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class RefusedFileError(OSError):
    """A file that is not opened, or not read to its end: `code`, `message` and `hint` are those of a problem."""

    def __init__(self, code: str, message: str, path: str, hint: str) -> None:
        super().__init__(None, message, path)
        self.strerror = self.message = message
        self.filename = path
        self.code = code
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.strerror}: {self.filename!r}"


class Boundary:
    """The folder of a project, and the repository that it is in: where links and paths of the project may lead.

    The repository is the nearest folder upwards with `.git`. What links of folders lead to is looked up once: make one
    for each time that a project is read.
    """

    def __init__(self, root: str | Path) -> None:
        self._root = os.path.abspath(root)  # noqa: PTH100 -- Path objects are slow for thousands of files
        self._real_root = os.path.realpath(self._root)
        self._repository = _repository(self._real_root)
        self._folders: dict[str, str] = {}
        """The real path of each folder that was asked for and is inside."""

    def real_path(self, path: str | Path) -> str:
        """Return the path of a file or folder without links. Raises RefusedFileError where it is not inside.

        As everywhere, a relative path begins in the working directory.
        """
        name = _checked_name(path)
        whole = name if os.path.isabs(name) else os.path.join(os.getcwd(), name)  # noqa: PTH109, PTH117, PTH118
        folder, name = os.path.split(whole)
        if name in ("", ".", "..") or whole == self._root:
            return self._real_folder(whole)
        if folder not in self._folders:
            self._folders[folder] = self._real_folder(folder)
        direct = f"{self._folders[folder].rstrip(os.sep)}{os.sep}{name}"
        try:
            is_link = stat.S_ISLNK(os.lstat(direct).st_mode)
        except OSError:  # it is not there, or a file is where a folder should be: opening it says so
            is_link = False
        return self._checked(whole, os.path.realpath(direct)) if is_link else direct

    def holds(self, path: str | Path) -> bool:
        """Return whether a file or folder, without links, is inside."""
        try:
            self.real_path(path)
        except RefusedFileError:
            return False
        return True

    def of_named(self, path: str | Path) -> Boundary | None:
        """Return what a file that the user has named has to be inside of: None where its path, as written, is outside.

        Within the repository a name may be that of a link which a stranger has made: hooks name what has changed.
        """
        whole = os.path.abspath(path)  # noqa: PTH100
        folders = (self._root, self._real_root, self._repository)
        return self if any(whole.startswith(f"{folder.rstrip(os.sep)}{os.sep}") for folder in folders) else None

    def _real_folder(self, folder: str) -> str:
        real = os.path.realpath(folder)
        # A hidden folder may be named, and no link may lead there.
        below = folder[len(self._root) :] if folder.startswith(f"{self._root}{os.sep}") else ""
        if real == f"{self._real_root.rstrip(os.sep)}{below}":
            return real
        return self._checked(folder, real)

    def _checked(self, path: str, real: str) -> str:
        for folder in (self._real_root, self._repository):
            if real == folder:
                return real
            if real.startswith(f"{folder.rstrip(os.sep)}{os.sep}"):
                # `.git/config` and `.env` hold secrets of the one who has the check-out.
                hidden = [part for part in real[len(folder) :].split(os.sep) if part.startswith(".")]  # noqa: PTH206
                if not hidden:
                    return real
                raise _outside(f"it leads to {real}, which is hidden ({hidden[0]})", path)
        raise _outside(f"it leads to {real}, outside of the project and its repository", path)


def read_file(path: str | Path, boundary: Boundary | None, *, artifact: bool = False) -> bytes:
    """Return the content of a regular file that is inside of a boundary; None for one that the user has named.

    An artifact (a manifest, results of a run) may be larger than files that somebody writes. Raises OSError, and
    RefusedFileError with the code `outside`, `not-a-file` or `too-large`.
    """
    path = _checked_name(path)
    if boundary is None:
        descriptor = os.open(path, _FLAGS)
    else:
        # The real path is opened and no link at its end: one that is put there meanwhile is an error.
        real = boundary.real_path(path)
        _check_kind(os.lstat(real), path)  # before a device is opened, which may do something
        descriptor = os.open(real, _FLAGS | _NO_LINK)
    try:
        status = os.fstat(descriptor)
        _check_kind(status, path)
        return _content(descriptor, status.st_size, _most_bytes(artifact=artifact), path)
    finally:
        os.close(descriptor)


def read_json(path: str | Path, boundary: Boundary | None) -> Any:
    """Return the value of an artifact. Raises OSError as `read_file` does, and ValueError for what is no JSON.

    NaN and infinity are none, which Python's reader takes.
    """
    try:
        return json.loads(read_file(path, boundary, artifact=True), parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")


def _checked_name(path: str | Path) -> str:
    """Return a path that the system can be asked about: those of YAML and JSON may have any characters."""
    text = os.fspath(path)
    try:
        if b"\0" not in os.fsencode(text):
            return text
    except UnicodeEncodeError:
        pass
    raise RefusedFileError("not-a-file", "no file can have this name", ascii(text), "write another path")


def _content(descriptor: int, size: int, most: int, path: str) -> bytes:
    """Read to the end: the size is a guess, since a file may grow, and those of /proc have none."""
    parts: list[bytes] = []
    left = most + 1
    while left > 0 and size <= most:
        part = os.read(descriptor, min(left, max(size, _SMALLEST_READ) + 1))
        if not part:
            return parts[0] if len(parts) == 1 else b"".join(parts)
        parts.append(part)
        left -= len(part)
    message = f"it is larger than {most // _MEGABYTE} MB"
    raise RefusedFileError("too-large", message, path, f"{LIMIT} sets how many MB a file may have")


def _check_kind(status: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISLNK(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise RefusedFileError("not-a-file", f"it is {kind}, not a file", path, "replace it by a file, or remove it")


def _most_bytes(*, artifact: bool) -> int:
    text = os.environ.get(LIMIT, "")
    if text.isascii() and text.isdigit() and len(text) < len("1000000") and int(text) > 0:
        return int(text) * _MEGABYTE
    return _MOST_OF_ARTIFACT if artifact else _MOST


def _outside(message: str, path: str) -> RefusedFileError:
    return RefusedFileError("outside", message, path, "a link may lead to a file of the project or its repository")


def _repository(root: str) -> str:
    """Return the nearest folder upwards with `.git`; `root` where there is none.

    A home folder that is a repository, of settings, is none of the project.
    """
    folder, home = root, os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111
    while folder != home and not os.path.lexists(os.path.join(folder, ".git")):  # noqa: PTH118
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            return root
        folder = above
    return root if folder == home else folder
