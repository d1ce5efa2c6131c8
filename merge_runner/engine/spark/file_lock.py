"""Locks of open files and folders, which the operating system releases when their process dies, however it dies.

Linux and macOS have them. Those of Windows lock no folder, and hide the text of a file from its readers: nothing is
built there.
"""

from __future__ import annotations

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from merge_runner.errors import Problem, ProblemsError


def check_system() -> None:
    """Raise ProblemsError `unsupported-system` where two builds could not be kept apart."""
    if fcntl is None:
        message = "this runs Spark, which merge-runner does on Linux and macOS"
        hint = "run it in WSL 2 or in a container; lint, ls, parse and compile work here"
        raise ProblemsError([Problem("unsupported-system", message, hint=hint)])


def lock(handle: int) -> None:
    """Lock an open file or folder for this handle alone, until it is closed.

    Raises BlockingIOError where another handle has it, be it of this process; other OSErrors where its file system has
    no locks; what `check_system` raises.
    """
    check_system()
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
