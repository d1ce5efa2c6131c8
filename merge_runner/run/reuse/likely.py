"""Whether it is likely that no node of a run has to run, before anything is planned.

It is asked before the JVM is launched, so that it imports little.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from merge_runner.graph.graph import Node, SeedNode, run_config
from merge_runner.run.reuse.build_after import waiting_time
from merge_runner.run.reuse.records import FILE, Records
from merge_runner.run.reuse.stored_state import StoredState

if TYPE_CHECKING:
    from merge_runner.plan.load.project_context import Prepared


def likely_unchanged(prepared: Prepared, ids: Iterable[str]) -> bool:
    """Whether none of these nodes is likely to run, as far as that is known before anything is planned."""
    records = Records(prepared.target_path / FILE)
    states: dict[str, str] = {}
    for unique_id in ids:
        if not _is_run(prepared.graph.nodes[unique_id]):
            continue
        record = records.get(unique_id)
        if record is None:
            return False
        build_after = run_config(prepared.graph.nodes[unique_id]).build_after
        if build_after and waiting_time(build_after, datetime.fromisoformat(record.at), datetime.now(timezone.utc)):
            continue
        if record.doubt is not None or record.is_old():
            return False
        left = {record.target: record.left} if record.target is not None and record.left is not None else {}
        for name, state in {**record.inputs, **left}.items():
            if states.setdefault(name, state) != state:
                return False
    return all(StoredState.of(name).state() == state for name, state in states.items())


def _is_run(node: Node) -> bool:
    of_kind = node.resource_type in ("model", "seed", "test", "unit_test")
    return of_kind and (isinstance(node, SeedNode) or node.materialized != "ephemeral")
