"""What may be written at a cursor in SQL with Jinja."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from merge_runner.graph.graph import ModelNode, Node
from merge_runner.lint.registry import rules
from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.documents.query_columns import Columns, QueryColumns
from merge_runner.lsp.names.built_ins import BUILT_INS, PACKAGE_TEXTS
from merge_runner.lsp.names.documented_keys import DocumentedKey, config_keys
from merge_runner.lsp.names.symbol import COMMENT, CONFIG_COLUMNS, call_source
from merge_runner.lsp.syntax.relations import Statements
from merge_runner.lsp.syntax.statements import statements
from merge_runner.lsp.syntax.tokens import Call, Token, call_at
from merge_runner.template.packages import INSTALLED, installed_macro, patterns
from merge_runner.template.static.macro_definitions import MacroDefinition
from merge_runner.text import Span

Kind = Literal["model", "source", "macro", "var", "column", "relation", "key", "value", "rule", "builtin"]


@dataclass(frozen=True)
class Completion:
    """A text that may take the place of `replaces`; `insert` None: it is the label.

    `detail` is short: a type, a signature; `markdown` is the documentation.
    """

    label: str
    kind: Kind
    replaces: Span
    detail: str = ""
    markdown: str = ""
    insert: str | None = None


_NOQA_ENDS = re.compile(r"\bnoqa\Z", re.IGNORECASE)
_CODES = re.compile(r"[\w ,-]*")
READS_NEXT = re.compile(r"\b(?:from|join|using|into)\s+(?P<word>[\w.]*)\Z", re.IGNORECASE)
"""A relation is named next."""


def sql_completions(project: ProjectIndex, path: str, text: str, offset: int) -> list[Completion]:
    """Return what may be written at `offset` of a file with SQL and Jinja."""
    codes = noqa_codes(text, offset)
    if codes is not None:
        return codes
    syntax = statements(text)
    number = syntax.scan.tag_at(offset)
    if number is not None:
        return list(_in_tag(project, path, syntax, offset, number))
    if any(tag.span.start < offset < tag.span.end for tag in syntax.scan.tags):
        return []
    token = syntax.scan.token_at(offset)
    if token is not None and token.kind in ("string", "comment", "number") and token.start < offset:
        return []
    before = text[:offset]
    completions = list(in_sql(project, project.model_at(path), syntax, before, offset))
    reads = READS_NEXT.search(before)
    if reads is None or "." in reads["word"]:
        return completions
    word = Span(reads.start("word"), offset)
    tags = [(call, BUILT_INS[call].signature, f"{{{{ {call}('') }}}}") for call in ("ref", "source")]
    return [*completions, *(Completion(call, "builtin", word, signature, "", tag) for call, signature, tag in tags)]


def noqa_codes(text: str, offset: int) -> list[Completion] | None:
    """Return the codes of the rules after `noqa:` in a comment; None where a cursor is elsewhere."""
    head, _, codes = text[text.rfind("\n", 0, offset) + 1 : offset].rpartition(":")
    noqa = _NOQA_ENDS.search(head.rstrip(), max(0, len(head.rstrip()) - 4))
    if noqa is None or COMMENT.search(head, 0, noqa.start()) is None or not _CODES.fullmatch(codes.lstrip()):
        return None
    replaces = Span(offset - len(_last_word(codes)), offset)
    return [Completion(rule.code, "rule", replaces, rule.name, f"**{rule.code}** {rule.name}") for rule in rules()]


def in_sql(
    names: QueryColumns,
    here: ModelNode | None,
    syntax: Statements,
    before: str,
    offset: int,
    *,
    columns_only: bool = False,
) -> Iterator[Completion]:
    """Yield columns and relations in a text of the model `here`, or of none.

    `before` is the text before the cursor, `offset` the place whose relations count.
    """
    scope = syntax.at(offset)
    prefix = _last_word(before)
    word = Span(offset - len(prefix), offset)
    qualifier = _qualifier(before.removesuffix(prefix).rstrip())
    if qualifier:
        relation = names.qualified(scope, qualifier, here) if scope is not None else None
        if relation is not None:
            yield from columns(names.relation_columns(relation, here), word)
        return
    if READS_NEXT.search(before) and not columns_only:
        for name in scope.ctes if scope is not None else ():
            yield Completion(name, "relation", word, "CTE")
        return
    if scope is None:
        return
    if scope.target is not None and any(span.start <= offset <= span.end for span in scope.target_lists):
        yield from columns(names.relation_columns(scope.target, here), word)
    for relation in scope.visible():
        if relation.qualifier is not None:
            yield Completion(relation.qualifier, "relation", word, ".".join(relation.subject.parts))
    if scope.kind == "select":
        for relation in scope.relations:
            yield from columns(names.relation_columns(relation, here), word)


def _last_word(text: str) -> str:
    """Return the letters, digits and underscores that a text ends with."""
    start = len(text)
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return text[start:]


def _qualifier(text: str) -> str:
    """Return the name, quoted or not, before the dot that a text ends with; "" for none."""
    if not text.endswith("."):
        return ""
    name = text[:-1].rstrip()
    if name.endswith("`"):
        inside = name[name.rfind("`", 0, -1) + 1 : -1]
        return "" if "\n" in inside or name.find("`") == len(name) - 1 else inside
    return _last_word(name)


def columns(of_relation: Columns, replaces: Span) -> Iterator[Completion]:
    """Yield the columns of a relation."""
    for column in of_relation.items:
        name = column.name if re.fullmatch(r"[A-Za-z_]\w*", column.name) else "`" + column.name.replace("`", "``") + "`"
        yield Completion(column.name, "column", replaces, column.data_type, column.description, name)


def _in_tag(project: ProjectIndex, path: str, syntax: Statements, offset: int, number: int) -> Iterator[Completion]:
    scan = syntax.scan
    token = scan.token_at(offset)
    call = call_at(scan, offset)
    in_string = token is not None and token.kind == "string" and token.start < offset and token.tag == number
    if token is not None and in_string:
        if call is not None and offset <= token.value_span.end:
            yield from _in_string(project, path, syntax, call, token, offset)
        return
    word = Span(token.start, offset) if token is not None and token.kind == "word" else Span(offset, offset)
    if token is not None and token.kind == "number":
        return
    if call is not None and call.name.text == "config":
        yield from _config(project, call, word, offset)
        return
    tokens = scan.of_tag(number)
    previous = next((earlier for earlier in reversed(tokens) if earlier.end <= word.start), None)
    if previous is not None and previous.text in (".", "|"):
        at = tokens.index(previous)
        package = tokens[at - 1].text if at and previous.text == "." else ""
        yield from _macros(project, patterns(package) if package in INSTALLED else (), word)
        return
    yield from _macros(project, project.macros.values(), word)
    for name, package_text in PACKAGE_TEXTS.items():
        yield Completion(name, "builtin", word, package_text.signature, package_text.text, f"{name}.")
    for name, built_in in BUILT_INS.items():
        insert = name if "(" not in built_in.signature else f"{name}("
        yield Completion(name, "builtin", word, built_in.signature, built_in.text, insert)


def _macros(project: ProjectIndex, macros: Iterable[MacroDefinition], word: Span) -> Iterator[Completion]:
    for macro in macros:
        signature, text = project.macro_signature(macro), project.macro_text(macro)
        yield Completion(macro.name, "macro", word, signature, text, f"{macro.name}(")


def _config(project: ProjectIndex, call: Call, word: Span, offset: int) -> Iterator[Completion]:
    argument = call.arguments[min(call.argument_at(offset), len(call.arguments) - 1)]
    if argument.keyword is not None and argument.keyword.end < offset:
        key = config_keys().get(argument.keyword.text)
        if key is not None:
            yield from values(key, word, quote="'")
        return
    keywords = {call_argument.keyword.text for call_argument in call.arguments if call_argument.keyword is not None}
    for key in config_keys().values():
        if key.name not in keywords:
            yield Completion(key.name, "key", word, "", key.markdown, f"{key.name}=")


def values(key: DocumentedKey, replaces: Span, *, quote: str = "") -> Iterator[Completion]:
    """Yield the values of a key that takes few."""
    for value in key.values:
        yield Completion(value, "value", replaces, "", "", f"{quote}{value}{quote}")
    for value in ("true", "false") if key.boolean else ():
        yield Completion(value, "value", replaces)


def _in_string(
    project: ProjectIndex, path: str, syntax: Statements, call: Call, token: Token, offset: int
) -> Iterator[Completion]:
    here, replaces = project.model_at(path), token.value_span
    argument = next((candidate for candidate in call.arguments if token in candidate.tokens), None)
    at = call.arguments.index(argument) if argument is not None else 0
    name = call.name.text
    if name in ("ref", "changes"):
        yield from refs(project, replaces, here)
    elif name == "source":
        first = call.arguments[0].text
        yield from sources(project, replaces, first.value if at and first is not None else None)
    elif name == "var" and at == 0:
        for var, value in project.prepared.files.settings.vars.items():
            yield Completion(var, "var", replaces, project.prepared.conceal(str(value)))
    elif name == "config" and argument is not None and argument.keyword is not None:
        key = config_keys().get(argument.keyword.text)
        if argument.keyword.text in CONFIG_COLUMNS and here is not None:
            yield from columns(project.columns(here), replaces)
        elif key is not None:
            yield from values(key, replaces)
    elif installed_macro(name) is not None:
        node = call_source(project, call)
        yield from columns(project.columns(node), replaces) if node is not None else ()
    elif name in project.macros:
        prefix = syntax.scan.text[token.start + 1 : offset]
        yield from in_sql(project, here, syntax, prefix, offset, columns_only=True)


def refs(project: ProjectIndex, replaces: Span, here: ModelNode | None = None) -> Iterator[Completion]:
    """Yield the models and seeds that `ref` may name."""
    for name, node in project.refs.items():
        if node is not here:
            yield Completion(name, "model", replaces, _kind(node), node.description)


def sources(project: ProjectIndex, replaces: Span, source: str | None) -> Iterator[Completion]:
    """Yield the sources, or where one is given its tables."""
    if source is None:
        for name in dict.fromkeys(name for name, _ in project.sources):
            yield Completion(name, "source", replaces)
        return
    for (name, table), node in project.sources.items():
        if name == source:
            yield Completion(table, "source", replaces, f"{name}.{table}", node.description)


def _kind(node: Node) -> str:
    return node.materialized or node.resource_type
