"""The folder of the unit tests' tables: created before the first test, and removed after the last."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from merge_runner.plan.model_tests.unit_tests import Scratch


@contextmanager
def scratch_folder(scratch: Scratch) -> Iterator[Scratch]:
    """The folder of `scratch` is there inside the block, for its owner alone."""
    scratch.folder.mkdir(mode=0o700)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch.folder, ignore_errors=True)
