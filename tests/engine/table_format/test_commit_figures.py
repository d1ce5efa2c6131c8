"""What a commit says that it did: the metrics as Delta and Iceberg write them."""

import pytest

from merge_runner.engine.table_format.commit_figures import CommitFigures
from merge_runner.engine.table_format.delta.commit_figures import commit_figures as of_delta
from merge_runner.engine.table_format.iceberg.commit_figures import commit_figures as of_iceberg
from merge_runner.engine.table_format.protocol import Commit

_MERGE = "spark.merge-into.num-target-rows-"
CASES = {
    "a MERGE of Delta": (
        of_delta,
        "MERGE",
        {
            **{"numTargetRowsInserted": 3, "numTargetRowsUpdated": 2, "numTargetRowsDeleted": 0},
            **{"numTargetRowsCopied": 40, "numOutputRows": 45, "numTargetFilesAdded": 1, "numTargetFilesRemoved": 2},
            **{"numTargetBytesAdded": 900, "numTargetBytesRemoved": 1000, "scanTimeMs": 12},
        },
        CommitFigures({"inserted": 3, "updated": 2, "deleted": 0, "copied": 40}, 1, 2, 900, 1000),
    ),
    "a write of Delta": (
        of_delta,
        "WRITE",
        {"numFiles": 2, "numOutputRows": 7, "numOutputBytes": 500},
        CommitFigures({"inserted": 7}, 2, None, 500, None),
    ),
    "a delete of Delta": (
        of_delta,
        "DELETE",
        {"numDeletedRows": 4, "numCopiedRows": 6, "numAddedFiles": 1, "numRemovedFiles": 1, "numAddedBytes": 80},
        CommitFigures({"deleted": 4, "copied": 6}, 1, 1, 80, None),
    ),
    "compaction of Delta": (
        of_delta,
        "OPTIMIZE",
        {"numAddedFiles": 1, "numRemovedFiles": 9, "numAddedBytes": 70, "numRemovedBytes": 99, "p50FileSize": 70},
        CommitFigures({}, 1, 9, 70, 99),
    ),
    "properties": (of_delta, "SET TBLPROPERTIES", {}, CommitFigures({})),
    "a MERGE of Iceberg": (
        of_iceberg,
        "overwrite",
        {
            **{f"{_MERGE}inserted": 1, f"{_MERGE}updated": 2, f"{_MERGE}deleted": 0, f"{_MERGE}copied": 5},
            **{"added-records": 8, "deleted-records": 7, "added-data-files": 1, "deleted-data-files": 1},
            **{"added-files-size": 600, "removed-files-size": 500},
        },
        CommitFigures({"inserted": 1, "updated": 2, "deleted": 0, "copied": 5}, 1, 1, 600, 500),
    ),
    "an append of Iceberg": (
        of_iceberg,
        "append",
        {"added-records": 3, "added-data-files": 1, "added-files-size": 90},
        CommitFigures({"inserted": 3, "updated": 0, "deleted": 0, "copied": 0}, 1, None, 90, None),
    ),
    "an overwrite of Iceberg that counts no kinds": (
        of_iceberg,
        "overwrite",
        {"added-records": 8, "deleted-records": 7, "added-position-deletes": 2},
        CommitFigures({"written": 8, "removed": 7, "marked as deleted": 2}),
    ),
    "compaction of Iceberg": (
        of_iceberg,
        "replace",
        {"added-records": 8, "deleted-records": 8, "added-data-files": 1, "deleted-data-files": 4},
        CommitFigures({}, 1, 4, None, None),
    ),
}


@pytest.mark.parametrize(("read", "operation", "metrics", "figures"), CASES.values(), ids=CASES)
def test_figures(read, operation, metrics, figures):
    texts = {name: str(value) for name, value in metrics.items()}
    assert read(Commit(7, operation, None, texts)) == figures
