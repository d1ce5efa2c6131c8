"""What the name under a cursor means: a model, a macro, a column, a config key."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from merge_runner.graph.graph import ModelNode, Node, SourceNode
from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.documents.query_columns import QueryColumns
from merge_runner.lsp.syntax.outline import Entry, toml_outline, yaml_outline
from merge_runner.lsp.syntax.relations import Relation, Select, Statements, Subject
from merge_runner.lsp.syntax.statements import statements
from merge_runner.lsp.syntax.tokens import Call, Scanned, Token, call_at
from merge_runner.template.packages import installed_macro
from merge_runner.text import Span

Kind = Literal["node", "macro", "var", "column", "relation", "config", "key", "rule", "builtin"]

CONFIG_COLUMNS = frozenset({"partition_by", "cluster_by", "unique_key", "sort_by", "bounds"})
"""Config keys whose values are columns of the model."""


@dataclass(frozen=True)
class Symbol:
    """A name at `span`. `node` is the model, seed or source that it is, or that has the column where that is known.

    A `relation` is an alias or a CTE of the statement; a `key` is one of YAML or TOML, `path` leads to it.
    """

    kind: Kind
    name: str
    span: Span
    node: Node | None = None
    relation: Relation | None = None
    select: Select | None = None
    qualifier: str | None = None
    path: tuple[str, ...] = ()


def symbol_at(project: ProjectIndex, path: str, text: str, offset: int) -> Symbol | None:
    """Return what a cursor at `offset` of a file is on; None for nothing that has a meaning."""
    if path.endswith((".yml", ".yaml")):
        return _yaml_symbol(project, yaml_outline(text), offset)
    if path.endswith(".toml"):
        return _toml_symbol(toml_outline(text), offset)
    return _sql_symbol(project, path, statements(text), offset) if path.endswith(".sql") else None


def _sql_symbol(project: ProjectIndex, path: str, syntax: Statements, offset: int) -> Symbol | None:
    scan = syntax.scan
    token = scan.token_at(offset)
    if token is None:
        return None
    if token.kind == "comment":
        return rule_at(token.text, token.start, offset)
    if token.tag >= 0:
        return _jinja_symbol(project, path, scan, token, call_at(scan, offset))
    return name_symbol(project, project.model_at(path), syntax, token) if token.is_name else None


COMMENT = re.compile(r"#|--|//|/\*")
"""Where a comment begins, in a line of any language."""
_NOQA = re.compile(r"\bnoqa\s*:\s*(?P<words>[\w ,-]*)", re.IGNORECASE)


def rule_at(comment: str, start: int, offset: int) -> Symbol | None:
    """Return the rule code that a cursor is on, in a comment, or a line with one, that begins at `start`."""
    mark = COMMENT.search(comment)
    noqa = _NOQA.search(comment, mark.end()) if mark is not None else None
    if noqa is None:
        return None
    for word in re.finditer(r"\w+", noqa["words"]):
        begin = start + noqa.start("words") + word.start()
        if begin <= offset <= begin + len(word.group()):
            return Symbol("rule", word.group(), Span(begin, begin + len(word.group())))
    return None


def _jinja_symbol(project: ProjectIndex, path: str, scan: Scanned, token: Token, call: Call | None) -> Symbol | None:
    here = project.model_at(path)
    tokens = scan.of_tag(token.tag)
    at = tokens.index(token)
    if token.kind == "string":
        return _string_symbol(project, path, token, call)
    if token.kind != "word":
        return None
    if at and tokens[at - 1].text == ".":
        return _attribute_symbol(tokens, at)
    if (
        call is not None
        and call.name.text == "config"
        and any(argument.keyword == token for argument in call.arguments)
    ):
        return Symbol("config", token.text, token.span)
    if token.text == "this":
        return Symbol("node", token.text, token.span, here) if here is not None else None
    if token.text in project.macros:
        return Symbol("macro", token.text, token.span)
    is_called = at + 1 < len(tokens) and tokens[at + 1].text == "("
    if at and tokens[at - 1].text in ("macro", "test") and is_called:
        return Symbol("macro", token.text, token.span)
    return Symbol("builtin", token.text, token.span)


def _attribute_symbol(tokens: Sequence[Token], at: int) -> Symbol | None:
    """Return the macro of a package that a word after a dot is."""
    name = f"{tokens[at - 2].text}.{tokens[at].text}" if at > 1 else ""
    return Symbol("macro", name, tokens[at].span) if installed_macro(name) is not None else None


def _string_symbol(project: ProjectIndex, path: str, token: Token, call: Call | None) -> Symbol | None:
    if call is None:
        return None
    name, span = token.value, token.value_span
    argument = next((candidate for candidate in call.arguments if token in candidate.tokens), None)
    if call.name.text in ("ref", "changes"):
        return Symbol("node", name, span, project.refs.get(name))
    if call.name.text == "source":
        return _source_symbol(project, call, token)
    if call.name.text == "var" and argument is call.arguments[0]:
        return Symbol("var", name, span)
    if installed_macro(call.name.text) is not None:
        node = call_source(project, call)
        is_column = node is not None and project.columns(node).find(name) is not None
        return Symbol("column", name, span, node) if is_column else None
    if call.name.text == "config" and argument is not None and argument.keyword is not None:
        if argument.keyword.text in CONFIG_COLUMNS and re.fullmatch(r"\w+", name):
            return Symbol("column", name, span, project.model_at(path))
        return Symbol("config", argument.keyword.text, argument.keyword.span)
    return None


def call_source(project: ProjectIndex, call: Call) -> Node | None:
    """Return the node that a call of a pattern's macro reads: its `source`, or its first argument."""
    source_arguments = (
        argument for argument in call.arguments if argument.keyword is not None and argument.keyword.text == "source"
    )
    argument = next(source_arguments, call.arguments[0])
    strings = tuple(token.value for token in argument.tokens if token.kind == "string")
    first = argument.tokens[0].text if argument.tokens else ""
    if (first, len(strings)) == ("ref", 1):
        return project.node(Subject("ref", strings))
    return project.node(Subject("source", strings)) if (first, len(strings)) == ("source", 2) else None


def _source_symbol(project: ProjectIndex, call: Call, token: Token) -> Symbol:
    names = [argument.text.value if argument.text is not None else "" for argument in call.arguments]
    node: Node | None = project.sources.get((names[0], names[1])) if len(names) > 1 else None
    is_first = call.arguments[0].text == token
    if is_first and node is None:
        node = next((candidate for (source, _), candidate in project.sources.items() if source == names[0]), None)
    return Symbol("node", token.value, token.value_span, node, path=("source",) if is_first else ())


def name_symbol(names: QueryColumns, here: ModelNode | None, syntax: Statements, token: Token) -> Symbol | None:
    """Return what a name in SQL means, in a text of the model `here` or of none."""
    for select in syntax.selects:
        for relation in select.relations:
            if relation.name_span is not None and relation.name_span == token.value_span:
                node, origin = _node(names, relation, here), _origin(select, relation)
                return Symbol("relation", token.value, token.value_span, node, origin)
    cte = next((candidate for candidate in syntax.ctes if candidate.name_span == token.value_span), None)
    if cte is not None:
        return Symbol("relation", token.value, token.value_span, None, cte)
    scope = syntax.at(token.start)
    return _scoped_symbol(names, here, syntax.scan, scope, token) if scope is not None else None


def _node(names: QueryColumns, relation: Relation, here: ModelNode | None) -> Node | None:
    return names.node(relation.subject, here) if relation.query is None else None


def _scoped_symbol(
    names: QueryColumns, here: ModelNode | None, scan: Scanned, scope: Select, token: Token
) -> Symbol | None:
    """Return the relation or column that a name inside a SELECT or MERGE means."""
    for relation in scope.visible():
        inside = relation.span.start <= token.start and token.end <= relation.span.end
        if inside and relation.subject.kind == "table":
            cte = scope.ctes.get(token.value.casefold())
            node = _node(names, relation, here)
            return Symbol("relation", token.value, token.value_span, node, cte or relation)
    tokens = [other for other in scan.tokens if other.tag < 0 and other.kind != "comment"]
    at = tokens.index(token)
    if _is_dot(tokens, at + 1) and tokens[at + 1].start == token.end:
        qualified = names.qualified(scope, token.value, here)
        if qualified is not None:
            node, origin = _node(names, qualified, here), _origin(scope, qualified)
            return Symbol("relation", token.value, token.value_span, node, origin)
    qualifier = tokens[at - 2].value if at > 1 and _is_dot(tokens, at - 1) else None
    if qualifier is None and at + 1 < len(tokens) and tokens[at + 1].text == "(":
        return None  # a function
    if qualifier is None and scope.kind == "merge":
        lists = scope.target_lists
        if any(span.start <= token.start <= span.end for span in lists) and scope.target is not None:
            target_column = names.relation_columns(scope.target, here).find(token.value)
            if target_column is not None:
                return Symbol("column", token.value, token.value_span, target_column.node, scope.target, scope)
    column = names.column(scope, qualifier, token.value, here)
    if column is None and qualifier is None:
        return None
    owner = names.qualified(scope, qualifier, here) if qualifier is not None else None
    return Symbol("column", token.value, token.value_span, column.node if column else None, owner, scope, qualifier)


def _origin(select: Select, relation: Relation) -> Relation:
    """Return the CTE that a relation names without an alias, else the relation."""
    own_name = relation.name_span is not None and relation.name_span.end <= relation.span.end
    if relation.subject.kind == "table" and own_name and len(relation.subject.parts) == 1:
        return select.ctes.get(relation.subject.parts[0].casefold()) or relation
    return relation


def _is_dot(tokens: list[Token], at: int) -> bool:
    return 0 <= at < len(tokens) and tokens[at].text == "."


_CALL = re.compile(r"""\b(?P<name>ref|source)\s*\(\s*['"](?P<first>\w+)['"]\s*(?:,\s*['"](?P<second>\w+)['"])?""")


def _yaml_symbol(project: ProjectIndex, root: Entry, offset: int) -> Symbol | None:
    entries = [entry for entry in root.walk() if entry.key is not None]
    for entry in entries:
        if entry.span.start <= offset <= entry.span.end and entry.key is not None:
            return _row_key(project, entry) or Symbol("key", entry.key, entry.span, path=entry.path)
    for entry in root.walk():
        if entry.value_span.start <= offset <= entry.value_span.end and not entry.children and entry.value:
            return _yaml_value(project, entry, offset)
    return None


def _row_key(project: ProjectIndex, entry: Entry) -> Symbol | None:
    """Return the column whose value a row of a unit test gives or expects."""
    node = row_node(project, entry) if entry.path[-3:-1] == ("rows", "[]") else None
    return Symbol("column", entry.key or "", entry.span, node) if node is not None else None


def row_node(project: ProjectIndex, entry: Entry) -> Node | None:
    """Return the model, seed or source whose rows a unit test gives or expects at this entry of YAML."""
    input_entry, test = entry.around("given"), entry.around("unit_tests")
    if input_entry is not None:
        input_name = input_entry.get("input")
        if input_name is not None and (call := _CALL.search(input_name.value)) is not None:
            return named_node(project, call)
        if input_name is not None and input_name.value != "this":
            return None
    model = test.get("model") if test is not None else None
    return project.refs.get(model.value) if model is not None else None


def named_node(project: ProjectIndex, call: re.Match[str]) -> Node | None:
    """Return the node of a `ref('…')` or `source('…', '…')` in YAML."""
    subject = Subject("ref", (call["second"] or call["first"],))
    if call["name"] == "source":
        subject = Subject("source", (call["first"], call["second"] or ""))
    return project.node(subject)


def described_node(project: ProjectIndex, entry: Entry) -> Node | None:
    """Return the model, seed or source that YAML describes around an entry."""
    for key in ("tables", "models", "seeds"):
        item = entry.around(key)
        name = item.get("name") if item is not None else None
        if item is None or name is None:
            continue
        if key != "tables":
            return project.refs.get(name.value)
        source = item.around("sources")
        source_name = source.get("name") if source is not None else None
        return project.sources.get((source_name.value, name.value)) if source_name is not None else None
    return None


def _yaml_value(project: ProjectIndex, entry: Entry, offset: int) -> Symbol | None:
    path, name, span = entry.path, entry.value, entry.value_span
    for call in _CALL.finditer(name):
        part = "second" if call["second"] else "first"
        if span.start + call.start() <= offset <= span.start + call.end():
            inner = Span(span.start + call.start(part), span.start + call.end(part))
            return Symbol("node", call[part], inner, named_node(project, call))
    if path[-1] == "name":
        parent = path[-3] if len(path) > 2 else ""
        if parent == "columns":
            return Symbol("column", name, span, described_node(project, entry))
        if parent in ("models", "seeds", "tables"):
            return Symbol("node", name, span, described_node(project, entry))
        if parent == "macros":
            return Symbol("macro", name, span)
        if parent == "sources":
            source = next((source_node for (source, _), source_node in project.sources.items() if source == name), None)
            return Symbol("node", name, span, source, path=("source",))
    if path[-1] == "model" and "unit_tests" in path:
        return Symbol("node", name, span, project.refs.get(name))
    if path[-1] == "field":
        to = entry.parent.get("to") if entry.parent is not None else None
        reference = _CALL.search(to.value) if to is not None else None
        return Symbol("column", name, span, named_node(project, reference) if reference is not None else None)
    key = path[-1] if path[-1] != "[]" else path[-2]
    if key in CONFIG_COLUMNS and re.fullmatch(r"\w+", name):
        return Symbol("column", name, span, described_node(project, entry))
    return Symbol("key", entry.key or key, entry.span, path=path)


def _toml_symbol(root: Entry, offset: int) -> Symbol | None:
    for entry in root.walk():
        on_key = entry.span.start <= offset <= entry.span.end
        if (on_key or entry.value_span.start <= offset <= entry.value_span.end) and entry.key is not None:
            if entry.path[:3] == ("tool", "merge-runner", "vars") and len(entry.path) == 4 and on_key:
                return Symbol("var", entry.key, entry.span, path=entry.path)
            return Symbol("key", entry.key, entry.span, path=entry.path)
    return None


def is_source_name(symbol: Symbol) -> bool:
    """Return whether a symbol is the name of a source, not that of one of its tables."""
    return isinstance(symbol.node, SourceNode) and symbol.path == ("source",)
