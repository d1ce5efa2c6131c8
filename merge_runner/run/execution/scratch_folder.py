"""The folder of the unit tests' tables: created before the first test, and removed after the last."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from merge_runner.engine.spark.start_folder import remove_at_the_end
from merge_runner.plan.model_tests.unit_tests import Scratch


@contextmanager
def scratch_folder(scratch: Scratch) -> Iterator[Scratch]:
    """The folder of `scratch` is there inside the block, for its owner alone; nothing of it outlives this process."""
    scratch.folder.mkdir(mode=0o700)
    end = remove_at_the_end(scratch.folder)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch.folder, ignore_errors=True)
        os.close(end)
