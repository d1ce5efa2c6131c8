"""What Windows lacks is needed by no command that runs no Spark; what runs Spark says that it is not for Windows.

A process has neither the modules nor the names of `os`, `signal` and `socket` that Python has on no Windows. Paths and
consoles stay those of this machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.written_project import write_project

WITHOUT = """
import asyncio, multiprocessing.forkserver, os, pkgutil, signal, socket, sqlite3, subprocess, sys, tempfile
from importlib import import_module
from importlib.abc import MetaPathFinder

MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}
NAMES = {
    os: "chown fork forkpty getegid geteuid getgid getpgid getuid killpg mkfifo pread pwrite register_at_fork "
    "sched_getaffinity setsid uname O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK WNOHANG",
    signal: "SIGALRM SIGHUP SIGKILL SIGQUIT SIGUSR1 SIGUSR2 ITIMER_REAL SIG_BLOCK SIG_UNBLOCK alarm pthread_sigmask "
    "setitimer",
    socket: "AF_UNIX",
}


class Refusal(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


for name in MODULES:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Refusal())
for module, names in NAMES.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
"""
COMMANDS = f"""{WITHOUT}
import io, json
from contextlib import redirect_stderr, redirect_stdout
from merge_runner.cli.main import main

for command in json.loads(sys.argv[1]):
    text = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with redirect_stdout(text), redirect_stderr(text):
        try:
            main(command.split())
        except SystemExit as end:
            status = end.code
    text.flush()
    print(json.dumps([status, text.buffer.getvalue().decode()]))
"""
PROCESS = f"{WITHOUT}\nfrom merge_runner.__main__ import process\nprocess()\n"
IMPORTS = f"""{WITHOUT}
import merge_runner

for module in pkgutil.walk_packages(merge_runner.__path__, "merge_runner.", onerror=lambda name: None):
    # The SDK of `mcp` decides by the name of the system, which stays Linux here.
    others = ("integrations.dagster", "integrations.airflow", "cli.commands.mcp_server")
    if not module.name.startswith(tuple("merge_runner." + name for name in others)):
        import_module(module.name)
print("all")
"""
FILES = {
    "models/stg.sql": "select 1 as id, 'a' as name\n",
    "models/fct.sql": "merge into {{ this }} t using {{ ref('stg') }} s on t.id = s.id when not matched then insert *\n",
    "script.sql": "merge into a.b t using a.c s on t.id = s.id when matched then delete;\n",
}


READ = [
    ("lint", "P001"),
    ("lint script.sql", "P001"),
    ("ls", "fct"),
    ("parse", "2 nodes"),
    ("compile", "2 nodes compiled"),
    ("explain", "fct"),
    ("lineage fct.id", "stg.id"),
    ("rule P001", "unbounded-target"),
    ("schema profiles", "$schema"),
    ("init another", "another"),
]
RUN = ["build", "run -s fct", "test", "explain --spark", "warm status", "warm start"]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return write_project(tmp_path_factory.mktemp("shop"), "windows", FILES)


@pytest.fixture(scope="module")
def ended(project):
    """The exit status of each command, and what it printed."""
    commands = [command for command, _ in READ] + RUN
    process = [sys.executable, "-c", COMMANDS, json.dumps(commands)]
    lines = subprocess.run(process, cwd=project, capture_output=True, text=True, check=True).stdout.splitlines()
    return {command: json.loads(line) for command, line in zip(commands, lines, strict=True)}


@pytest.mark.parametrize(("command", "printed"), READ)
def test_what_runs_no_spark_works(ended, command, printed):
    status, text = ended[command]
    assert (status, printed in text) == (0, True), text


@pytest.mark.parametrize("command", RUN)
def test_what_runs_spark_is_refused(ended, command):
    status, text = ended[command]
    assert (status, "[unsupported-system]" in text, "WSL 2" in text) == (2, True, True), text


@pytest.mark.parametrize(("command", "printed"), [("lineage fct.id", "\\u2500 stg.id"), ("lint", "x 1:")])
def test_a_console_without_arrows_shows_all_the_same(project, command, printed):
    environment = os.environ | {"PYTHONIOENCODING": "cp1252"}
    process = [sys.executable, "-c", PROCESS, *command.split()]
    done = subprocess.run(process, cwd=project, env=environment, capture_output=True, check=False)
    assert (done.returncode, printed in done.stdout.decode("cp1252")) == (0, True), done


def test_each_module_is_imported():
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "all\n"), done.stderr
