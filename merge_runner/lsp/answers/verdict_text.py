"""The verdict on a MERGE with its proof, the layout of a table and its columns, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from merge_runner.graph.graph import Node
from merge_runner.lint.context import LintedMerge
from merge_runner.lint.report import ReportedMerge
from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.documents.query_columns import Columns, KnownColumn
from merge_runner.merge.syntax.placeholder import as_written
from merge_runner.plan.explain.join_strategy import engine_plan
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.verdict import Condition

_MARKS = {True: "✓", False: "✗", None: "?"}
_MANY = 40
"""As many columns are listed."""


def verdict_text(merge: LintedMerge) -> str:
    """Return what `merge-runner explain` and `lint -v` say of a MERGE."""
    judgement, statement = merge.judgement, merge.statement
    purpose = " (`scan: full`)" if judgement.verdict == "none" and merge.scans_all_on_purpose else ""
    lines = [f"**{judgement.verdict}**{purpose}: {as_written(judgement.reason)}", ""]
    lines += [condition_text(condition) for condition in judgement.on]
    lines += [""] if judgement.on else []
    relation = merge.file.relation
    target = relation.name if relation is not None else ".".join(statement.target.parts)
    lines.append(f"target `{target}`: {layout_text(merge.layout)}; {statement.merge_class}")
    plan = engine_plan(merge)
    lines += ["", f"on {plan.format}: {plan.words}"] if plan is not None else []
    return "\n".join(lines)


def reported_text(merge: ReportedMerge) -> str:
    """Return what `lint -v` says of a MERGE in a file that is no model."""
    lines = [f"**{merge.verdict}**: {as_written(merge.reason)}", ""]
    lines += [condition_line(conjunct.prunes, conjunct.text, conjunct.reason) for conjunct in merge.conjuncts]
    lines += [""] if merge.conjuncts else []
    target = code(as_written(merge.target))
    return "\n".join([*lines, f"target {target}: {merge.format or 'format not known'}; {merge.merge_class}"])


def condition_text(condition: Condition) -> str:
    """Return whether a condition prunes, and why, as an item of a list."""
    unbounded = f" ({as_written(condition.unbounded)})" if condition.unbounded is not None else ""
    return condition_line(condition.prunes, condition.text, condition.reason) + unbounded


def condition_line(prunes: bool | None, text: str, reason: str) -> str:
    """Return a condition and why it prunes, or does not, as an item of a list."""
    return f"- {_MARKS[prunes]} {code(as_written(text))} {as_written(reason)}"


def code(text: str) -> str:
    """Return a text as code in a line of Markdown."""
    line = " ".join(text.split())
    fence = "``" if "`" in line else "`"
    return f"{fence}{line}{fence}"


def layout_text(layout: TableLayout) -> str:
    """Return the format and layout of a table in a line."""
    return ", ".join(_layout(layout))


def _layout(layout: TableLayout) -> Iterator[str]:
    yield layout.format or "format not known"
    if layout.partition_by:
        yield f"partitioned by {_codes(map(str, layout.partition_by))}"
    if layout.cluster_by:
        yield f"clustered by {_codes(layout.cluster_by)}"
    if layout.sort_by:
        yield f"sorted by {_codes(layout.sort_by)}"
    if layout.partition_by == () and not layout.cluster_by:
        yield "no partitions"
    if layout.partition_by is None:
        yield "partitions not known"
    if layout.files is not None:
        yield f"{layout.files:,} files when recorded"


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def node_text(project: ProjectIndex, node: Node) -> str:
    """Return what a model, seed or source is: its table, layout, description and columns."""
    kind = node.materialized or node.resource_type
    relation = f" `{node.relation.name}`" if node.relation is not None and kind != "ephemeral" else ""
    lines = [f"**{node.full_name}** ({kind}){relation}"]
    lines += ["", node.description] if node.description else []
    lines += ["", layout_text(project.layout(node))] if kind not in ("view", "ephemeral") else []
    columns = columns_text(project.columns(node))
    lines += ["", columns] if columns else []
    return "\n".join(lines)


def columns_text(columns: Columns) -> str:
    """Return columns with their types and descriptions as a table; "" for none."""
    if not columns.items:
        return ""
    rows = [
        f"| `{column.name}` | {type_text(column)} | {_cell(column.description)} |" for column in columns.items[:_MANY]
    ]
    more = len(columns.items) - _MANY
    rows += [f"| … {more} more | | |"] if more > 0 else []
    rows += [] if columns.complete else ["| … | | there may be others |"]
    return "\n".join(["| column | type | |", "|---|---|---|", *rows])


def type_text(column: KnownColumn) -> str:
    """Return the type of a column, and whether it takes NULL; "" where neither is known."""
    return f"{column.data_type}{' not null' if column.nullable is False else ''}".strip()


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
