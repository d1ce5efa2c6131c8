"""Every metric of a MERGE, held against merges whose truth is known: from their rows, and from the table's own files."""

import itertools
import json
from pathlib import Path

import pytest

from merge_runner.engine.context import NodeContext
from merge_runner.engine.merge.pipeline import merge_figures
from merge_runner.engine.response import MERGE_FIGURES
from merge_runner.engine.spark.sql import run_measured
from merge_runner.engine.table_format.commit_metadata import stamp, stamp_confs
from merge_runner.engine.table_format.iceberg.merge_metrics import changed_rows
from merge_runner.engine.table_format.registry import table_format
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.engine.tables.input_cache import SharedInputs
from merge_runner.relation import Relation

pytestmark = pytest.mark.spark

NUMBERS = itertools.count()
SOURCE = "select id, cast(id % 4 as int) as p, 1 as v from range(90, 110) where id % 4 < 2"
"""92, 93, 96 and 97 are in the target already, six others are not."""
CLAUSES = (
    "when matched and s.id >= 95 then update set v = s.v when matched then delete "  # 96 and 97; 92 and 93
    "when not matched then insert *"
)
BY_SOURCE = (
    " when not matched by source and t.p = 2 and t.id < 10 then update set v = 9"  # 2 and 6
    " when not matched by source and t.p = 3 and t.id < 10 then delete"  # 3 and 7
)
ALL = f"using ({SOURCE}) as s on t.id = s.id and t.p in (0, 1) {CLAUSES}"
DELTA_METRICS = {
    *("numSourceRows", "numSourceRowsInSecondScan", "executionTimeMs", "materializeSourceTimeMs", "scanTimeMs"),
    *(f"numTargetRows{kind}" for kind in ("Copied", "Inserted", "Updated", "Deleted")),
    *(f"numTargetRows{by}{kind}" for by in ("Matched", "NotMatchedBySource") for kind in ("Updated", "Deleted")),
    *(f"numTarget{what}{when}Skipping" for what in ("Files", "Bytes") for when in ("Before", "After")),
    *(f"numTarget{what}{done}" for what in ("Files", "Bytes") for done in ("Added", "Removed")),
    *(f"numTargetPartitions{when}" for when in ("AfterSkipping", "RemovedFrom", "AddedTo")),
    *("numTargetChangeFilesAdded", "numTargetChangeFileBytes", "rewriteTimeMs"),
    *(f"numTargetDeletionVectors{done}" for done in ("Added", "Removed", "Updated")),
}


class Table:
    """A table of 100 rows in four partitions, one file each; the target of merges."""

    def __init__(self, spark, root, format, properties, manifests=1):
        self.spark, self.format = spark, format
        number = next(NUMBERS)
        self.relation = Relation(f"m{number}", "metrics", "ice" if format == "iceberg" else None)
        self.path = Path(root) / f"m{number}"
        where = f"location '{self.path}'" if format == "delta" else ""
        spark.sql(f"create schema if not exists {'ice.' if format == 'iceberg' else ''}metrics")
        told = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        spark.sql(
            f"create table {self.relation} (id bigint, p int, v int) using {format} partitioned by (p) {where} "
            + (f"tblproperties ({told})" if told else "")
        )
        for turn in range(manifests):
            spark.sql(
                f"insert into {self.relation} select /*+ repartition(1) */ id, cast(id % 4 as int), 0 "
                f"from range(100) where id % {manifests} = {turn}"
            )

    def merge(self, text, node="model.shop.m", lead="", **confs):
        """Runs a MERGE in a session of its own, with a stamp of its own; gives the response."""
        session = self.spark.newSession()
        context = NodeContext(
            session, Catalog(table_format), SharedInputs([]), stamp(f"run{next(NUMBERS)}", node), "test"
        )
        for key, value in {**stamp_confs(context.stamp), **confs}.items():
            session.conf.set(key, value)
        ran = run_measured(session, f"{lead} merge into {self.relation} as t {text}")
        context.output.response.statement = merge_figures(context, self.relation, self.format, ran)
        assert context.output.warnings == []
        response = context.output.response.as_json()
        assert set(response) == {"operation", "metrics", *MERGE_FIGURES}
        return response

    def delta_actions(self, version):
        """The actions of a commit by kind, from the file of the log."""
        lines = (self.path / "_delta_log" / f"{version:020}.json").read_text().splitlines()
        found = {"add": [], "remove": [], "cdc": []}
        for line in lines:
            for kind, action in json.loads(line).items():
                found.setdefault(kind, []).append(action)
        return found

    def delta_files(self):
        """Partition and size of the live files."""
        rows = self.spark.sql(
            f"select p, _metadata.file_size as size from {self.relation} group by p, _metadata.file_path, _metadata.file_size"
        ).collect()
        return [(row["p"], row["size"]) for row in rows]

    def iceberg_files(self):
        """Path and size of the live data files."""
        rows = self.spark.sql(f"select file_path, file_size_in_bytes from {self.relation}.data_files").collect()
        return {row[0]: row[1] for row in rows}


@pytest.fixture
def table(spark, tmp_path):
    return lambda format, manifests=1, **properties: Table(
        spark, tmp_path, format, {key.replace("__", "."): value for key, value in properties.items()}, manifests
    )


def shown(response, *names):
    return {name: response[name] for name in names}


def short_rows(response):
    return [response[f"rows_{kind}"] for kind in ("inserted", "updated", "deleted", "copied", "affected")]


def test_delta_all_clauses_with_a_change_feed(table):
    target = table("delta", delta__enableChangeDataFeed="true")
    before = target.delta_files()
    response = target.merge(ALL + BY_SOURCE)
    metrics, actions = response["metrics"], target.delta_actions(response["table_version"])
    size = sum(size for _, size in before)
    assert metrics.keys() >= DELTA_METRICS
    assert all(type(value) is int for value in metrics.values())
    changes = [target.path / action["path"] for action in actions["cdc"]]
    assert {name: metrics[name] for name in DELTA_METRICS if not name.endswith("Ms")} == {
        "numSourceRows": 10,
        "numSourceRowsInSecondScan": 10,
        "numTargetRowsCopied": 92,
        "numTargetRowsInserted": 6,
        "numTargetRowsUpdated": 4,
        "numTargetRowsDeleted": 4,
        "numTargetRowsMatchedUpdated": 2,
        "numTargetRowsMatchedDeleted": 2,
        "numTargetRowsNotMatchedBySourceUpdated": 2,
        "numTargetRowsNotMatchedBySourceDeleted": 2,
        "numTargetFilesBeforeSkipping": 4,
        "numTargetFilesAfterSkipping": 4,
        "numTargetFilesAdded": len(actions["add"]),
        "numTargetFilesRemoved": len(actions["remove"]),
        "numTargetBytesBeforeSkipping": size,
        "numTargetBytesAfterSkipping": size,
        "numTargetBytesAdded": sum(action["size"] for action in actions["add"]),
        "numTargetBytesRemoved": size,
        "numTargetPartitionsAfterSkipping": 4,
        "numTargetPartitionsRemovedFrom": 4,
        "numTargetPartitionsAddedTo": 4,
        "numTargetChangeFilesAdded": len(changes),
        "numTargetChangeFileBytes": sum(path.stat().st_size for path in changes),
        "numTargetDeletionVectorsAdded": 0,
        "numTargetDeletionVectorsRemoved": 0,
        "numTargetDeletionVectorsUpdated": 0,
    }
    assert len(changes) == len(actions["remove"]) == 4
    assert metrics["executionTimeMs"] >= metrics["scanTimeMs"] + metrics["rewriteTimeMs"] > 0
    assert short_rows(response) == [6, 4, 4, 92, 14]
    assert shown(response, "rows_source", "files_total", "files_scanned", "bytes_removed", "execution_ms") == {
        "rows_source": 10,
        "files_total": 4,
        "files_scanned": 4,
        "bytes_removed": size,
        "execution_ms": metrics["executionTimeMs"],
    }


@pytest.mark.slow
def test_delta_skips_by_partition_and_counts_deletion_vectors(table):
    target = table("delta", delta__enableDeletionVectors="true")
    before = target.delta_files()
    first = target.merge(ALL, lead="with nothing as (select 1)")
    metrics, actions = first["metrics"], target.delta_actions(first["table_version"])
    vectors = [action for action in actions["add"] if action.get("deletionVector")]
    assert short_rows(first) == [6, 2, 2, 0, 10]
    assert [metrics[f"numTargetFiles{when}Skipping"] for when in ("Before", "After")] == [4, 2]
    assert metrics["numTargetPartitionsAfterSkipping"] == 2
    assert metrics["numTargetBytesBeforeSkipping"] == sum(size for _, size in before)
    assert metrics["numTargetBytesAfterSkipping"] == sum(size for p, size in before if p in (0, 1))
    assert metrics["numTargetDeletionVectorsAdded"] == len(vectors) == 2
    second = target.merge("using (select 0L as id) as s on t.id = s.id and t.p = 0 when matched then delete")
    assert second["metrics"]["numTargetDeletionVectorsUpdated"] == 1
    # Of a file of which no row is left, nothing stays: its vector is removed with it.
    third = target.merge("using (select 0 as p) as s on t.p = s.p and t.p = 0 when matched then delete")
    assert third["metrics"]["numTargetDeletionVectorsRemoved"] == 1
    assert third["rows_deleted"] == 25 - 2 + 3


def test_delta_insert_only_and_a_merge_that_changes_nothing(table):
    target = table("delta")
    inserted = target.merge(f"using ({SOURCE}) as s on t.id = s.id and t.p = 1 when not matched then insert *")
    assert short_rows(inserted) == [8, 0, 0, 0, 8]  # 93 and 97 are in partition 1
    assert shown(inserted, "files_total", "files_scanned", "files_removed", "bytes_removed") == {
        "files_total": 4,
        "files_scanned": 1,
        "files_removed": 0,
        "bytes_removed": 0,
    }
    nothing = target.merge("using (select 999L as id) as s on t.id = s.id when matched then delete")
    assert nothing["table_version"] is None
    assert short_rows(nothing) == [0, 0, 0, 0, 0]
    assert nothing["metrics"].keys() >= DELTA_METRICS
    assert shown(nothing, "rows_source", "files_added") == {"rows_source": 1, "files_added": 0}
    assert nothing["execution_ms"] >= nothing["scan_ms"] > 0


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
@pytest.mark.parametrize("by_source", [pytest.param(False, marks=pytest.mark.slow), True])
def test_iceberg_rows_and_files(table, mode, by_source):
    target = table("iceberg", manifests=2, write__merge__mode=mode)
    before = target.iceberg_files()
    response = target.merge(ALL + (BY_SOURCE if by_source else ""))
    after = target.iceberg_files()
    metrics = response["metrics"]
    rows = [6, 4, 4, 92, 14] if by_source else [6, 2, 2, 46, 10]
    if mode == "merge-on-read":
        rows[3] = 0
    assert short_rows(response) == rows
    matched = 2, 2, *((2, 2) if by_source else (0, 0))
    names = [f"{by}-{kind}" for by in ("matched", "not-matched-by-source") for kind in ("updated", "deleted")]
    assert tuple(metrics[f"spark.merge-into.num-target-rows-{name}"] for name in names) == matched
    # Two manifests of two files each: the filter skips one of the manifests as a whole or half of each.
    assert len(before) == 4
    assert (response["files_total"], response["files_scanned"]) == (4, 4 if by_source else 2)
    assert metrics["resultDataFiles"] == response["files_scanned"]
    added, removed = after.keys() - before.keys(), before.keys() - after.keys()
    assert (response["files_added"], response["files_removed"]) == (len(added), len(removed))
    assert response["bytes_removed"] == sum(before[path] for path in removed)
    sizes = sum(after[path] for path in added)
    if mode == "copy-on-write":
        assert (response["bytes_added"], metrics["added-data-files"]) == (sizes, len(added))
    else:
        assert response["bytes_added"] > sizes  # delete files as well
        assert metrics["added-position-deletes"] == sum(matched)
        assert metrics["added-delete-files"] == response["metrics"]["total-delete-files"] > 0
    latest = target.spark.sql(f"select snapshot_id from {target.relation}.snapshots order by committed_at desc limit 1")
    assert response["table_version"] == latest.collect()[0][0]
    assert shown(response, "rows_source", "scan_ms", "rewrite_ms") == dict.fromkeys(
        ("rows_source", "scan_ms", "rewrite_ms")
    )
    assert response["execution_ms"] > 0


@pytest.mark.parametrize("mode", ["copy-on-write", pytest.param("merge-on-read", marks=pytest.mark.slow)])
def test_iceberg_files_of_skipped_manifests_and_of_other_scans_are_counted_right(table, mode):
    target = table("iceberg", manifests=4, write__merge__mode=mode)
    insert = "when not matched then insert *"
    inserted = target.merge(f"using (select 500L as id, 1 as p, 1 as v) as s on t.id = s.id and t.p = 1 {insert}")
    assert short_rows(inserted) == [1, 0, 0, 0, 1]
    assert inserted["files_total"] == 4
    assert inserted["files_scanned"] in (0, 1)  # Spark knows the source's id, and no file of partition 1 can have it
    itself = f"(select id, p, 5 as v from {target.relation} where id < 40)"
    updated = target.merge(f"using {itself} as s on t.id = s.id and t.p = 1 when matched then update set *")
    assert short_rows(updated)[:3] == [0, 10, 0]
    assert (updated["files_total"], updated["files_scanned"]) == (5, 2)
    never = target.merge(f"using (select 1L as id, 1 as p, 1 as v) as s on false {insert}")
    files = 5 if mode == "copy-on-write" else 6  # what is updated is added beside the old file
    assert (never["files_total"], never["files_scanned"], never["rows_inserted"]) == (files, 0, 1)
    nothing = target.merge("using (select 999L as id) as s on t.id = s.id and t.p = 2 when matched then delete")
    assert short_rows(nothing)[:3] == [0, 0, 0]


def test_the_first_merge_into_an_empty_iceberg_table(spark, table):
    target = table("iceberg", manifests=0)
    response = target.merge(f"using ({SOURCE}) as s on t.id = s.id {CLAUSES}")
    assert short_rows(response) == [10, 0, 0, 0, 10]
    assert (response["files_total"], response["files_scanned"]) == (0, 0)


@pytest.mark.parametrize("format", [pytest.param("delta", marks=pytest.mark.slow), "iceberg"])
def test_only_our_own_commit_is_ours(table, format):
    target = table(format)
    ours = target.merge(f"using ({SOURCE}) as s on t.id = s.id {CLAUSES}", node="model.shop.a")
    theirs = target.merge("using (select 1L as id) as s on t.id = s.id when matched then delete", node="model.shop.b")
    assert ours["table_version"] != theirs["table_version"]
    session = target.spark.newSession()
    assert table_format(format).commit_with(session, target.relation, stamp("run", "model.shop.a")) is None


@pytest.mark.parametrize("mode", ["copy-on-write", pytest.param("merge-on-read", marks=pytest.mark.slow)])
def test_rows_that_spark_looks_at_twice_are_counted_once(table, mode):
    target = table("iceberg", **{"write__merge__mode": mode, "write__merge__distribution-mode": "range"})
    ranges = {"spark.sql.shuffle.partitions": "4"}  # Spark looks for ranges only where there are several
    response = target.merge(ALL, **ranges)
    told = {kind: response["metrics"][f"spark.merge-into.num-target-rows-{kind}"] for kind in ("inserted", "updated")}
    assert told == {"inserted": 12, "updated": 4}
    assert short_rows(response) == [6, 2, 2, 46 if mode == "copy-on-write" else 0, 10]
    # And such as two source rows match, where that is no error; the files of partition 1 keep a row.
    twice = (
        "using (select explode(array(1, 1)) as p) as s on t.p = s.p and t.p = 1 and t.id <> 1 when matched then delete"
    )
    deleted = target.merge(twice, **ranges)
    assert deleted["metrics"]["spark.merge-into.num-target-rows-deleted"] == 2 * 2 * (24 - 1 + 3)
    assert short_rows(deleted) == [0, 0, 26, 1 if mode == "copy-on-write" else 0, 26]


def test_rows_that_were_counted_nobody_knows_how_often_are_not_told():
    counts = {"inserted": 25, "updated": 0, "deleted": 0, "copied": 0}
    summary = {f"spark.merge-into.num-target-rows-{kind}": count for kind, count in counts.items()}
    assert changed_rows(summary | {"added-records": 10}, "overwrite")["rows_affected"] is None
    assert changed_rows(summary | {"added-records": 25}, "overwrite")["rows_inserted"] == 25


# One of two rows that a lone DELETE removes matches two source rows, and a row is inserted: Spark counts three.
COPIED = {"copied": 5, "added-records": 6, "deleted-records": 7}
MARKED = {"copied": 0, "added-records": 1, "added-position-deletes": 2}
MARKED_AGAIN = MARKED | {"added-position-deletes": 6, "removed-position-deletes": 4}


@pytest.mark.parametrize("files", [COPIED, MARKED, MARKED_AGAIN], ids=["copied", "marked", "marked again"])
@pytest.mark.parametrize("passes", [1, 2])
def test_a_row_that_several_source_rows_delete_is_counted_once_next_to_inserts(files, passes):
    counts = {"inserted": 1, "updated": 0, "deleted": 3, "copied": files["copied"]}
    summary = {f"spark.merge-into.num-target-rows-{kind}": count * passes for kind, count in counts.items()}
    rows = changed_rows(summary | {key: value for key, value in files.items() if key != "copied"}, "overwrite")
    assert (rows["rows_inserted"], rows["rows_deleted"], rows["rows_copied"]) == (1, 2, files["copied"])
