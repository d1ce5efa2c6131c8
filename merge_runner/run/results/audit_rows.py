"""The rows of the audit table (`audit` of the profile): one for each model that an invocation was about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Any

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.response import MERGE_FIGURES
from merge_runner.engine.spark.errors import engine_error, from_engine
from merge_runner.engine.spark.locks import writing
from merge_runner.engine.steps.audit_table import write_audit
from merge_runner.engine.table_format.commit_metadata import stamp, stamp_confs
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.graph.graph import ModelNode, Node
from merge_runner.graph.naming import table_location
from merge_runner.location import location
from merge_runner.pages.runs.history import packed
from merge_runner.plan.load.project_context import Prepared
from merge_runner.relation import Relation
from merge_runner.run.results.event_types import AuditFailed, AuditWritten, Message
from merge_runner.run.results.events import Events
from merge_runner.run.results.results import Result


def audit(
    driver: Driver,
    prepared: Prepared,
    table: Relation,
    results: Iterable[Result],
    record: Mapping[str, Any],
    events: Events,
) -> None:
    """Write the rows of an invocation, and its record. A failure is the event `audit_failed`: it changes no result."""
    invocation_id = record["id"]
    rows = audit_rows(results, record, prepared.graph.nodes)
    if not rows:
        return
    profile, root = prepared.files.profile, prepared.files.root
    warehouse = location(root, profile.warehouse) if profile.warehouse is not None else None
    place = table_location(root, profile, table, None)

    def lock() -> AbstractContextManager[None]:
        if warehouse is None:
            return nullcontext()
        return writing(warehouse, table.name, lambda message: events.emit(Message(message)), spark=driver.spark)

    try:
        stamped = stamp_confs(stamp(invocation_id, "audit"))
        with driver.session(stamped) as session, driver.job_group(session, f"{invocation_id}/audit", "audit"):
            drift = write_audit(session, Catalog(driver.table_format), table, place, rows, lock)
    except Exception as error:
        if not from_engine(error) and not isinstance(error, OSError):
            raise
        reason = str(error) if isinstance(error, OSError) else engine_error(error).message
        events.emit(AuditFailed(table=table.name, message=f"the audit table {table.name} is not written: {reason}"))
        return
    for item in drift:
        events.emit(Message(f"audit table {table.name}: {item}", level="warn"))
    events.emit(AuditWritten(table=table.name, rows=len(rows)))


def audit_rows(results: Iterable[Result], record: Mapping[str, Any], nodes: Mapping[str, Node]) -> list[dict[str, Any]]:
    """The rows of the models among the results, by the columns of `engine/steps/audit_table.py`.

    The first one has the record of the run.
    """
    rows = [
        _row(record, result, nodes[result.unique_id].name)
        for result in results
        if isinstance(nodes[result.unique_id], ModelNode)
    ]
    if rows:
        rows[0]["run_record"] = packed(record)
    return rows


def _row(record: Mapping[str, Any], result: Result, name: str) -> dict[str, Any]:
    response = result.adapter_response
    return {
        "invocation_id": record["id"],
        "unique_id": result.unique_id,
        "name": name,
        "status": result.status,
        "started_at": min((phase.started_at for phase in result.timing), default=None),
        "completed_at": max((phase.completed_at for phase in result.timing), default=None),
        **{key: response.get(key) for key in (*MERGE_FIGURES, "attempts", "verdict", "verdict_held")},
        **{key: _json(response.get(key)) for key in ("bounds", "metrics", "batches")},
        "message": result.message,
        "run_started_at": datetime.fromisoformat(record["started_at"].replace("Z", "+00:00")),
        "run_record": None,
    }


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, default=str)
