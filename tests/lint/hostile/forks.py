"""Runs command lines, each in a process with bounds that is forked from this one, which has imported everything before.

A request is a line of JSON on standard input, [folder, arguments]; the answer is one, the exit status. What the command
prints is in the files `out` and `err` next to the folder.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import traceback
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from merge_runner.cli.main import main

SECONDS = 60
BYTES = 4_000 * 1024**2
OUT, ERR = ".out", ".err"


def run(root: str, arguments: list[str]) -> int:
    """Run a command line in a folder; return its exit status, or the negative number of the signal that ended it."""
    child = os.fork()
    if child == 0:
        _be(root, arguments)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _be(root: str, arguments: list[str]) -> None:
    status = 70
    try:
        for number, path in enumerate((os.devnull, root + OUT, root + ERR)):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
        os.chdir(root)
        os.environ["HOME"] = root
        with suppress(ValueError, OSError):  # not every system bounds the address space
            resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        signal.alarm(10 * SECONDS)  # a busy machine takes longer than its processor
        main(arguments)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _import() -> None:
    """Import what lint imports late, by linting a file."""
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()), suppress(SystemExit):
        file = Path(folder) / "m.sql"
        file.write_text("merge into t using s on t.id = s.id when matched then delete\n")
        main(["lint", "--format", "json", str(file)])


if __name__ == "__main__":
    _import()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run(*json.loads(line))) + "\n")
        sys.stdout.flush()
