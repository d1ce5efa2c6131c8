"""Which files a Delta MERGE would read: Spark's EXPLAIN of it has no scan.

Delta itself looks for them: in a query of the target with the conditions of ON that name nothing but the target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.spark.sql import files_read, temporary_confs
from merge_runner.engine.table_format.protocol import ScanSize, TableState
from merge_runner.relation import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.plan.steps.merge import RunMerge
    from merge_runner.pruning.judge.merge_analysis import JudgedMerge

_LIKE_A_MERGE = {
    # A query may be asked by conditions that follow from its own; the files of a MERGE are looked for by ON as it is.
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.databricks.delta.generatedColumn.partitionFilterOptimization.enabled": "false",
}


def target_files(session: SparkSession, merge: RunMerge, whole: TableState, notes: list[str]) -> ScanSize | None:
    """Delta looks for files by the conditions of ON that name nothing but the target, in no other way.

    Source: MergeIntoCommandBase.getTargetOnlyPredicates; without a pruning condition at all where a clause is
    WHEN NOT MATCHED BY SOURCE.
    """
    statement, judgement = merge.judged.statement, merge.judged.judgement
    total = ScanSize(whole.files, whole.bytes)
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
        return _scan_size(session, f"SELECT 1 FROM {merge.target}{alias} WHERE {where}")


def _scan_size(session: SparkSession, query: str) -> ScanSize:
    """Return what a query of one table would read. Raises EngineError."""
    if not hasattr(session, "_jsparkSession"):
        return ScanSize(files_read(session, query), None)  # a server names the files, and not their sizes
    with engine_errors(query):
        plan: Any = session.sql(query)._jdf.queryExecution().optimizedPlan()
        leaf = plan.collectLeaves().head()
        if leaf.getClass().getSimpleName() != "LogicalRelation":
            return ScanSize(0, 0)  # no row can pass: the optimizer has taken the table away
        # Delta has found the files while the plan was optimized (PreparedDeltaFileIndex).
        index = leaf.relation().location()
        return ScanSize(int(index.preparedScan().files().size()), int(index.sizeInBytes()))


def _when_prunes(merge: JudgedMerge) -> bool:
    """Whether Delta looks for files by the WHEN conditions as well."""
    if any(clause.kind != "matched" for clause in merge.statement.clauses):
        return False
    return all(any(condition.side == "target" for condition in clause) for clause in merge.judgement.when)
