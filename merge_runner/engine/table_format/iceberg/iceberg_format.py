"""Iceberg as a table format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from merge_runner.engine.table_format.iceberg import batches, first_run, log, maintenance
from merge_runner.engine.table_format.iceberg.branches import IcebergBranches
from merge_runner.engine.table_format.iceberg.change_feed import changes
from merge_runner.engine.table_format.iceberg.commit_figures import commit_figures
from merge_runner.engine.table_format.iceberg.layout import columns, table_layout
from merge_runner.engine.table_format.iceberg.merge_metrics import merge_figures
from merge_runner.engine.table_format.iceberg.shuffle_trials import remedied_shuffles
from merge_runner.engine.table_format.iceberg.stored_metadata import stored_metadata
from merge_runner.engine.table_format.iceberg.stored_version import stored_versions, versions
from merge_runner.engine.table_format.iceberg.target_files import target_files
from merge_runner.engine.table_format.iceberg.unshared_files import unshared_files
from merge_runner.engine.table_format.protocol import Ask
from merge_runner.formats import Format
from merge_runner.formats.iceberg.capabilities import ICEBERG
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.merge.statement import MergeStatement
    from merge_runner.plan.explain.shuffle_remedies import ShuffleRemedies
    from merge_runner.plan.steps.merge import RunMerge


class IcebergFormat:
    """Iceberg (1.12.0). The stamp of a commit is in the summary of its snapshot."""

    name: Format = "iceberg"
    capabilities = ICEBERG
    quick_read_confs: Mapping[str, str] = {}
    replaced_rows_metric = "total-records"
    branches = IcebergBranches()
    layout = staticmethod(table_layout)
    state = staticmethod(log.table_state)
    commits = staticmethod(log.latest_snapshots)
    earlier_states = staticmethod(log.earlier_states)
    commit_with = staticmethod(log.statement_snapshot)
    changes = staticmethod(changes)
    columns = staticmethod(columns)
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

    def snapshot(self, session: SparkSession, table: Relation, version: int | None = None) -> None:
        """Return None: the files of a snapshot are not asked for conditions, nor are ids of tables kept."""

    def protocol_properties(self, session: SparkSession, table: Relation) -> Mapping[str, str]:
        """Return none: the version of the format is the property `format-version`."""
        return {}

    def columns_after(self, session: SparkSession, merge: MergeStatement) -> None:
        """Return None: to analyse a MERGE WITH SCHEMA EVOLUTION would alter the table."""

    def shuffles(
        self,
        session: SparkSession,
        merge: RunMerge,
        plan: str,
        conf: Mapping[str, str],
        declared: Mapping[str, str],
        ask: Ask,
    ) -> tuple[ShuffleRemedies, ...]:
        """Return the shuffles and sorts of a MERGE, each with what the engine's plan shows to take it away."""
        return remedied_shuffles(session, merge, plan, conf, declared, ask)
