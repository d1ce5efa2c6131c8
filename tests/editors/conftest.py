"""What editors find on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors/vscode"
NPM = shutil.which("npm")


@pytest.fixture
def merge_runner_on_path(tmp_path):
    """Return an environment in which `merge-runner` is the package that is tested."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "merge-runner"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m merge_runner "$@"\n')
    program.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture(scope="session")
def extension(tmp_path_factory):
    """A copy of the extension with its dependencies, so that the repository stays as it is."""
    if NPM is None:
        pytest.skip("npm is not installed")
    ping = [NPM, "ping", "--fetch-retries=0", "--fetch-timeout=20000"]
    if subprocess.run(ping, capture_output=True, check=False).returncode:
        pytest.skip("the npm registry cannot be reached")
    root = tmp_path_factory.mktemp("vscode")
    copy = root / "editors/vscode"
    shutil.copytree(EXTENSION, copy, ignore=shutil.ignore_patterns("node_modules", "dist", "*.vsix"))
    shutil.copy(ROOT / "LICENSE", root)
    npm(copy, "ci", "--no-audit", "--no-fund")
    return copy


def npm(folder, *arguments):
    """Run npm; where it fails, the test fails with what it printed."""
    environment = os.environ | {"MERGE_RUNNER_PYTHON": sys.executable}
    done = subprocess.run([NPM, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr[-2_000:]
    return done.stdout


@pytest.fixture(scope="session")
def package(extension):
    """The packaged extension."""
    npm(extension, "run", "package")
    (found,) = extension.glob("*.vsix")
    return found
