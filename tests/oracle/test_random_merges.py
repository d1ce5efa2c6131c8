"""Random MERGEs, built by the runner with all that it does to them, do what the oracle says: on Delta and Iceberg.

ORACLE_MERGES is how many for each format, ORACLE_SEED where they begin: docs/contributing/quality-report.md.
"""

from __future__ import annotations

import logging
import os
from collections import Counter

import pytest

from tests.oracle.random_builds import random_builds

pytestmark = pytest.mark.spark

SEED = int(os.environ.get("ORACLE_SEED", "1"))
MERGES = int(os.environ.get("ORACLE_MERGES", "8"))
FEW = 2
"""So many are in `make test`."""
ROUNDS = 2
"""MERGEs into each table, each of another statement."""


@pytest.mark.parametrize(
    ("table_format", "merges"),
    [
        ("iceberg", FEW),
        pytest.param("delta", FEW, marks=pytest.mark.slow),
        pytest.param("iceberg", MERGES, marks=pytest.mark.slow),
        pytest.param("delta", MERGES, marks=pytest.mark.nightly),
    ],
)
def test_random_merges(make_project, driver, table_format, merges):
    seen: Counter[str] = Counter()
    for compared in random_builds(make_project, driver, table_format, SEED, merges, ROUNDS):
        assert not compared.problems, "\n\n".join(compared.problems)
        seen += compared.seen
    logging.getLogger(__name__).info("%s: %s", table_format, dict(seen))
    for kind in ("bounded", "inserted", "updated", "deleted") if merges > FEW else ("inserted",):
        assert seen[kind], kind
