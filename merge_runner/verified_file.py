"""Files with a checksum of which parts are read: the whole is read where its stamp is not that of an earlier check.

A file has its checksum, a body, which is written part by part, a head, which says where these are, and its length.
"""

from __future__ import annotations

import hashlib
import io
import os
import struct
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from merge_runner.atomic import atomic_file, keep_newest, write_atomic
from merge_runner.kept_values import read_values

HASH = 20
UNSURE = 2_000_000_000
"""Nanoseconds: a file that had changed so shortly before it was read may have changed again in the same tick."""

Stamp = tuple[int, int, int, int]
"""Times of the last change of a file and of its entry in nanoseconds, size, number."""

_LENGTH = struct.Struct(">Q")
_CHUNK = 1 << 20
_SUFFIX = ".checked"


def stamp_of(found: os.stat_result) -> Stamp:
    """Return the stamp of a file: it is another one whenever its bytes are."""
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def is_sure(stamp: Stamp, read: int) -> bool:
    """Return whether a file with this stamp has the bytes that were read at a time, in nanoseconds."""
    return max(stamp[:2]) + UNSURE < read


class VerifiedFile:
    """A head, which is a pickle or several, and a body; both are as they were written."""

    def __init__(self, path: Path, clock: Callable[[], int] = time.time_ns) -> None:
        """Open a file, and compare its checksum unless that was done for its stamp, which is kept next to it.

        Raises OSError where it cannot be read, and ValueError for any other checksum.
        """
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        weakref.finalize(self, os.close, self._descriptor)
        now = clock()
        stamp = stamp_of(os.fstat(self._descriptor))
        self.checksum = self._read(0, HASH)
        checked, note = path.with_suffix(_SUFFIX), repr((stamp, self.checksum)).encode()
        if _content(checked) != note:
            if self._hashed(stamp[2]) != self.checksum:
                raise ValueError("it has another checksum")
            if is_sure(stamp, now) and stamp == stamp_of(os.fstat(self._descriptor)):
                write_atomic(checked, note, synced=False)
        end = stamp[2] - _LENGTH.size
        (length,) = _LENGTH.unpack(self._read(end, stamp[2]))
        self._head = end - length, end

    def head(self) -> io.BytesIO:
        """Return the bytes of the head."""
        return io.BytesIO(self._read(*self._head))

    def read(self, start: int, end: int) -> bytes:
        """Return a part of the body. Raises EOFError where the file has become shorter."""
        return self._read(HASH + start, HASH + end)

    def values(self, part: tuple[int, int]) -> Any:
        """Return the values of a pickle in the body, from its beginning to its end."""
        return read_values(self.read(*part))

    def _read(self, start: int, end: int) -> bytes:
        found = os.pread(self._descriptor, end - start, start)  # all of it, but for more than two gigabytes
        while len(found) < end - start:
            part = os.pread(self._descriptor, end - start - len(found), start + len(found))
            if not part:
                raise EOFError("the file is shorter than it was")
            found += part
        return found

    def _hashed(self, size: int) -> bytes:
        digest = hashlib.blake2b(digest_size=HASH)
        for start in range(HASH, size, _CHUNK):
            digest.update(self._read(start, min(start + _CHUNK, size)))
        return digest.digest()


def write_verified(
    path: Path, write: Callable[[Callable[[bytes], tuple[int, int]]], bytes], *, most: int, most_bytes: int
) -> bytes:
    """Write a file with its checksum, which is returned; of the newest `most` in its folder `most_bytes` stay.

    `write` is called with a function that writes a part of the body, and returns where it is; it returns the head. The
    body is never whole in memory: that of a large project has 100 MB. Raises OSError, and what `write` raises.
    """
    digest = hashlib.blake2b(digest_size=HASH)
    with atomic_file(path, synced=False) as file:
        end = 0
        file.write(bytes(HASH))

        def written(part: bytes) -> tuple[int, int]:
            nonlocal end
            digest.update(part)
            file.write(part)
            start, end = end, end + len(part)
            return start, end

        head = write(written)
        written(head)
        written(_LENGTH.pack(len(head)))
        file.seek(0)
        file.write(digest.digest())
    keep_newest(path.parent, f"*{path.suffix}", most, most_bytes)
    keep_newest(path.parent, f"*{_SUFFIX}", most)
    return digest.digest()


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
