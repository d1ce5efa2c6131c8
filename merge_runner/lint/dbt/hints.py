"""Help for findings in a dbt model, whose author writes a query and a config, and not the MERGE."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.dbt.manifest import DbtNode
    from merge_runner.lint.finding import Finding

_FULL = "if the whole table is meant to be scanned, set meta: {merge_runner: {scan: full}}"


def hint(finding: Finding, merge: LintedMerge | None, node: DbtNode) -> str | None:
    """Return what to change in the model for a finding; the rule's own help where the rule is about the query alone."""
    if node.kind == "snapshot":
        if finding.code in ("P001", "P002", "K001"):
            return f"dbt fixes the MERGE of a snapshot: {_FULL}"
        return "dbt fixes the MERGE of a snapshot: override the macro snapshot_merge_sql to change it"
    if merge is None:
        return finding.hint
    target = merge.statement.target.qualifier or "DBT_INTERNAL_DEST"
    if finding.code in ("P001", "P002", "K001"):
        column = _column(merge)
        where = f"{target}.{column} >= …" if column else f"{target}.<column> >= …, a column with file statistics"
        return f"restrict the target by incremental_predicates ({where}), and the model's query by the same; {_FULL}"
    if finding.code == "C001":
        return (
            "filter the model's query by the same condition (also in its incremental branch): incremental_predicates "
            "restrict the target only"
        )
    if finding.code == "C002":
        return "filter out the rows where it is NULL in the model's query, or add a not_null test to the column"
    if finding.code == "C004" and not node.config.get("unique_key"):
        without = "without it dbt merges ON FALSE, which updates no row and inserts every row of the query"
        return f"set unique_key: {without}; if an append is meant, set incremental_strategy: append"
    if finding.code in ("K002", "C008"):
        return "leave the column out of the update with merge_exclude_columns, or add it to unique_key"
    return finding.hint


def _column(merge: LintedMerge) -> str | None:
    """The column that a predicate would prune by; None where the layout has none."""
    layout = merge.layout
    if layout.partition_by:
        return layout.partition_by[0].column
    return layout.cluster_by[0] if layout.cluster_by else None
