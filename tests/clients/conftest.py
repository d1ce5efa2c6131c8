"""Real clients of dbt, from the package registry, each in an environment of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environments import ROOT, python_with

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def client():
    """Return the Python of an environment with these packages; skip where the registry cannot be reached."""
    return python_with


@pytest.fixture
def merge_runner(tmp_path):
    """The executable `merge-runner`, as a client of dbt calls one."""
    executable = tmp_path / "bin/merge-runner"
    executable.parent.mkdir()
    executable.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m merge_runner "$@"\n')
    executable.chmod(0o755)
    return executable


@pytest.fixture
def shop(tmp_path):
    """A copy of the project of these tests."""
    return Path(shutil.copytree(HERE / "shop", tmp_path / "shop"))


@pytest.fixture(scope="session")
def run_client(tmp_path_factory):
    """Run a script, of this folder unless its path is absolute, in a client's environment; return its standard output."""
    home = tmp_path_factory.mktemp("home")

    def run(python, script, *arguments, **variables):
        # Not what this process runs with: the client has packages of its own, and merge-runner is only an executable.
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "DBT_"))}
        env |= {"HOME": str(home), "JAVA_HOME": os.environ.get("JAVA_HOME", ""), **variables}
        done = subprocess.run(
            [python, HERE / "scripts" / script, *map(str, arguments)],
            env={name: value for name, value in env.items() if value},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
        return done.stdout

    return run
