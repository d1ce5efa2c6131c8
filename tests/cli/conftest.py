"""Runs the command line as a process."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def call(tmp_path):
    """Runs `merge-runner` in a folder; gives the finished process."""

    def run(*arguments, cwd=tmp_path, env=None, **streams):
        streams = streams or {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.run(
            [sys.executable, "-m", "merge_runner", *arguments],
            cwd=cwd,
            env={**os.environ, "HOME": str(tmp_path), **(env or {})},
            check=False,
            text=True,
            timeout=120,
            **streams,
        )

    return run
