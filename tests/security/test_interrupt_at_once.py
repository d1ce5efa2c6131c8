"""An interrupt while the command is still imported is one line and the exit status 2, also where Python ignores it."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import os, signal, sys, time

class Ignored:
    def __del__(self):  # as a callback of a weak reference, which imports have
        os.kill(os.getpid(), signal.SIGINT)

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            {interrupt}
        return None

sys.meta_path.insert(0, Interrupting())
sys.argv = ["merge-runner", "ls"]
from merge_runner.__main__ import process
process()
"""


def ended(folder, module, interrupt):
    """Return how a process has ended that is interrupted where it imports a module, and what it has printed."""
    code = CODE.format(module=module, interrupt=interrupt)
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=100, check=False
    )
    return process.returncode, process.stderr


@pytest.mark.parametrize(
    "module", ["merge_runner.cli.main", "click", "merge_runner.cli.environment", "merge_runner.cli.commands.ls"]
)
def test_an_interrupt_during_an_import_is_one_line(tmp_path, module):
    assert ended(tmp_path, module, "os.kill(os.getpid(), signal.SIGINT)") == (2, "interrupted\n")


def test_an_interrupt_that_python_ignores_comes_again(tmp_path):
    assert ended(tmp_path, "merge_runner.cli.commands.ls", "Ignored(); time.sleep(60)") == (2, "interrupted\n")
