"""When `skip_unchanged: auto` leaves rows out: what earlier merges have done decides."""

import pytest

from merge_runner.engine.merge.skip_decision import pays
from merge_runner.engine.table_format.delta.merge_metrics import past_merge as of_delta
from merge_runner.engine.table_format.iceberg.merge_metrics import past_merge as of_iceberg
from merge_runner.engine.table_format.protocol import Commit, PastMerge


def delta(operation="MERGE", **metrics):
    names = {
        **{"source": "numSourceRows", "inserted": "numTargetRowsInserted", "updated": "numTargetRowsUpdated"},
        **{"deleted": "numTargetRowsDeleted", "copied": "numTargetRowsCopied"},
    }
    return Commit(7, operation, None, {name: str(metrics.get(short, 0)) for short, name in names.items()})


IDLE = delta(source=1000, updated=3, copied=5000)


@pytest.mark.parametrize(
    ("merges", "wanted"),
    [
        ([delta(source=1000, copied=1000)], True),
        ([IDLE], True),
        ([delta(source=1000, inserted=1000), IDLE], True),
        ([delta(source=3, updated=3, copied=40), IDLE], True),  # rows were left out, which spared most copying
        ([delta(source=3, updated=3, copied=4000), IDLE], False),  # rows were left out in vain
        ([IDLE, delta(source=3, updated=3, copied=4000)], False),
        ([delta(source=1000, updated=600, copied=5000)], False),  # more than half of the source rows change something
        ([delta(source=10, updated=5, inserted=5, copied=90_000)], False),  # copied next to rows that change
        ([delta(source=1000, copied=0)], False),  # nothing matches
        ([delta(source=1000, inserted=1000)], False),
        ([delta(source=0)], False),
        ([], False),
    ],
)
def test_merges_that_copied_rows_for_source_rows_that_changed_nothing(merges, wanted):
    assert pays([of_delta(merge) for merge in merges]) is wanted


def test_other_commits_say_nothing():
    assert of_delta(delta("WRITE", source=10)) is None
    assert of_delta(Commit(7, "MERGE", None, {})) is None
    assert of_iceberg(Commit(7, "append", None, {"added-records": "3"})) is None


def test_iceberg_does_not_record_the_rows_of_the_source():
    prefix = "spark.merge-into.num-target-rows-"
    metrics = {f"{prefix}{kind}": "0" for kind in ("inserted", "deleted")}
    metrics |= {f"{prefix}updated": "2", f"{prefix}copied": "8", "added-records": "10"}
    past = of_iceberg(Commit(7, "overwrite", None, metrics))
    assert past == PastMerge(None, 2, 8)
    assert not pays([past])
