"""Asks the engine what it would do for each MERGE of an explanation; nothing is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from merge_runner.engine.context import PastMerge
from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.driver.driver_source import DriverSource
from merge_runner.engine.explain import explain_merge
from merge_runner.engine.spark.errors import EngineError, engine_errors
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.engine.tables.first_run import has_been_built
from merge_runner.graph.graph import ModelNode, run_config
from merge_runner.plan.explain.batch_outlook import BatchOutlook
from merge_runner.plan.explain.explain import ExplainedNode, Explanation, with_running_form
from merge_runner.plan.explain.spark_explain import EngineReport
from merge_runner.plan.load.project_context import Prepared
from merge_runner.run.batches.batch_jobs import read_due
from merge_runner.run.execution.driver_scope import driving
from merge_runner.run.node.outcome import error_message, error_place
from merge_runner.run.results.events import Events
from merge_runner.run.results.past_merges import past_merges
from merge_runner.run.settings import RunSettings


def explain_on_spark(prepared: Prepared, explanation: Explanation, events: Events, source: DriverSource) -> Explanation:
    """The explanation with what the engine says of each MERGE, level by level.

    A statement that the engine refuses is in `EngineReport.error`, and the others go on. `source` is used as `driving`
    uses it. Raises what that raises.
    """
    if not any(node.merge is not None for level in explanation.levels for node in level):
        return replace(explanation, has_engine_reports=True)
    with driving(prepared, events, source) as running:
        return _with_engine_reports(prepared, explanation, running)


def _with_engine_reports(prepared: Prepared, explanation: Explanation, driver: Driver) -> Explanation:
    catalog = Catalog(driver.table_format)
    history = past_merges(prepared.target_path, prepared.files.profile.target)
    levels = (
        tuple(node if node.merge is None else _ask_engine(prepared, node, driver, catalog, history) for node in level)
        for level in explanation.levels
    )
    return replace(explanation, levels=tuple(levels), has_engine_reports=True)


def _ask_engine(
    prepared: Prepared,
    node: ExplainedNode,
    driver: Driver,
    catalog: Catalog,
    history: Mapping[str, tuple[PastMerge, ...]],
) -> ExplainedNode:
    """The node as it would run now, with what the engine reports of it."""
    unique_id = node.plan.unique_id
    conf = run_config(prepared.graph.nodes[unique_id]).conf
    try:
        with engine_errors(or_bugs=True), driver.session(conf) as session:
            if node.plan.first_run is not None:
                node = with_running_form(node, has_been_built(session, catalog, node.plan.first_run))
            engine_report = None
            if node.batches is not None:
                node = replace(node, batches=_with_due_batches(prepared, node, driver, catalog))
            if node.merge is not None:
                engine_report = explain_merge(session, catalog, node.plan, conf, history.get(unique_id, ()))
    except EngineError as error:
        where = error_place(error, node.plan, prepared.graph.nodes[unique_id])
        return replace(node, engine_report=EngineReport(error=prepared.conceal(error_message(error, where))))
    if engine_report is None:  # the first run stops with the author's own error
        return node
    engine_report = replace(
        engine_report,
        plan=prepared.conceal(engine_report.plan) if engine_report.plan is not None else None,
        notes=tuple(prepared.conceal(note) for note in engine_report.notes),
    )
    return replace(node, engine_report=engine_report)


def _with_due_batches(prepared: Prepared, node: ExplainedNode, driver: Driver, catalog: Catalog) -> BatchOutlook | None:
    """Return the batches of a node with those that a build would run now. Raises EngineError."""
    model = prepared.graph.nodes[node.plan.unique_id]
    if node.batches is None or not isinstance(model, ModelNode):
        return node.batches
    due, _ = read_due(prepared, model, RunSettings(), driver, catalog)
    return replace(node.batches, due=due)
