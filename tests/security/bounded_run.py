"""Runs the command line in a process of its own that must be over in time, whatever it reads."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

SECONDS = 120
"""How long a command may take that should take a few: the machine may be busy, and what hangs takes for ever."""
FAULTS = ("Traceback (most recent call last)", "[internal]", '"internal"', "MemoryError")


def run(
    folder: Path, *arguments: str, seconds: float = SECONDS, memory: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Return how `merge-runner arguments` ends in a folder; fail where it takes too long, or fails inside.

    `memory` is how many bytes it may have: what takes more is a MemoryError.
    """

    def limit() -> None:
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    ended = subprocess.run(
        [sys.executable, "-m", "merge_runner", *arguments],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", "XDG_CACHE_HOME": str(folder / ".cache")},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        preexec_fn=limit,
    )
    for fault in FAULTS:
        assert fault not in ended.stdout + ended.stderr
    return ended
