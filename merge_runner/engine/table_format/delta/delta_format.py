"""Delta as a table format."""

from __future__ import annotations

from merge_runner.engine.table_format.delta import log
from merge_runner.engine.table_format.delta.change_feed import changes
from merge_runner.formats import Format


class DeltaFormat:
    """Delta (4.4.0). The stamp of a commit is the `userMetadata` of the history."""

    name: Format = "delta"
    commit_metadata_conf = log.COMMIT_METADATA_CONF
    layout = staticmethod(log.table_layout)
    state = staticmethod(log.table_state)
    snapshot = staticmethod(log.snapshot)
    commits = staticmethod(log.latest_commits)
    commit_with = staticmethod(log.statement_commit)
    changes = staticmethod(changes)
