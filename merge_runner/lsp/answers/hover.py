"""What is shown of the text under a cursor."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.graph.graph import ModelNode
from merge_runner.lint.documentation import summary
from merge_runner.lint.registry import rules
from merge_runner.lsp.answers.lineage_view import column_origin
from merge_runner.lsp.answers.verdict_text import columns_text, condition_text, node_text, type_text, verdict_text
from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.documents.query_columns import KnownColumn, QueryColumns
from merge_runner.lsp.documents.unsaved import unsaved
from merge_runner.lsp.names.built_ins import BUILT_INS, PACKAGE_TEXTS
from merge_runner.lsp.names.documented_keys import config_keys, key_at, schema_name
from merge_runner.lsp.names.symbol import Symbol, symbol_at
from merge_runner.lsp.syntax.relations import Select
from merge_runner.lsp.syntax.statements import statements
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.text import Span

_LONGEST = 4_000
"""As many characters of what a macro renders to are shown."""


_NOT_JUDGED = "not judged: the text has a fault, or its config is not saved yet"


@dataclass(frozen=True)
class Hover:
    """A text as Markdown about the range `span`."""

    markdown: str
    span: Span


def hover(project: ProjectIndex, path: str, text: str, offset: int) -> Hover | None:
    """Return what is known of what a cursor is on; None where that is nothing."""
    content = (_sql_hover(project, path, text, offset) if path.endswith(".sql") else None) or _symbol_hover(
        project, path, text, offset
    )
    return Hover(project.prepared.conceal(content.markdown), content.span) if content is not None else None


def _sql_hover(project: ProjectIndex, path: str, text: str, offset: int) -> Hover | None:
    """Return the verdict on MERGE INTO and on a condition, and the columns of `*`."""
    syntax = statements(text)
    merge = syntax.merge
    if merge is not None and merge.target is not None and project.model_at(path) is not None:
        head = Span(merge.span.start, merge.target.span.start)
        if head.start <= offset < head.end:
            unsaved_merge = unsaved(project, path, text).merge
            return Hover(verdict_text(unsaved_merge) if unsaved_merge is not None else _NOT_JUDGED, head)
    token = syntax.scan.token_at(offset)
    scope = syntax.at(offset)
    if token is not None and token.text == "*" and token.tag < 0 and scope is not None:
        return star(project, project.model_at(path), scope, token.span)
    return None


def star(names: QueryColumns, here: ModelNode | None, scope: Select, span: Span) -> Hover | None:
    """Return the columns of a `*` at `span`."""
    output = next((output for output in scope.outputs if output.star and output.span == span), None)
    if output is not None:
        columns = names.star_columns(scope, output.qualifier, here)
    elif scope.kind == "merge" and len(scope.relations) > 1:
        columns = names.relation_columns(scope.relations[1], here)
    else:
        return None
    names_text = columns_text(columns)
    return Hover(names_text or "the columns are not known", span)


def _symbol_hover(project: ProjectIndex, path: str, text: str, offset: int) -> Hover | None:
    symbol = symbol_at(project, path, text, offset)
    if symbol is None:
        return _condition(project, path, text, offset)
    markdown = _text(project, path, text, symbol, offset)
    return Hover(markdown, symbol.span) if markdown else None


def _text(project: ProjectIndex, path: str, text: str, symbol: Symbol, offset: int) -> str:
    kind = symbol.kind
    if kind == "node":
        return node_text(project, symbol.node) if symbol.node is not None else f'there is no model "{symbol.name}"'
    if kind == "macro":
        return _macro(project, path, text, symbol, offset)
    if kind == "var":
        return _var(project, symbol.name)
    if kind == "column":
        condition = _condition(project, path, text, offset)
        column = _column(project, path, text, symbol)
        return "\n\n".join(part for part in (column, condition.markdown if condition is not None else "") if part)
    if kind == "relation":
        return _relation(project, path, symbol)
    if kind == "rule":
        return rule_text(symbol.name)
    if kind == "builtin":
        built_in = BUILT_INS.get(symbol.name) or PACKAGE_TEXTS.get(symbol.name)
        return f"`{built_in.signature}`\n\n{built_in.text}" if built_in is not None else ""
    key = config_keys().get(symbol.name) if kind == "config" else key_at(schema_name(path), symbol.path)
    return f"**{key.name}**\n\n{key.markdown}" if key is not None else ""


def rule_text(name: str) -> str:
    """Return what the rule of a code is about; "" for none."""
    rule = next((rule for rule in rules() if rule.code == name.upper()), None)
    return f"**{rule.code}** {rule.name}: {summary(rule)}" if rule is not None else ""


def _condition(project: ProjectIndex, path: str, text: str, offset: int) -> Hover | None:
    if not path.endswith(".sql"):
        return None
    unsaved_text = unsaved(project, path, text)
    condition = unsaved_text.condition_at(offset)
    if condition is None or unsaved_text.rendered is None:
        return None
    return Hover(condition_text(condition), unsaved_text.rendered.map.span(condition.span.start, condition.span.end))


def _macro(project: ProjectIndex, path: str, text: str, symbol: Symbol, offset: int) -> str:
    macro = project.macro(symbol.name)
    parts = []
    if macro is not None:
        parts = [f"```jinja\n{project.macro_signature(macro)}\n```", project.macro_text(macro)]
    syntax = statements(text)
    number = syntax.scan.tag_at(offset)
    if number is not None:
        produced = unsaved(project, path, text).produced(syntax.scan.tags[number].span)
        if produced:
            parts.append(f"here it renders to\n\n```sql\n{produced[:_LONGEST]}\n```")
    return "\n\n".join(part for part in parts if part)


def _var(project: ProjectIndex, name: str) -> str:
    values = project.prepared.files.vars
    if name not in values:
        return f"`{name}` is not declared in [tool.merge-runner.vars]"
    return f"var `{name}` = `{values[name]}`"


def _column(project: ProjectIndex, path: str, text: str, symbol: Symbol) -> str:
    column: KnownColumn | None = None
    if symbol.select is not None:
        column = project.column(symbol.select, symbol.qualifier, symbol.name, project.model_at(path))
    if column is None and symbol.node is not None:
        column = project.columns(symbol.node).find(symbol.name)
    if column is None:
        return ""
    owner = column.node or symbol.node
    if owner is None:
        return column_text(column, "", None)
    origin = column_origin(project, path, text, owner, column.name)
    described = column_text(column, owner.full_name, project.layout(owner))
    return f"{described}\n\n{origin}" if origin else described


def column_text(column: KnownColumn, owner: str, layout: TableLayout | None) -> str:
    """Return a column with its type, and what the layout of the table that it is of, the `owner`, says of it."""
    head = f"**{column.name}** {type_text(column)}".strip()
    where = f" of {owner}" if owner else ""
    notes = []
    if layout is not None and layout.partition_field(column.name) is not None:
        notes.append(f"partitioned by `{layout.partition_field(column.name)}`")
    if layout is not None and layout.is_clustered(column.name):
        notes.append("clustering column")
    return "\n\n".join(part for part in (head + where, column.description, ", ".join(notes)) if part)


def _relation(project: ProjectIndex, path: str, symbol: Symbol) -> str:
    if symbol.node is not None:
        return node_text(project, symbol.node)
    assert symbol.relation is not None
    return columns_text(project.relation_columns(symbol.relation, project.model_at(path)))
