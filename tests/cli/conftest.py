"""The command line, in this process or as a process."""

import io
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from merge_runner.cli.display.messages import reset_style
from merge_runner.cli.main import main


@dataclass(frozen=True)
class Ended:
    """A run of the command line, with the names of `subprocess.CompletedProcess`."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(autouse=True)
def _style():
    """Leave nothing of how messages look to the next test: an option of the command line sets it for its process."""
    yield
    reset_style()


@pytest.fixture
def call(tmp_path, monkeypatch, capfd):
    """Run `merge-runner` in a folder, in this process: its imports are paid once for all tests."""

    def run(*arguments, cwd=tmp_path, env=None, stdin=b""):
        with monkeypatch.context() as changed:
            changed.chdir(cwd)
            for name, value in {"HOME": str(tmp_path), **(env or {})}.items():
                changed.setenv(name, value)
            changed.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            with pytest.raises(SystemExit) as end:
                main([str(each) for each in arguments])
        return Ended(end.value.code, *capfd.readouterr())

    return run


@pytest.fixture
def process(tmp_path):
    """Run `python -m merge_runner` in a folder: for what a process alone shows. Return the finished process."""

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
