"""What lint finds in all files of a project as they are on disk, looked for in a second process.

A project of a thousand models takes seconds where nothing is kept of it: questions about open documents do not wait.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import Mapping
from functools import cache
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from pathlib import Path

from merge_runner.api.lint import linted
from merge_runner.api.logged_messages import LoggedMessages
from merge_runner.errors import ProblemsError
from merge_runner.lint.request import LintRequest
from merge_runner.lsp.documents.remark import Remark, of_finding, of_problem
from merge_runner.project.syntax.environment import RecordingEnv

_POLL = 0.02
"""Seconds between looks at whether the process has sent what it found."""


@cache
def _processes() -> SpawnContext | ForkServerContext:
    """Return what starts a process that has imported everything, from the second on, where the system can do that."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def _start_server() -> None:
    """Start the process that is forked, unless it runs: it looks for modules in the folder that it is started in.

    An editor starts the language server in the folder of a project, which may have a `json.py`. Python 3.10 has no
    option against that. What is forked changes to the folder of this process itself.
    """
    folder = Path.cwd()
    os.chdir(folder.root)
    try:
        forkserver.ensure_running()
    finally:
        os.chdir(folder)


async def project_remarks(root: Path, env: Mapping[str, str]) -> dict[Path, list[Remark]]:
    """Return the remarks on the project at `root` by file. Where it cannot be loaded, these are the reasons.

    The process ends with this one, and where the task is cancelled.
    """
    if _processes().get_start_method() == "forkserver":
        _start_server()
    receiver, sender = _processes().Pipe(duplex=False)
    process = _processes().Process(target=_send, args=(sender, root, dict(env)), daemon=True)
    process.start()
    sender.close()
    try:
        while not receiver.poll():
            await asyncio.sleep(_POLL)
        remarks: dict[Path, list[Remark]] = receiver.recv()
    except EOFError:  # it was killed
        remarks = {}
    finally:
        receiver.close()
        process.terminate()
    return remarks


def _send(sender: Connection, root: Path, env: Mapping[str, str]) -> None:
    sender.send(_remarks(root, env))


def _remarks(root: Path, env: Mapping[str, str]) -> dict[Path, list[Remark]]:
    remarks: dict[Path, list[Remark]] = {}
    try:
        report = linted(LintRequest(project_dir=root, processes=1), RecordingEnv(env), LoggedMessages("lsp")).report
    except ProblemsError as error:
        for problem in error.problems:
            if problem.place is not None:
                remarks.setdefault(root / problem.place.path, []).append(of_problem(problem, problem.place))
        return remarks
    for finding in report.findings:
        remarks.setdefault(root / finding.place.path, []).append(of_finding(finding))
    return remarks
