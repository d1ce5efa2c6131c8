"""A project that orchestrators run by an executable on the fake engine."""

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.clients.conftest import client, run_client  # noqa: F401 - fixtures
from tests.fake_engine.projects import model_files
from tests.written_project import write_project

ROOT = Path(__file__).parents[2]


class Shop:
    """The project in `root`; `executable` runs it on the fake engine."""

    def __init__(self, folder, models, files):
        self.root = write_project(folder / "shop", "shop", {**model_files(models), **files})
        self.turns = folder / "turns.json"
        self.executable = folder / "merge-runner"
        self.executable.write_text(
            f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" "{Path(__file__).parent}/fake_merge_runner.py" "$@"\n'
        )
        self.executable.chmod(0o755)

    @property
    def env(self):
        """The environment variables of its processes."""
        return {"FAKE_ENGINE": str(self.turns)}


@pytest.fixture(scope="session")
def make_shop(tmp_path_factory):
    """Return what makes a project of models (as `model_files` takes them) and more files."""

    def make(models, files=None):
        return Shop(
            tmp_path_factory.mktemp("shop"), models, {path: dedent(text) for path, text in (files or {}).items()}
        )

    return make
