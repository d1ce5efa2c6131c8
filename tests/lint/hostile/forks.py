"""Runs command lines, each in a process with bounds that is forked from this one, which has imported everything before.

A request is a line of JSON on standard input, [folder, arguments, bytes of memory, environment] without the last two where
they do not matter; the answer is one, the exit status. What the command prints is in the files `out` and `err` next to the
folder.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from merge_runner.cli.main import main
from merge_runner.project.scaffold import scaffold

SECONDS = 60
BYTES = 4_000 * 1024**2
OUT, ERR = ".out", ".err"


def run(root: str, arguments: list[str], memory: int = BYTES, env: dict[str, str] | None = None) -> int:
    """Run a command line in a folder; return its exit status, or the negative number of the signal that ended it."""
    child = os.fork()
    if child == 0:
        _be(root, arguments, memory, env if env is not None else {**os.environ, "HOME": root})
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _be(root: str, arguments: list[str], memory: int, env: dict[str, str]) -> None:
    status = 70
    try:
        for number, path in enumerate((os.devnull, root + OUT, root + ERR)):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
        os.chdir(root)
        os.environ.clear()
        os.environ.update(env)
        with suppress(ValueError, OSError):  # not every system bounds the address space
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
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
    """Import what commands import late, by linting a file and a project."""
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        file, project = Path(folder) / "m.sql", Path(folder) / "shop"
        file.write_text("merge into t using s on t.id = s.id when matched then delete\n")
        scaffold(project)
        of_project = [[command, "--project-dir", str(project)] for command in ("lint", "compile", "ls")]
        for arguments in (["lint", "--format", "json", str(file)], *of_project):
            with suppress(SystemExit):
                main(arguments)


if __name__ == "__main__":
    _import()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run(*json.loads(line))) + "\n")
        sys.stdout.flush()
