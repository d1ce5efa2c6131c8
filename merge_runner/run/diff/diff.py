"""Compares the tables of selected models with another state of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from merge_runner.comparison.report import FailedComparison, TableDifference, description
from merge_runner.engine.compare import Criteria, compare_tables
from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.driver.driver_source import DriverSource, GivenDriver
from merge_runner.engine.spark.errors import engine_error, from_engine
from merge_runner.engine.tables.catalog import Catalog, CatalogSession
from merge_runner.errors import ProblemsError
from merge_runner.graph.graph import ModelNode, Node, RefNode, run_config
from merge_runner.plan.layout.row_key import row_key
from merge_runner.plan.load.project_context import Prepared
from merge_runner.run.diff.other_state import (
    NEW_TABLE,
    BeforeRun,
    OtherProject,
    OtherState,
    Rebuild,
    Side,
    other_side,
    project_side,
)
from merge_runner.run.execution.dag_run import thread_count
from merge_runner.run.execution.driver_scope import driving
from merge_runner.run.results.event_types import TableCompared
from merge_runner.run.results.events import Events
from merge_runner.run.scheduling.scheduler import Job, run_jobs


@dataclass(frozen=True)
class _Comparison:
    """The comparison of all nodes of an invocation."""

    prepared: Prepared
    other: OtherState
    criteria: Criteria
    driver: Driver
    catalog: Catalog

    def of(self, node: RefNode) -> TableDifference | FailedComparison:
        """Compare the table of a node with its other state."""
        try:
            with (
                self.driver.session(dict(run_config(node).conf)) as session,
                self.driver.job_group(session, _group(node.unique_id), f"diff of {node.name}"),
            ):
                engine = CatalogSession(session, self.catalog)
                left = project_side(self.prepared, node, engine)
                with other_side(self.other, self.prepared, node, engine) as right:
                    return self._compare(node, left, right, engine)
        except ProblemsError as error:
            code, message = "not-compared", "; ".join(map(str, error.problems))
        except Exception as failure:
            if not from_engine(failure):
                raise
            cause = engine_error(failure)
            code, message = cause.code, cause.message if cause.hint is None else f"{cause.message}; {cause.hint}"
        if isinstance(self.other, OtherProject):
            message = self.other.prepared.conceal(message)
        return FailedComparison(node.name, self.prepared.conceal(message), code)

    def _compare(self, node: RefNode, left: Side, right: Side, engine: CatalogSession) -> TableDifference:
        criteria = replace(self.criteria, key=self.criteria.key or self._key(node), sensitive=sensitive_columns(node))
        format = self.catalog.table_format(left.format) if left.format and left.format == right.format else None
        outcome = compare_tables(engine.session, left.table, right.table, format, criteria)
        return TableDifference(
            node.name,
            left.label,
            right.label,
            tuple(criteria.key),
            outcome.rows,
            outcome.changed,
            outcome.columns.schema,
            self._layout_difference(left, right, engine),
            outcome.examples,
            outcome.files,
        )

    def _key(self, node: RefNode) -> Sequence[str]:
        """Return the columns that identify a row; none where the text asks the engine and config names none."""
        statement = None
        if isinstance(node, ModelNode) and node.materialized == "merge" and not node.config.unique_key:
            try:
                statement = self.prepared.compiler.merge(node.unique_id)
            except ProblemsError:
                return ()
        return row_key(node.config, statement)

    def _layout_difference(self, left: Side, right: Side, engine: CatalogSession) -> Mapping[str, tuple[str, str]]:
        """Return what of the two tables is laid out in another way; nothing of versions of one table, and of views."""
        if left.table.table == right.table.table or left.format is None or right.format is None:
            return {}
        sides = []
        for side in (left, right):
            layout = self.catalog.table_format(side.format).layout(engine.session, side.table.table)
            columns = {"partition_by": layout.partition_by, "cluster_by": layout.cluster_by, "sort_by": layout.sort_by}
            sides.append({"format": str(side.format), **{what: ", ".join(names) for what, names in columns.items()}})
        return {what: (value, sides[1][what]) for what, value in sides[0].items() if value != sides[1][what]}


def diff(
    prepared: Prepared,
    ids: Sequence[str],
    other: OtherState,
    criteria: Criteria,
    events: Events,
    source: DriverSource,
) -> dict[str, TableDifference | FailedComparison]:
    """Compare the tables of the nodes `ids` with their other states, as many at a time as models run.

    Return the comparisons by id, in the order of `ids`; nodes without rows of their own are left out. What keeps one
    from being compared is its outcome. `source` is used as `driving` uses it. Raises KeyboardInterrupt.
    """
    nodes = {node.unique_id: node for key in ids if _is_compared(node := prepared.graph.nodes[key], other)}
    if not nodes:
        return {}
    models: dict[str, TableDifference | FailedComparison] = {}
    with driving(prepared, events, source) as running:
        comparison = _Comparison(prepared, other, criteria, running, Catalog(running.table_format))

        def compare(unique_id: str) -> bool:
            models[unique_id] = comparison.of(nodes[unique_id])
            return True

        def cancel() -> None:
            for unique_id in nodes:
                running.cancel(_group(unique_id))

        job = Job(dict.fromkeys(nodes, ()), compare, lambda _node, _cause: None)
        run_jobs(job, thread_count(prepared, None, len(nodes)), cancel=cancel)
    return {unique_id: models[unique_id] for unique_id in nodes}


def compare_with_before(prepared: Prepared, ids: Sequence[str], run: str, events: Events, driver: Driver) -> None:
    """Emit how the table of each node `ids` differs from what it was before the invocation `run`; no row is shown.

    A table that the run has made is not compared.
    """
    differences = diff(prepared, ids, BeforeRun(run), Criteria(limit=0), events, GivenDriver(driver))
    for unique_id, model in differences.items():
        if isinstance(model, FailedComparison) and model.code == NEW_TABLE:
            continue
        message = "\n".join(description(model))
        events.emit(TableCompared(node=unique_id, message=message, difference=model.as_json()))


def _group(unique_id: str) -> str:
    return f"diff/{unique_id}"


def sensitive_columns(node: RefNode) -> frozenset[str]:
    """Return the columns of a node that are `sensitive` by `meta` or by a tag: their values must not be shown."""
    return frozenset(
        name
        for name, column in node.columns.items()
        if column.get("meta", {}).get("sensitive") is True or "sensitive" in column.get("tags", ())
    )


def _is_compared(node: Node, other: OtherState) -> TypeGuard[RefNode]:
    """Whether a node has rows in the other state: an earlier state of a view is not kept, a seed is not rebuilt."""
    if not isinstance(node, RefNode) or node.materialized == "ephemeral":
        return False
    if isinstance(other, Rebuild):
        return node.materialized in ("merge", "table")
    return isinstance(other, OtherProject) or node.materialized != "view"
