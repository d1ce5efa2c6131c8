"""The folder of a driver's start, and the confs that a JVM reads there: nothing of them outlives the processes."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_PREFIX = "merge-runner-start-"
_YOUNG_SECONDS = 60.0
"""A folder of this age may be one that its process has not locked yet."""
_OPEN_FILES = Path("/proc/self/fd")
"""Where Linux has the open files of a process, also those whose names were removed."""


class StartFolder:
    """A folder of the temporary folder for its owner alone. It is locked as long as this process lives.

    Folders whose processes were killed are removed before. Raises OSError.
    """

    def __init__(self) -> None:
        _remove_abandoned(Path(tempfile.gettempdir()))
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        with suppress(OSError):  # a file system without locks: then nobody else gets one, and the folder stays
            fcntl.flock(self._lock, fcntl.LOCK_EX)

    def remove(self) -> None:
        """Remove the folder with all that is in it; nothing where that was done."""
        if self._lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1


class ConfsFile:
    """The file from which a JVM reads its confs, which hold secrets. Raises OSError.

    On Linux it has no name when it is written: the JVM inherits it as an open file, so that nothing is left whatever
    ends this process or the JVM. Elsewhere it is in the folder of the start: an open file is not opened by name again.
    """

    def __init__(self, folder: StartFolder, text: str) -> None:
        path = folder.path / "driver.properties"
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


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders of starts in `parent` that are this user's, not young, and that no process has locked."""
    for path in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # a file, a link, another user's folder, or one that is in use
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                status = os.fstat(handle)
                if status.st_uid == os.getuid() and time.time() - status.st_mtime > _YOUNG_SECONDS:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(handle)
