"""Delta as a table format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from merge_runner.engine.table_format.delta import batches, first_run, log, maintenance
from merge_runner.engine.table_format.delta.change_feed import changes
from merge_runner.engine.table_format.delta.columns import columns, columns_after
from merge_runner.engine.table_format.delta.commit_figures import commit_figures
from merge_runner.engine.table_format.delta.merge_metrics import merge_figures
from merge_runner.engine.table_format.delta.stored_metadata import stored_metadata
from merge_runner.engine.table_format.delta.stored_version import stored_versions, versions
from merge_runner.engine.table_format.delta.target_files import target_files
from merge_runner.engine.table_format.delta.unshared_files import unshared_files
from merge_runner.formats import Format
from merge_runner.formats.delta.capabilities import DELTA

if TYPE_CHECKING:
    from merge_runner.engine.table_format.branches import Branches
BY_KERNEL: Mapping[str, str] = {"spark.databricks.delta.v2.enableMode": "STRICT"}
"""Confs of a session that reads Delta tables through Delta's Kernel. It cannot read their change feeds.

To find the files of a table, Delta's usual reader runs three queries over its log, which take 0.6 s of a table of ten
rows; the Kernel reads the log by itself, and the whole query takes 0.1 s. Delta 4.4.0 has it for tests and some streams
(DeltaSQLConf.scala): what is found wrong through it is looked at again.
"""


class DeltaFormat:
    """Delta (4.4.0). The stamp of a commit is the `userMetadata` of the history."""

    name: Format = "delta"
    capabilities = DELTA
    quick_read_confs = BY_KERNEL
    replaced_rows_metric = "numOutputRows"
    layout = staticmethod(log.table_layout)
    state = staticmethod(log.table_state)
    snapshot = staticmethod(log.snapshot)
    commits = staticmethod(log.latest_commits)
    earlier_states = staticmethod(log.earlier_states)
    commit_with = staticmethod(log.statement_commit)
    changes = staticmethod(changes)
    columns_after = staticmethod(columns_after)
    columns = staticmethod(columns)
    protocol_properties = staticmethod(log.protocol_properties)
    is_built = staticmethod(first_run.is_built)
    is_built_in = staticmethod(first_run.is_built_in)
    stored_versions = staticmethod(stored_versions)
    versions = staticmethod(versions)
    stored_metadata = staticmethod(stored_metadata)
    target_files = staticmethod(target_files)
    unshared_files = staticmethod(unshared_files)
    batch_confs = staticmethod(batches.batch_confs)
    recorded_batches = staticmethod(batches.recorded_batches)
    merge_figures = staticmethod(merge_figures)
    commit_figures = staticmethod(commit_figures)
    optimize = staticmethod(maintenance.optimize)
    vacuum = staticmethod(maintenance.vacuum)
    merges_since_compaction = staticmethod(maintenance.merges_since_compaction)

    @property
    def branches(self) -> Branches:
        """Raise TypeError."""
        raise TypeError("a Delta table has no branches")

    def shuffles(self, *_: object) -> None:
        """Return None: EXPLAIN of a MERGE has the command alone, and not the queries that it will run."""
