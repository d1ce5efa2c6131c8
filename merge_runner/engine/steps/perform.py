"""Performs steps: one function for each kind, each in the session of the model that it belongs to."""

from __future__ import annotations

from functools import singledispatch

from merge_runner.engine.context import NodeContext
from merge_runner.engine.maintenance.optimize import optimize_table
from merge_runner.engine.maintenance.vacuum import vacuum_table
from merge_runner.engine.merge.batch_merge import merge_batch
from merge_runner.engine.merge.change_feed_source import merge_changes, open_feed
from merge_runner.engine.merge.contract import check_schema, enforce_contract
from merge_runner.engine.merge.execute import run_merge
from merge_runner.engine.merge.guardrails import check_source
from merge_runner.engine.merge.idempotency import outlives_replacement
from merge_runner.engine.merge.statement import Bounded
from merge_runner.engine.metrics.empty_table import warn_of_empty_table
from merge_runner.engine.model_tests.data_test import run_data_test
from merge_runner.engine.model_tests.unit_test import run_unit_test
from merge_runner.engine.response import TableFigures, Target, Uncounted
from merge_runner.engine.spark.errors import EngineError, engine_error, from_engine
from merge_runner.engine.spark.sql import analyse, run_statement
from merge_runner.engine.steps.freshness import measure_freshness
from merge_runner.engine.steps.hooks import run_hook
from merge_runner.engine.tables.catalog import no_columns, table_exists
from merge_runner.errors import Problem
from merge_runner.plan.steps.inputs import AttachInputs, OpenFeed, ShareInputs
from merge_runner.plan.steps.maintenance import OptimizeTable, VacuumTable
from merge_runner.plan.steps.merge import CheckSource, RunHook, RunMerge
from merge_runner.plan.steps.model_tests import MeasureFreshness, RunTest, RunUnitTest
from merge_runner.plan.steps.node_plan import RaiseError, Step
from merge_runner.plan.steps.table import (
    CheckSchema,
    CreateTarget,
    DefineView,
    EnforceContract,
    KeepHistory,
    Layout,
    LoadSeed,
    ReplaceTable,
)
from merge_runner.relation import Relation, quote


def perform(step: Step, context: NodeContext) -> None:
    """Performs one step. Raises EngineError."""
    try:
        _perform(step, context)
    except Exception as error:
        if not from_engine(error):
            raise
        raise engine_error(error) from error


@singledispatch
def _perform(step: Step, context: NodeContext) -> None:
    raise TypeError(f"{type(step).__name__} at {context.description}")


@_perform.register
def _(step: AttachInputs, context: NodeContext) -> None:
    for item in step.inputs:
        context.catalog.attach(context.session, item)


@_perform.register
def _(step: ShareInputs, context: NodeContext) -> None:
    for relation in step.readers:
        context.shared.acquire(context.session, relation)


@_perform.register
def _(step: OpenFeed, context: NodeContext) -> None:
    open_feed(context.session, step.feed)


@_perform.register
def _(step: EnforceContract, context: NodeContext) -> None:
    if not step.after_adding:
        context.contract_pending = enforce_contract(context.session, context.catalog, step)
    elif context.contract_pending:
        enforce_contract(context.session, context.catalog, step)


@_perform.register
def _(step: CheckSchema, context: NodeContext) -> None:
    check_schema(context.session, context.catalog, step)


@_perform.register
def _(step: RunHook, context: NodeContext) -> None:
    run_hook(step, context)


@_perform.register
def _(step: CheckSource, context: NodeContext) -> None:
    check_source(step, step.expect, Bounded(step.sql), context)


@_perform.register
def _(step: KeepHistory, context: NodeContext) -> None:
    relation = step.layout.relation
    # A table that this invocation has made already is not replaced once more.
    if relation.name in context.catalog.made or not context.catalog.adopt(context.session, step.layout):
        return
    if run_statement(context.session, f"SELECT 1 FROM {relation} LIMIT 1"):
        raise _refused(step.problem)


@_perform.register
def _(step: CreateTarget, context: NodeContext) -> None:
    if step.replace and context.batch is not None and table_exists(context.session, step.layout.relation):
        context.past_record = outlives_replacement(
            context.session, step.layout.relation, step.layout.format, context.batch
        )
    # create_target asks as well: only a step that needs the answer before asks twice.
    exists = (step.reads_itself is not None or step.loses_history) and context.catalog.adopt(
        context.session, step.layout
    )
    if step.reads_itself is not None and not exists and not step.layout.has_all_types:
        raise no_columns(step.layout.relation.name, step.reads_itself)
    shape = step.shape.query if step.shape else None
    target = context.catalog.create_target(context.session, step.layout, shape, step.replace)
    context.response.target = Target(
        target.created,
        (step.loses_history and exists and (target.created or target.emptied)) or None,
        target.emptied or None,
        list(target.altered) or None,
    )
    name = step.layout.relation.name
    context.warnings += [f"{name}: {item}" for item in target.drift]
    context.missing |= {column: f"{name}: {item}" for column, item in target.missing.items()}


@_perform.register
def _(step: RunMerge, context: NodeContext) -> None:
    commit_with = context.table_format(step.judged.layout.format).commit_with
    earlier = (commit_with(context.session, step.target, stamp) for stamp in context.earlier)
    commit = next((found for found in earlier if found is not None), None)
    target = context.response.target
    if commit is not None and not (target is not None and target.is_new):
        context.no_op = f"had committed as version {commit.version} in the invocation that is retried"
        context.response.statement = Uncounted("MERGE", 0, commit.version)
        return
    before = _evolving_columns(step, context)
    if step.feed is not None:
        merge_changes(step, step.feed, context)
    elif context.batch is None:
        run_merge(step, context)
    else:
        merge_batch(step, context, context.batch)
    warn_of_empty_table(step, context)
    _forget_added(step.target, context)
    new = [name for name in _evolving_columns(step, context) if name not in before]
    if new:
        context.warnings.append(
            f"{step.target.name}: all branches have one schema: main has got {', '.join(new)} too, without values"
        )


@_perform.register
def _(step: ReplaceTable, context: NodeContext) -> None:
    _replace_rows(step.layout, step.sql, context)


@_perform.register
def _(step: DefineView, context: NodeContext) -> None:
    context.catalog.define_view(context.session, step.relation, step.sql, step.definition)
    context.response.statement = Uncounted("CREATE VIEW")


@_perform.register
def _(step: LoadSeed, context: NodeContext) -> None:
    reader = context.session.read.options(header=True, delimiter=step.delimiter, multiLine=True, escape='"')
    names = reader.csv(str(step.path)).columns
    types = {name.lower(): data_type for name, data_type in step.types.items()}
    if any(name.lower() not in types for name in names):
        # Only for the columns without a type: a text such as 007 would have lost its zeros before any cast.
        inferred = reader.option("inferSchema", True).csv(str(step.path)).schema
        types = {each.name.lower(): each.dataType.simpleString() for each in inferred} | types
    schema = ", ".join(f"{quote(name)} {types[name.lower()]}" for name in names)
    rows = reader.schema(schema).option("mode", "FAILFAST").csv(str(step.path))
    view = "__seed__"
    rows.createOrReplaceTempView(view)
    _replace_rows(step.layout, f"SELECT * FROM {view}", context)


@_perform.register
def _(step: RunTest, context: NodeContext) -> None:
    run_data_test(step, context)


@_perform.register
def _(step: RunUnitTest, context: NodeContext) -> None:
    run_unit_test(step, context)


@_perform.register
def _(step: MeasureFreshness, context: NodeContext) -> None:
    measure_freshness(step, context)


@_perform.register
def _(step: RaiseError, context: NodeContext) -> None:
    raise _refused(step.problem)


@_perform.register
def _(step: OptimizeTable, context: NodeContext) -> None:
    optimize_table(step, context)


@_perform.register
def _(step: VacuumTable, context: NodeContext) -> None:
    vacuum_table(step, context)


def _refused(problem: Problem) -> EngineError:
    return EngineError(problem.code, problem.message, problem.hint, place=problem.place)


def _forget_added(target: Relation, context: NodeContext) -> None:
    """Take back the warnings of missing columns that the MERGE has added (schema evolution)."""
    if context.missing:
        real = {name.lower() for name in analyse(context.session, f"SELECT * FROM {target}").names}
        stale = {words for column, words in context.missing.items() if column.lower() in real}
        context.warnings[:] = [words for words in context.warnings if words not in stale]


def _evolving_columns(step: RunMerge, context: NodeContext) -> list[str]:
    """The columns of a target whose MERGE may add some on a branch; none elsewhere."""
    if context.branch is None or not step.judged.statement.schema_evolution:
        return []
    return analyse(context.session, f"SELECT * FROM {step.target}").names


def _replace_rows(layout: Layout, query: str, context: NodeContext) -> None:
    replaced = context.catalog.replace_table(context.session, layout, query)
    context.response.statement = Uncounted(replaced.operation)
    context.warnings += [f"{layout.relation.name}: {item}" for item in replaced.drift]
    commit = context.table_format(layout.format).commit_with(context.session, layout.relation, context.stamp)
    if commit is not None:
        # A table that is written as a whole: what it has now is what was written.
        rows = commit.metrics.get("total-records" if layout.format == "iceberg" else "numOutputRows")
        affected = int(rows) if rows is not None else None
        context.response.statement = TableFigures(replaced.operation, affected, commit.version)
