"""Performs steps: one function for each kind, each in the session of the model that it belongs to."""

from __future__ import annotations

from functools import singledispatch

from merge_runner.engine.context import Workplace
from merge_runner.engine.log.commit_metadata import stamped_commit
from merge_runner.engine.maintenance.optimize import optimize_table
from merge_runner.engine.maintenance.vacuum import vacuum_table
from merge_runner.engine.merge.batch_merge import merge_batch
from merge_runner.engine.merge.change_feed_source import merge_changes, open_feed
from merge_runner.engine.merge.contract import check_schema, enforce_contract
from merge_runner.engine.merge.execute import run_merge
from merge_runner.engine.merge.idempotency import outlives_replacement
from merge_runner.engine.merge.limits import check_source
from merge_runner.engine.merge.statement import Bounded
from merge_runner.engine.metrics.empty_table import warn_of_empty_table
from merge_runner.engine.model_tests.data_test import run_data_test
from merge_runner.engine.model_tests.unit_test import run_unit_test
from merge_runner.engine.spark.errors import EngineError, engine_error, from_engine
from merge_runner.engine.spark.sql import analyse, run_statement
from merge_runner.engine.steps.freshness import measure_freshness
from merge_runner.engine.steps.hooks import run_hook
from merge_runner.engine.tables.catalog import no_columns, table_exists
from merge_runner.errors import Problem
from merge_runner.plan.steps.steps import (
    AttachInputs,
    CheckSchema,
    CheckSource,
    CreateTarget,
    DefineView,
    EnforceContract,
    KeepHistory,
    Layout,
    LoadSeed,
    MeasureFreshness,
    OpenFeed,
    OptimizeTable,
    RaiseError,
    ReplaceTable,
    RunHook,
    RunMerge,
    RunTest,
    RunUnitTest,
    ShareInputs,
    Step,
    VacuumTable,
)
from merge_runner.relation import Relation, quote


def perform(step: Step, place: Workplace) -> None:
    """Performs one step. Raises EngineError."""
    try:
        _perform(step, place)
    except Exception as error:
        if not from_engine(error):
            raise
        raise engine_error(error) from error


@singledispatch
def _perform(step: Step, place: Workplace) -> None:
    raise TypeError(f"{type(step).__name__} at {place.description}")


@_perform.register
def _(step: AttachInputs, place: Workplace) -> None:
    for item in step.inputs:
        place.catalog.attach(place.session, item)


@_perform.register
def _(step: ShareInputs, place: Workplace) -> None:
    for relation in step.readers:
        place.shared.acquire(place.session, relation)


@_perform.register
def _(step: OpenFeed, place: Workplace) -> None:
    open_feed(place.session, step.feed)


@_perform.register
def _(step: EnforceContract, place: Workplace) -> None:
    if not step.after_adding:
        place.contract_pending = enforce_contract(place.session, place.catalog, step)
    elif place.contract_pending:
        enforce_contract(place.session, place.catalog, step)


@_perform.register
def _(step: CheckSchema, place: Workplace) -> None:
    check_schema(place.session, place.catalog, step)


@_perform.register
def _(step: RunHook, place: Workplace) -> None:
    run_hook(step, place)


@_perform.register
def _(step: CheckSource, place: Workplace) -> None:
    check_source(step, step.expect, Bounded(step.sql), place)


@_perform.register
def _(step: KeepHistory, place: Workplace) -> None:
    relation = step.layout.relation
    # A table that this invocation has made already is not replaced once more.
    if relation.name in place.catalog.made or not place.catalog.adopt(place.session, step.layout):
        return
    if run_statement(place.session, f"SELECT 1 FROM {relation} LIMIT 1"):
        raise _refused(step.problem)


@_perform.register
def _(step: CreateTarget, place: Workplace) -> None:
    if step.replace and place.batch is not None and table_exists(place.session, step.layout.relation):
        place.past_record = outlives_replacement(place.session, step.layout.relation, step.layout.format, place.batch)
    # create_target asks as well: only a step that needs the answer before asks twice.
    exists = (step.reads_itself is not None or step.loses_history) and place.catalog.adopt(place.session, step.layout)
    if step.reads_itself is not None and not exists and not step.layout.has_all_types:
        raise no_columns(step.layout.relation.name, step.reads_itself)
    shape = step.shape.query if step.shape else None
    target = place.catalog.create_target(place.session, step.layout, shape, step.replace)
    place.response["created"] = target.created
    if step.loses_history and exists and (target.created or target.emptied):
        place.response["history_replaced"] = True
    if target.emptied:
        place.response["emptied"] = True
    if target.altered:
        place.response["altered"] = list(target.altered)
    name = step.layout.relation.name
    place.warnings += [f"{name}: {item}" for item in target.drift]
    place.missing |= {column: f"{name}: {item}" for column, item in target.missing.items()}


@_perform.register
def _(step: RunMerge, place: Workplace) -> None:
    format = step.judged.layout.format
    earlier = (stamped_commit(place.session, step.target, format, stamp) for stamp in place.earlier)
    commit = next((found for found in earlier if found is not None), None)
    anew = place.response.get("created") or place.response.get("emptied")
    if commit is not None and not anew:
        place.no_op = f"had committed as version {commit.version} in the invocation that is retried"
        place.response |= {"operation": "MERGE", "rows_affected": 0, "table_version": commit.version}
        return
    before = _evolving_columns(step, place)
    if step.feed is not None:
        merge_changes(step, step.feed, place)
    elif place.batch is None:
        run_merge(step, place)
    else:
        merge_batch(step, place, place.batch)
    warn_of_empty_table(step, place)
    _forget_added(step.target, place)
    new = [name for name in _evolving_columns(step, place) if name not in before]
    if new:
        place.warnings.append(
            f"{step.target.name}: all branches have one schema: main has got {', '.join(new)} too, without values"
        )


@_perform.register
def _(step: ReplaceTable, place: Workplace) -> None:
    _replace_rows(step.layout, step.sql, place)


@_perform.register
def _(step: DefineView, place: Workplace) -> None:
    place.catalog.define_view(place.session, step.relation, step.sql, step.definition)
    place.response["operation"] = "CREATE VIEW"


@_perform.register
def _(step: LoadSeed, place: Workplace) -> None:
    reader = place.session.read.options(header=True, delimiter=step.delimiter, multiLine=True, escape='"')
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
    _replace_rows(step.layout, f"SELECT * FROM {view}", place)


@_perform.register
def _(step: RunTest, place: Workplace) -> None:
    run_data_test(step, place)


@_perform.register
def _(step: RunUnitTest, place: Workplace) -> None:
    run_unit_test(step, place)


@_perform.register
def _(step: MeasureFreshness, place: Workplace) -> None:
    measure_freshness(step, place)


@_perform.register
def _(step: RaiseError, place: Workplace) -> None:
    raise _refused(step.problem)


@_perform.register
def _(step: OptimizeTable, place: Workplace) -> None:
    optimize_table(step, place)


@_perform.register
def _(step: VacuumTable, place: Workplace) -> None:
    vacuum_table(step, place)


def _refused(problem: Problem) -> EngineError:
    return EngineError(problem.code, problem.message, problem.hint, place=problem.place)


def _forget_added(target: Relation, place: Workplace) -> None:
    """Take back the warnings of missing columns that the MERGE has added (schema evolution)."""
    if place.missing:
        real = {name.lower() for name in analyse(place.session, f"SELECT * FROM {target}").names}
        stale = {words for column, words in place.missing.items() if column.lower() in real}
        place.warnings[:] = [words for words in place.warnings if words not in stale]


def _evolving_columns(step: RunMerge, place: Workplace) -> list[str]:
    """The columns of a target whose MERGE may add some on a branch; none elsewhere."""
    if "branch" not in place.response or not step.judged.statement.schema_evolution:
        return []
    return analyse(place.session, f"SELECT * FROM {step.target}").names


def _replace_rows(layout: Layout, query: str, place: Workplace) -> None:
    replaced = place.catalog.replace_table(place.session, layout, query)
    place.response["operation"] = replaced.operation
    place.warnings += [f"{layout.relation.name}: {item}" for item in replaced.drift]
    commit = stamped_commit(place.session, layout.relation, layout.format, place.stamp)
    if commit is not None:
        # A table that is written as a whole: what it has now is what was written.
        rows = commit.metrics.get("total-records" if layout.format == "iceberg" else "numOutputRows")
        place.response["rows_affected"] = int(rows) if rows is not None else None
        place.response["table_version"] = commit.version
