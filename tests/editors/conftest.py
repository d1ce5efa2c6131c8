"""What editors find on this machine."""

from __future__ import annotations

import os
import sys

import pytest


@pytest.fixture
def merge_runner_on_path(tmp_path):
    """Return an environment in which `merge-runner` is the package that is tested."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "merge-runner"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m merge_runner "$@"\n')
    program.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
