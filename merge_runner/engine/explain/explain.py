"""Asks the engine how it would run a MERGE, and which files of the target it would read; nothing runs.

Spark's EXPLAIN of a Delta MERGE contains no scan, so the files are counted where Delta itself looks for them: in a
query of the target with the conditions of ON that name nothing but the target. An Iceberg MERGE is planned as it would
run: its scan of the target says which files it would read, and its plan shows what is shuffled and sorted.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from merge_runner.engine.explain.shuffle_trials import remedied
from merge_runner.engine.merge.change_feed_source import open_feed
from merge_runner.engine.spark.errors import EngineError, engine_error, from_engine
from merge_runner.engine.spark.jvm_util import java_class
from merge_runner.engine.spark.session_conf import temporary_confs
from merge_runner.engine.spark.sql import files_read, run_statement
from merge_runner.engine.table_format.protocol import TableFormat
from merge_runner.engine.tables.catalog import Catalog, table_exists
from merge_runner.plan.explain.shuffle_remedies import shuffled_when_bounded
from merge_runner.plan.explain.spark_explain import EngineTold, TargetFiles
from merge_runner.plan.steps.inputs import AttachInputs, FileInput
from merge_runner.plan.steps.merge import RunHook, RunMerge
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.plan.steps.table import CreateTarget
from merge_runner.relation import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

    from merge_runner.plan.steps.inputs import Input
    from merge_runner.pruning.judge.merge_analysis import JudgedMerge

_REFUSED = "Error occurred during query planning"
"""What EXPLAIN answers instead of raising (Spark's ExplainCommand)."""

_LIKE_A_MERGE = {
    # A query may be asked by conditions that follow from its own; the files of a MERGE are looked for by ON as it is.
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.databricks.delta.generatedColumn.partitionFilterOptimization.enabled": "false",
}


class _RefusedError(Exception):
    """EXPLAIN's answer, as an error that says the same."""


def explain_merge(session: SparkSession, catalog: Catalog, plan: NodePlan, conf: Mapping[str, str]) -> EngineTold:
    """What the engine would do for the MERGE of a plan, in a session that has the node's confs; `conf` are its own.

    Its inputs and its target are attached where they are there; an input or a target that has not been built yet is a
    note. Raises EngineError where the engine refuses the statement.
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
        return EngineTold(notes=tuple(notes))
    if create.layout.format == "iceberg" and merge.judged.statement.schema_evolution:
        # Spark 4.1.4 adds columns to an Iceberg table, and widens them, as it analyses the statement.
        return EngineTold(notes=("WITH SCHEMA EVOLUTION would change an Iceberg table while it is planned: not asked",))
    if merge.feed is not None:
        open_feed(session, merge.feed)
        notes.append(f"planned without rows in {merge.feed.view.name}: which changes there are is asked when it runs")
    try:
        told = _explain(session, merge.sql)
    except EngineError as error:
        if any(isinstance(step, RunHook) and step.when == "pre_hook" for step in plan.steps):
            error.add_hint("explain runs no hooks: what its pre_hook makes is not there")
        raise
    files, counted = _files(session, merge, catalog.table_format(create.layout.format))
    notes += counted
    if merge.bounding is not None and merge.bounding.left_out is None:
        notes.append(f"counted without what comes when it runs: {merge.bounding}")
    found = None
    if create.layout.format == "iceberg":
        found = remedied(session, merge, told, conf, create.layout.properties, partial(_explain, session))
        notes += shuffled_when_bounded(merge.bounding, told)
    return EngineTold(told, files, tuple(notes), shuffles=found)


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
    asked = f"EXPLAIN FORMATTED {statement}"
    answer = "\n".join(str(row[0]) for row in run_statement(session, asked))
    if answer.startswith(_REFUSED):
        raise engine_error(_RefusedError(answer.removeprefix(_REFUSED).lstrip(": \n")), asked)
    return answer


def _files(session: SparkSession, merge: RunMerge, table_format: TableFormat) -> tuple[TargetFiles, list[str]]:
    total = table_format.state(session, merge.target).files
    count = _iceberg_files if table_format.name == "iceberg" else _delta_files
    notes: list[str] = []
    try:
        read = count(session, merge, total, notes)
    except Exception as error:
        if not from_engine(error):
            raise
        # The engine has planned the statement: only the lookup of its files failed, and the plan is worth showing.
        read = None
        notes.append(f"its files cannot be counted: {engine_error(error).message}")
    return TargetFiles(total, read), notes


def _delta_files(session: SparkSession, merge: RunMerge, total: int, notes: list[str]) -> int | None:
    """Delta looks for files by the conditions of ON that name nothing but the target, in no other way.

    Source: MergeIntoCommandBase.getTargetOnlyPredicates; without a pruning condition at all where a clause is
    WHEN NOT MATCHED BY SOURCE.
    """
    statement, judgement = merge.judged.statement, merge.judged.judgement
    if any(clause.kind == "not_matched_by_source" for clause in statement.clauses):
        return total
    if any(condition.side == "unknown" for condition in judgement.on):
        notes.append("ON has a condition that cannot be read: whether it names nothing but the target is not known")
        return None
    if any(condition.side == "both" and condition.prunes is not False for condition in judgement.on):
        notes.append(
            "Spark takes out of an OR in ON what its legs ask of the target: that cannot be counted beforehand"
        )
        return None
    if _when_prunes(merge.judged):
        notes.append("counted by ON alone: WHEN conditions may leave out more")
    conditions = [condition.text for condition in judgement.on if condition.side in ("target", "none")]
    if not conditions:
        return total
    alias = f" AS {quote(statement.target.alias)}" if statement.target.alias else ""
    where = " AND ".join(f"({condition}\n)" for condition in conditions)
    with temporary_confs(session, _LIKE_A_MERGE):
        return files_read(session, f"SELECT 1 FROM {merge.target}{alias} WHERE {where}")


def _when_prunes(merge: JudgedMerge) -> bool:
    """Whether Delta looks for files by the WHEN conditions as well."""
    if any(clause.kind != "matched" for clause in merge.statement.clauses):
        return False
    return all(any(condition.side == "target" for condition in clause) for clause in merge.judgement.when)


def _iceberg_files(session: SparkSession, merge: RunMerge, _total: int, notes: list[str]) -> int | None:
    """The data files in the tasks of the scans of the target; over Spark Connect there is no plan to ask."""
    java: Any = getattr(session, "_jsparkSession", None)
    if java is None:
        notes.append("Spark Connect does not report which files a plan reads")
        return None
    state = java.sessionState()
    mode = java_class(session, "org.apache.spark.sql.execution.CommandExecutionMode")
    # Else the command would run while it is planned.
    planned = state.executePlan(state.sqlParser().parsePlan(merge.sql), mode.SKIP())
    names = {merge.target.name.casefold(), f"{session.catalog.currentCatalog()}.{merge.target.name}".casefold()}
    leaves = planned.sparkPlan().collectLeaves()
    scans = [leaves.apply(index) for index in range(leaves.size())]
    files: set[str] = set()
    for scan in scans:
        if scan.getClass().getSimpleName() == "BatchScanExec" and str(scan.table().name()).casefold() in names:
            parts = scan.inputPartitions()
            for index in range(parts.size()):
                tasks = parts.apply(index).taskGroup().tasks()
                files.update(str(task.file().location()) for task in tasks.toArray())
    return len(files)
