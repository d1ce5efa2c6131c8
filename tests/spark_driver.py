"""The Spark driver of tests: an embedded target with Delta, and Iceberg in a catalog named ice where it has a build."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

_FOR_A_FEW_ROWS = {
    # With both, the tests of tests/engine/test_metrics.py take some 0.85 of the time (in turns, two cores). All that runs the
    # command line as a process has the confs that users have.
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.databricks.delta.allFilesInCrc.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    # Spark writes the text of each plan for its UI, with all details of each node: a tenth of the processor time of a MERGE.
    "spark.sql.ui.explainMode": "simple",
    # Hadoop starts processes for its own checksum of each file of Delta's log: half of the 24 of a MERGE.
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
}
"""Confs of the driver of the test run: none of them changes what a statement means."""


@contextmanager
def started_driver(root: Path) -> Iterator:
    """Give a driver whose warehouse and log are in a folder, and stop it."""
    from merge_runner.engine.startup import start_driver
    from merge_runner.formats.lines import installed_line
    from merge_runner.project.schema.profile import Profile

    ice = {"type": "hadoop", "warehouse": str(root / "ice"), "cache-enabled": "false"}
    embedded = Profile("tests", "tests", schema="tests", master="local[2]", warehouse="warehouse")
    profile = replace(
        embedded, catalogs={"ice": ice} if "iceberg" in installed_line().formats else {}, conf=_FOR_A_FEW_ROWS
    )
    running = start_driver(profile, root, root / "spark.log", os.environ)
    try:
        yield running
    finally:
        running.stop()
