"""The table of a model, built from nothing in a schema of its own: what its first run would give now."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from merge_runner.engine.context import NodeContext
from merge_runner.engine.spark.sql import run_command, set_confs
from merge_runner.engine.spark.storage.files import delete_folder
from merge_runner.engine.steps.perform import perform
from merge_runner.engine.table_format.commit_metadata import stamp, stamp_confs
from merge_runner.engine.tables.catalog import CatalogSession
from merge_runner.engine.tables.input_cache import SharedInputs
from merge_runner.graph.graph import ModelNode, RefNode, run_config
from merge_runner.graph.naming import table_location
from merge_runner.plan.batches.batch_values import NodeBatch, schedule_of
from merge_runner.plan.batches.due import due_batches
from merge_runner.plan.layout.table_layout import own_relation
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.maintenance import OptimizeTable
from merge_runner.plan.steps.merge import RunHook
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.plan.steps.step import Step
from merge_runner.relation import Relation
from merge_runner.run.node.text_on_engine import planned_on_engine

PREFIX = "merge_runner_rebuild_"
"""What the names of these schemas begin with: one of a process that was killed may be dropped."""


@contextmanager
def rebuilt_table(prepared: Prepared, node: RefNode, engine: CatalogSession) -> Iterator[Relation]:
    """The table that the first run of a node gives, inside the block. Raises EngineError and ProblemsError.

    The node reads its inputs where they are. Its hooks do not run, since they may write elsewhere, and nothing is
    expected of its MERGE: this is no run of the model.
    """
    own = own_relation(node)
    relation = Relation(own.identifier, f"{PREFIX}{uuid.uuid4().hex[:8]}", own.catalog)
    scratch = _with_table(prepared, node, relation)
    try:
        _build(scratch, node.unique_id, engine)
        yield relation
    finally:
        _drop(scratch, relation, node, engine)


def _with_table(prepared: Prepared, node: RefNode, relation: Relation) -> Prepared:
    """Return the project with another table of the node."""
    config = replace(node.config, expect_merge=None) if isinstance(node, ModelNode) else node.config
    nodes = {**prepared.graph.nodes, node.unique_id: replace(node, relation=relation, config=config)}
    return replace(prepared, graph=replace(prepared.graph, nodes=nodes))


def _build(scratch: Prepared, unique_id: str, engine: CatalogSession) -> None:
    context = NodeContext(
        engine.session,
        engine.catalog,
        SharedInputs([]),
        stamp=stamp(uuid.uuid4().hex, unique_id),
        description=f"rebuild of {unique_id}",
        node=unique_id,
    )
    set_confs(engine.session, {**stamp_confs(context.stamp), **run_config(scratch.graph.nodes[unique_id]).conf})
    for number, project in enumerate(_projects(scratch, unique_id)):
        plan = Planner(project).plan(unique_id)
        assert plan is not None, f"{unique_id} has no steps"
        if plan.asks is not None:
            plan = planned_on_engine(project, unique_id, context, first_run=number == 0)
        for step in _steps_of_rows(plan):
            perform(step, context)


def _projects(scratch: Prepared, unique_id: str) -> Iterator[Prepared]:
    """Yield the project as a first run renders it; for a model with batches, then as its later batches do."""
    node = scratch.graph.nodes[unique_id]
    schedule = schedule_of(node) if isinstance(node, ModelNode) else None
    if schedule is None:
        yield scratch.first_run
        return
    for number, batch in enumerate(due_batches(schedule, (), datetime.now(timezone.utc))):
        project = scratch.for_batch(NodeBatch(unique_id, batch.window), full_refresh=False)
        yield project.first_run if number == 0 else project


def _steps_of_rows(plan: NodePlan) -> Iterator[Step]:
    return (step for step in plan.steps if not isinstance(step, RunHook | OptimizeTable))


def _drop(scratch: Prepared, relation: Relation, node: RefNode, engine: CatalogSession) -> None:
    """Drop the table with its schema, and remove its files, which outlive a table by location."""
    run_command(engine.session, f"DROP TABLE IF EXISTS {relation} PURGE")  # else Iceberg keeps its files
    run_command(engine.session, f"DROP SCHEMA IF EXISTS {Relation(relation.schema or '', relation.catalog)}")
    place = table_location(scratch.files.root, scratch.files.profile, relation, node.config.format)
    if isinstance(place, Path):
        shutil.rmtree(place.parent, ignore_errors=True)
    elif place is not None:
        delete_folder(engine.session, place.parent)
