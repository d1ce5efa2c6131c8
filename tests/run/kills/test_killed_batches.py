"""Backfills that are killed, JVM and all, one process and two: each batch is committed once, and no row lost or twice."""

import pytest

from merge_runner.formats.lines import installed_line
from tests.reports import write_report
from tests.run.kills.batch_kills import Batches, kill_backfills
from tests.run.kills.kills import reader

pytestmark = [pytest.mark.slow, pytest.mark.skipif("iceberg" not in installed_line().formats, reason="no build")]


@pytest.mark.parametrize("kills", [pytest.param(2, id="2"), pytest.param(200, id="200", marks=pytest.mark.nightly)])
def test_every_batch_is_committed_once(kills, tmp_path, spark):
    outcomes = kill_backfills(Batches(tmp_path / "project", reader(spark)), kills, seed=kills)
    write_report(f"batch-kills-{kills}.md", "\n".join(f"- {outcome}" for outcome in outcomes))
    assert [outcome.wrong for outcome in outcomes if outcome.wrong] == []
    # The last backfill may be one of two processes, each of which is killed.
    assert kills <= sum(len(outcome.kills) for outcome in outcomes) <= kills + 1
