"""Writing files: whole or not at all, through no link, and no more than the newest of a folder.

What is below the folder of everything generated may come with a check-out: a link there leads to files of others.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from merge_runner.project_file import RefusedFileError

_HINT = "remove it, or write elsewhere with --target-path"


def write_atomic(path: Path, *parts: str | bytes, synced: bool = True, below: Path | None = None) -> None:
    """Puts bytes, or texts as UTF-8, into `path` as `atomic_file` does."""
    with atomic_file(path, synced=synced, below=below) as file:
        file.writelines(part.encode() if isinstance(part, str) else part for part in parts)


@contextmanager
def atomic_file(path: Path, *, synced: bool = True, below: Path | None = None) -> Iterator[BinaryIO]:
    """Return a file to write, which becomes `path` in one step: readers and a crash see the old file or the new one.

    Where anything is raised meanwhile, the old one stays. With `synced` False a crash of the machine may leave a part
    of it: for what has a checksum and can be made again. Missing folders are made, as `make_folder` does. The mode is
    that of the file before; a new one has what the umask of the caller leaves. Raises OSError, which names a file.
    """
    make_folder(path.parent, below)
    # Without `tempfile`: importing it takes longer. The name is short: that of the file may be as long as it can be.
    temporary = path.with_name(f".{os.urandom(12).hex()}")
    try:
        with temporary.open("xb") as file:
            yield file
            if synced:
                file.flush()
                os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            before = os.lstat(path).st_mode
            if stat.S_ISREG(before):
                temporary.chmod(before & 0o777)
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # a write that fails says why, and not where
        raise


def open_to_append(path: Path, below: Path | None = None) -> BinaryIO:
    """Open a file, which may be new, to add to its end; its folder is made. Raises OSError, for links and pipes too."""
    make_folder(path.parent, below)
    if path.is_symlink():
        raise RefusedFileError("outside", "it is a link, and nothing is written through it", str(path), _HINT)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RefusedFileError("not-a-file", "it is not a file, and nothing is added to it", str(path), _HINT)
    return os.fdopen(descriptor, "ab", buffering=0)


def make_folder(folder: Path, below: Path | None = None) -> None:
    """Make a folder and those above it that are missing; those `below` another one are no links. Raises OSError."""
    (folder if below is None else below).mkdir(parents=True, exist_ok=True)
    parts = folder.relative_to(below).parts if below is not None else ()
    for end, part in enumerate(parts, start=1):
        inner = Path(below or "", *parts[:end])
        if part == "..":
            raise RefusedFileError("outside", f"it leads out of {below}", str(folder), _HINT)
        with suppress(FileExistsError):
            inner.mkdir()
        if not stat.S_ISDIR(os.lstat(inner).st_mode):
            raise RefusedFileError("outside", "it is a link or a file, and nothing is written there", str(inner), _HINT)


def keep_newest(folder: Path, pattern: str, most: int) -> None:
    """Remove the files that fit `pattern` but for the `most` that were written last; the newest always stays.

    Nothing is removed from a folder that is a link. Raises OSError.
    """
    if folder.is_symlink():
        return
    files = [(file, file.lstat()) for file in folder.glob(pattern)]
    files = [(file, status) for file, status in files if stat.S_ISREG(status.st_mode)]
    files.sort(key=lambda entry: entry[1].st_mtime, reverse=True)
    for file, _ in files[max(most, 1) :]:
        file.unlink(missing_ok=True)
