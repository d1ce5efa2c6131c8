"""An interrupt while the command is still imported is one line and the exit status 2, as later."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
        return None

sys.meta_path.insert(0, Interrupting())
sys.argv = ["merge-runner", "ls"]
from merge_runner.__main__ import process
process()
"""


@pytest.mark.parametrize(
    "module", ["merge_runner.cli.main", "click", "merge_runner.cli.environment", "merge_runner.cli.commands.ls"]
)
def test_an_interrupt_during_an_import_is_one_line(tmp_path, module):
    ended = subprocess.run(
        [sys.executable, "-c", CODE.format(module=module)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (2, "interrupted\n")
