"""Asks the engine how it would run a MERGE, and which files of the target it would read; nothing runs.

What a plan says of the target's files, and of what is shuffled and sorted, depends on its format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from merge_runner.engine.context import PastMerge
from merge_runner.engine.merge.change_feed_source import define_empty
from merge_runner.engine.merge.prediction import predict
from merge_runner.engine.spark.errors import EngineError, engine_error
from merge_runner.engine.spark.sql import run_statement
from merge_runner.engine.tables.catalog import Catalog, table_exists
from merge_runner.plan.explain.shuffle_remedies import shuffled_when_bounded
from merge_runner.plan.explain.spark_explain import EngineReport, TargetFiles
from merge_runner.plan.steps.inputs import AttachInputs, FileInput, Input
from merge_runner.plan.steps.merge import RunHook, RunMerge
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.plan.steps.table import CreateTarget

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_REFUSED = "Error occurred during query planning"
"""What EXPLAIN answers instead of raising (Spark's ExplainCommand)."""


class _RefusedError(Exception):
    """EXPLAIN's answer, as an error that says the same."""


def explain_merge(
    session: SparkSession, catalog: Catalog, plan: NodePlan, conf: Mapping[str, str], history: Sequence[PastMerge]
) -> EngineReport:
    """What the engine would do for the MERGE of a plan, in a session that has the node's confs; `conf` are its own.

    `history` are earlier runs of the MERGE. Its inputs and its target are attached where they are there; an input or a
    target that has not been built yet is a note. Raises EngineError where the engine refuses the statement.
    """
    create = next(step for step in plan.steps if isinstance(step, CreateTarget))
    merge = next(step for step in plan.steps if isinstance(step, RunMerge))
    notes = [
        f"{item.relation.name} is not built yet: build its model first" for item in _missing(session, catalog, plan)
    ]
    if not catalog.adopt(session, create.layout):
        notes.append(f"{merge.target.name} is not built yet: the first run creates it")
    elif create.replace:
        notes.append(f"{merge.target.name} is recreated by --full-refresh: none of its files is read")
    if notes:
        return EngineReport(notes=tuple(notes))
    table_format = catalog.table_format(create.layout.format)
    if merge.judged.statement.schema_evolution and table_format.capabilities.evolves_while_analysed:
        label = table_format.capabilities.label
        note = f"WITH SCHEMA EVOLUTION would change an {label} table while it is planned: not asked"
        return EngineReport(notes=(note,))
    if merge.feed is not None:
        define_empty(session, merge.feed)
        notes.append(f"planned without rows in {merge.feed.view.name}: which changes there are is asked when it runs")
    try:
        spark_plan = _explain(session, merge.sql)
    except EngineError as error:
        if any(isinstance(step, RunHook) and step.when == "pre_hook" for step in plan.steps):
            error.add_hint("explain runs no hooks: what its pre_hook makes is not there")
        raise
    predicted = predict(session, merge, table_format, history, notes)
    files = TargetFiles(table_format.state(session, merge.target).files, predicted.files)
    if merge.bounding is not None and merge.bounding.left_out is None:
        notes.append(f"counted without what comes when it runs: {merge.bounding}")
    shuffles = table_format.shuffles(
        session, merge, spark_plan, conf, create.layout.properties, partial(_explain, session)
    )
    if shuffles is not None:
        notes += shuffled_when_bounded(merge.bounding, spark_plan)
    return EngineReport(spark_plan, files, tuple(notes), shuffles=shuffles, predicted=predicted)


def _missing(session: SparkSession, catalog: Catalog, plan: NodePlan) -> list[Input]:
    """Attaches the inputs; gives those whose models have never been built."""
    missing: list[Input] = []
    for item in (item for step in plan.steps if isinstance(step, AttachInputs) for item in step.inputs):
        try:
            catalog.attach(session, item)
        except EngineError as error:
            # A view reads inputs that come before it.
            if error.code != "missing-input" and not missing:
                raise
            missing.append(item)
            continue
        if not isinstance(item, FileInput) and not table_exists(session, item.relation):
            missing.append(item)
    return missing


def _explain(session: SparkSession, statement: str) -> str:
    """The engine's plan of a statement. Raises EngineError where it has none."""
    explain = f"EXPLAIN FORMATTED {statement}"
    answer = "\n".join(str(row[0]) for row in run_statement(session, explain))
    if answer.startswith(_REFUSED):
        raise engine_error(_RefusedError(answer.removeprefix(_REFUSED).lstrip(": \n")), explain)
    return answer
