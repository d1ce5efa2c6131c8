"""Writing a file whole or not at all, and keeping no more than the newest files of a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_atomic(path: Path, *parts: str | bytes, synced: bool = True) -> None:
    """Puts bytes, or texts as UTF-8, into `path` as `atomic_file` does."""
    with atomic_file(path, synced=synced) as file:
        file.writelines(part.encode() if isinstance(part, str) else part for part in parts)


@contextmanager
def atomic_file(path: Path, *, synced: bool = True) -> Iterator[BinaryIO]:
    """Return a file to write, which becomes `path` in one step: readers and a crash see the old file or the new one.

    Where anything is raised meanwhile, the old one stays. With `synced` False a crash of the machine may leave a part
    of it: for what has a checksum and can be made again. Missing folders are made. Raises OSError, which names a file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}")  # without `tempfile`: importing it takes longer
    try:
        with temporary.open("xb") as file:
            yield file
            if synced:
                file.flush()
                os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # a write that fails says why, and not where
        raise


def keep_newest(folder: Path, pattern: str, most: int, most_bytes: int | None = None) -> None:
    """Remove the files that fit `pattern` but for the `most` that were written last; the newest always stays.

    With `most_bytes`, older ones stay as long as all that stay have no more bytes together. Raises OSError.
    """
    total = 0
    for number, file in enumerate(sorted(folder.glob(pattern), key=_written, reverse=True)):
        total += file.stat().st_size
        if number and (number >= most or (most_bytes is not None and total > most_bytes)):
            file.unlink(missing_ok=True)


def _written(path: Path) -> float:
    return path.stat().st_mtime
