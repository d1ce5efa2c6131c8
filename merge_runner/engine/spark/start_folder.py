"""The folder of a driver's JVM, and the confs that it reads there: nothing of them outlives the processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from merge_runner.engine.spark import file_lock

_PREFIX = "merge-runner-start-"
_YOUNG_SECONDS = 60.0
"""A folder of this age may be one that its process has not locked yet."""
_OPEN_FILES = Path("/proc/self/fd")
"""Where Linux has the open files of a process, also those whose names were removed."""
_CONFS, _GATEWAY = "driver.properties", "gateway"
_REMOVE_AT_THE_END = """exec 3<&0; { read -r _ <&3; exec rm -rf -- "$1"; } < /dev/null &"""
"""Reads until all processes that could write to its standard input have ended."""


class StartFolder:
    """A folder of the temporary folder for its owner alone, where a JVM has its temporary files, too.

    It is locked as long as this process has it open, and those that have inherited its open files live. It is removed
    then, however they end: a shell waits for that. Folders whose shells were killed as well are removed before.
    Raises OSError.
    """

    def __init__(self) -> None:
        _remove_abandoned(Path(tempfile.gettempdir()))
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self.gateway = self.path / _GATEWAY
        """The file in which the JVM tells the port and the secret of its gateway."""
        lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        with suppress(OSError):  # a file system without locks: then nobody else gets one, and the folder stays
            file_lock.lock(lock)
        self.inherited = (lock, remove_at_the_end(self.path))
        """The open files that the process of the JVM inherits."""

    def close(self) -> None:
        """Close it here, once the process of the JVM has it, or none will."""
        for file in self.inherited:
            os.close(file)

    def remove_secrets(self) -> None:
        """Remove what a JVM that is up does not read any more."""
        for name in (_CONFS, _GATEWAY):
            (self.path / name).unlink(missing_ok=True)


class ConfsFile:
    """The file from which a JVM reads its confs, which hold secrets. Raises OSError.

    On Linux it has no name when it is written: the JVM inherits it as an open file, so that nothing is left whatever
    ends this process or the JVM. Elsewhere it is in the folder of the start: an open file is not opened by name again.
    """

    def __init__(self, folder: StartFolder, text: str) -> None:
        path = folder.path / _CONFS
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        self.inherited = (self._file,)
        """The open files that the process of the JVM inherits."""
        self.path = _OPEN_FILES / str(self._file)
        """The path by which that process reads it."""
        try:
            if self.path.exists():
                path.unlink()
            else:
                self.path = path
            with open(self._file, "w", encoding="utf-8", closefd=False) as file:
                file.write(text)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close it here, once the process of the JVM has it."""
        os.close(self._file)


def remove_at_the_end(folder: Path) -> int:
    """Have a shell remove a folder once every process has closed the open file that this returns, however it ends.

    Raises OSError.
    """
    end, begin = os.pipe()
    # In a session of its own, where neither Ctrl-C nor a kill of our process group reaches it.
    with os.fdopen(end, "rb") as reading:
        subprocess.run(
            ["/bin/sh", "-c", _REMOVE_AT_THE_END, "sh", str(folder)],
            stdin=reading,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            check=False,
        )
    return begin


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders of starts in `parent` that are this user's, not young, and that no process has locked."""
    for path in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # a file, a link, another user's folder, or one that is in use
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                status = os.fstat(handle)
                if status.st_uid == os.getuid() and time.time() - status.st_mtime > _YOUNG_SECONDS:
                    file_lock.lock(handle)
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(handle)
