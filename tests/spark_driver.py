"""The Spark driver of tests: an embedded target with Delta, and Iceberg where it has a build.

Iceberg has two catalogs: `ice`, folders that any number of sessions write, and `lake`, which is embedded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

_FOR_A_FEW_ROWS = {
    # With both, the tests of tests/engine/table_format/test_merge_metrics.py take some 0.85 of the time (in turns, two cores). All that runs the
    # command line as a process has the confs that users have.
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.databricks.delta.allFilesInCrc.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    # Spark writes the text of each plan for its UI, with all details of each node: a tenth of the processor time of a MERGE.
    "spark.sql.ui.explainMode": "simple",
}
"""Confs of the driver of the test run: none of them changes what a statement means."""


@contextmanager
def started_driver(root: Path, jvm: Literal["fast-start", "throughput"] | None = None) -> Iterator:
    """Give a driver whose warehouse and log are in a folder, and stop it; `jvm` as in a profile."""
    from merge_runner.engine.startup import start_driver
    from merge_runner.formats.lines import installed_line
    from merge_runner.project.schema.profile import Profile

    ice = {"type": "hadoop", "warehouse": str(root / "ice"), "cache-enabled": "false"}
    catalogs = {"ice": ice, "lake": {"type": "embedded"}} if "iceberg" in installed_line().formats else {}
    embedded = Profile("tests", "tests", schema="tests", master="local[2]", warehouse="warehouse", jvm=jvm)
    profile = replace(embedded, catalogs=catalogs, conf=_FOR_A_FEW_ROWS)
    running = start_driver(profile, root, root / "spark.log", os.environ)
    try:
        yield running
    finally:
        running.stop()
