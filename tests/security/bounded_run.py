"""Runs the command line in a process that must be over in time, whatever it reads.

The process is forked from one that has imported what commands need (tests/lint/hostile/forks.py): to import takes most of
the time of a command, and is not what these tests are about.
"""

from __future__ import annotations

import functools
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.lint.hostile import forks

SECONDS = 120
"""How long a command may take that should take a few: the machine may be busy, and what hangs takes for ever."""
FAULTS = ("Traceback (most recent call last)", "[internal]", '"internal"', "MemoryError")


def run(
    folder: Path, *arguments: str, memory: int = forks.BYTES, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Return how `merge-runner arguments` ends in a folder; fail where it takes too long, or fails inside.

    `memory` is how many bytes it may have: what takes more is a MemoryError. `env` None: the environment of the test.
    """
    server, variables = _server(), dict(os.environ if env is None else env) | {"NO_COLOR": "1"}
    server.stdin.write(json.dumps([str(folder), arguments, memory, variables]) + "\n")
    server.stdin.flush()
    if not select.select([server.stdout], [], [], SECONDS)[0]:
        os.killpg(server.pid, signal.SIGKILL)
        _server.cache_clear()
        raise subprocess.TimeoutExpired(arguments, SECONDS)
    status = json.loads(server.stdout.readline())
    files = [Path(f"{folder}{end}") for end in (forks.OUT, forks.ERR)]
    out, err = (file.read_text(encoding="utf-8") for file in files)
    for file in files:
        file.unlink()
    for fault in FAULTS:
        assert fault not in out + err
    return subprocess.CompletedProcess(arguments, status, out, err)


@functools.cache
def _server() -> subprocess.Popen[str]:
    """Return the process that forks; it ends when this one does, as its standard input ends."""
    return subprocess.Popen(
        [sys.executable, "-m", forks.__name__],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
