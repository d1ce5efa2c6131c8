"""The tables and views of a node: those that it reads, the target of its MERGE, and what is written as a whole."""

from __future__ import annotations

from merge_runner.engine.context import Batch, NodeContext
from merge_runner.engine.merge.change_feed_source import define_empty
from merge_runner.engine.merge.idempotency import outlives_replacement
from merge_runner.engine.response import NoFigures, TableFigures, Target
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.sql import run_statement
from merge_runner.engine.tables.catalog import no_columns, table_exists
from merge_runner.plan.steps.inputs import AttachInputs, OpenFeed, ShareInputs
from merge_runner.plan.steps.table import (
    CloneTable,
    CreateBranch,
    CreateTarget,
    DefineView,
    KeepHistory,
    KeepRows,
    Layout,
    LoadSeed,
    ReplaceTable,
)
from merge_runner.relation import quote


def attach_inputs(step: AttachInputs, context: NodeContext) -> None:
    """Make the inputs known to the session's catalog. Raises EngineError."""
    for item in step.inputs:
        context.catalog.attach(context.session, item)


def share_inputs(step: ShareInputs, context: NodeContext) -> None:
    """Cache what several nodes read, or take what another one has cached. Raises EngineError."""
    for relation in step.readers:
        context.shared.acquire(context.session, relation)


def open_feed(step: OpenFeed, context: NodeContext) -> None:
    """Define the view of a feed, without rows. Raises EngineError."""
    define_empty(context.session, step.feed)


def keep_history(step: KeepHistory, context: NodeContext) -> None:
    """Raise the step's problem as an EngineError where the table has rows that a full refresh would lose."""
    relation = step.layout.relation
    # A table that this invocation has made already is not replaced once more.
    if relation.name in context.catalog.recreated_tables or not context.catalog.adopt(context.session, step.layout):
        return
    if run_statement(context.session, f"SELECT 1 FROM {relation} LIMIT 1"):
        raise EngineError.of(step.problem)


def keep_rows(step: KeepRows, context: NodeContext) -> None:
    """Raise the step's problem as an EngineError where the table has rows and not the mark."""
    relation = step.layout.relation
    if relation.name in context.catalog.recreated_tables or not context.catalog.adopt(context.session, step.layout):
        return
    properties = context.table_format(step.layout.format).layout(context.session, relation).properties
    if step.mark not in properties and run_statement(context.session, f"SELECT 1 FROM {relation} LIMIT 1"):
        raise EngineError.of(step.problem)


def create_target(step: CreateTarget, context: NodeContext) -> None:
    """Create the target of a MERGE, or alter it to what is declared. Raises EngineError."""
    if step.replace and isinstance(context.batch, Batch) and table_exists(context.session, step.layout.relation):
        context.output.past_record = outlives_replacement(
            context.session, step.layout.relation, context.table_format(step.layout.format), context.batch
        )
    # create_target asks as well: only a step that needs the answer before asks twice.
    exists = (step.reads_itself is not None or step.loses_history) and context.catalog.adopt(
        context.session, step.layout
    )
    if step.reads_itself is not None and not exists and not step.layout.has_all_types:
        raise no_columns(step.layout.relation.name, step.reads_itself)
    shape = step.shape.query if step.shape else None
    target = context.catalog.create_target(context.session, step.layout, shape, step.replace)
    context.output.response.target = Target(
        target.created,
        (step.loses_history and exists and (target.created or target.emptied)) or None,
        target.emptied or None,
        list(target.altered) or None,
    )
    name = step.layout.relation.name
    context.output.warnings += [f"{name}: {item}" for item in target.drift]
    context.output.missing |= {column: f"{name}: {item}" for column, item in target.missing.items()}


def replace_table(step: ReplaceTable, context: NodeContext) -> None:
    """Write a table as a whole. Raises EngineError."""
    _replace_rows(step.layout, step.sql, context)


def clone_table(step: CloneTable, context: NodeContext) -> None:
    """Make a table a shallow clone of another. Raises EngineError."""
    name = step.layout.relation.name
    if not context.catalog.clone(context.session, step.layout, step.source, replace=step.replaces):
        context.output.no_op = f"{name} exists, and --full-refresh replaces it"
        return
    context.output.response.statement = NoFigures("SHALLOW CLONE")


def create_branch(step: CreateBranch, context: NodeContext) -> None:
    """Make a branch of a table, where main is now. Raises EngineError, also where there is no such table."""
    session, layout = context.session, step.layout
    relation, branches = layout.relation, context.table_format(layout.format).branches
    if not context.catalog.adopt(session, layout):
        hint = "build it first: a branch is one of a table"
        raise EngineError("missing-input", f"{relation.name} has not been built yet", hint)
    if step.branch in branches.heads(session, relation):
        if not step.replaces:
            context.output.no_op = f"{relation.name} has the branch {step.branch}, and --full-refresh replaces it"
            return
        branches.drop(session, relation, step.branch)
    branches.begin(session, relation, step.branch)
    context.output.response.statement = NoFigures("CREATE BRANCH")


def define_view(step: DefineView, context: NodeContext) -> None:
    """Create or replace a view. Raises EngineError."""
    context.catalog.define_view(context.session, step.relation, step.sql, step.definition)
    context.output.response.statement = NoFigures("CREATE VIEW")


def load_seed(step: LoadSeed, context: NodeContext) -> None:
    """Write the rows of a CSV file as a table. Raises EngineError."""
    reader = context.session.read.options(header=True, delimiter=step.delimiter, multiLine=True, escape='"')
    names = reader.csv(str(step.path)).columns
    types = {name.lower(): data_type for name, data_type in step.types.items()}
    if any(name.lower() not in types for name in names):
        # Only for the columns without a type: a text such as 007 would have lost its zeros before any cast.
        inferred = reader.option("inferSchema", True).csv(str(step.path)).schema
        types = {field.name.lower(): field.dataType.simpleString() for field in inferred} | types
    schema = ", ".join(f"{quote(name)} {types[name.lower()]}" for name in names)
    rows = reader.schema(schema).option("mode", "FAILFAST").csv(str(step.path))
    view = "__seed__"
    rows.createOrReplaceTempView(view)
    _replace_rows(step.layout, f"SELECT * FROM {view}", context)


def _replace_rows(layout: Layout, query: str, context: NodeContext) -> None:
    replaced = context.catalog.replace_table(context.session, layout, query)
    context.output.response.statement = NoFigures(replaced.operation)
    context.output.warnings += [f"{layout.relation.name}: {item}" for item in replaced.drift]
    table_format = context.table_format(layout.format)
    commit = table_format.commit_with(context.session, layout.relation, context.stamp)
    if commit is not None:
        # A table that is written as a whole: what it has now is what was written.
        rows = commit.metrics.get(table_format.replaced_rows_metric)
        affected = int(rows) if rows is not None else None
        context.output.response.statement = TableFigures(replaced.operation, affected, commit.version)
