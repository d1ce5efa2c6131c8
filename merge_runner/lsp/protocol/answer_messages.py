"""Answers as messages of the protocol, in the units of columns that the client counts in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lsprotocol import types

from merge_runner.lsp.answers.code_lenses import CodeLens
from merge_runner.lsp.answers.completion import MOST, typed
from merge_runner.lsp.answers.hover import Hover
from merge_runner.lsp.answers.inlay_hints import InlayHint
from merge_runner.lsp.answers.semantic_tokens import SemanticToken
from merge_runner.lsp.answers.sql_completion import Completion
from merge_runner.lsp.answers.symbols import DocumentSymbol
from merge_runner.lsp.answers.token_kinds import KINDS
from merge_runner.lsp.protocol.positions import Positions
from merge_runner.text import Span

_COMPLETIONS = {
    "model": types.CompletionItemKind.File,
    "source": types.CompletionItemKind.Folder,
    "macro": types.CompletionItemKind.Function,
    "var": types.CompletionItemKind.Variable,
    "column": types.CompletionItemKind.Field,
    "relation": types.CompletionItemKind.Struct,
    "key": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.EnumMember,
    "rule": types.CompletionItemKind.Constant,
    "builtin": types.CompletionItemKind.Keyword,
}
SYMBOLS = {
    "model": types.SymbolKind.Class,
    "source": types.SymbolKind.Interface,
    "macro": types.SymbolKind.Function,
    "test": types.SymbolKind.Method,
    "column": types.SymbolKind.Field,
    "relation": types.SymbolKind.Struct,
    "statement": types.SymbolKind.Operator,
    "key": types.SymbolKind.Property,
}


def markdown(text: str) -> types.MarkupContent:
    """Return a text as Markdown."""
    return types.MarkupContent(types.MarkupKind.Markdown, text)


def hover_message(positions: Positions, found: Hover) -> types.Hover:
    """Return what is shown under a cursor."""
    return types.Hover(markdown(found.markdown), positions.span(found.span))


def completion_list(
    positions: Positions, position: types.Position, offered: Sequence[Completion]
) -> types.CompletionList:
    """Return what may be written at a position, of `offered` what has the letters that are typed."""
    found = typed(offered, positions.text, positions.offset(position))
    shown = found[:MOST]
    items = [
        types.CompletionItem(
            each.label,
            kind=_COMPLETIONS[each.kind],
            detail=each.detail or None,
            documentation=markdown(each.markdown) if each.markdown else None,
            sort_text=f"{number:03}",
            filter_text=each.label,
            text_edit=types.TextEdit(positions.span(each.replaces), each.insert or each.label),
        )
        for number, each in enumerate(shown)
    ]
    return types.CompletionList(is_incomplete=len(shown) < len(found), items=items)


def inlay_hint(positions: Positions, hint: InlayHint) -> types.InlayHint:
    """Return a hint."""
    return types.InlayHint(positions.at(hint.offset), hint.label, tooltip=markdown(hint.markdown), padding_left=True)


def tokens_message(positions: Positions, tokens: Iterable[SemanticToken]) -> types.SemanticTokens:
    """Return five numbers for each name: its line and column after the one before it, its length, and its kind."""
    data: list[int] = []
    before = types.Position(0, 0)
    for token in tokens:
        found = positions.span(token.span)
        lines = found.start.line - before.line
        column = found.start.character - (0 if lines else before.character)
        data += [lines, column, found.end.character - found.start.character, KINDS.index(token.kind), 0]
        before = found.start
    return types.SemanticTokens(data)


def folding_message(positions: Positions, spans: Iterable[Span]) -> list[types.FoldingRange]:
    """Return the lines that fold."""
    ranges = (positions.span(span) for span in spans)
    return [types.FoldingRange(each.start.line, each.end.line) for each in ranges]


def symbol_message(positions: Positions, symbol: DocumentSymbol) -> types.DocumentSymbol:
    """Return a symbol with those in it."""
    children = [symbol_message(positions, each) for each in symbol.children]
    whole, name = positions.span(symbol.span), positions.span(symbol.name_span)
    return types.DocumentSymbol(symbol.name or "?", SYMBOLS[symbol.kind], whole, name, children=children)


def lens_message(positions: Positions, lens: CodeLens, uri: str, root: str) -> types.CodeLens:
    """Return a command with the folder `root` and the arguments of its command line, and the place that it is at."""
    span = positions.span(lens.span)
    place = {"textDocument": {"uri": uri}, "position": {"line": span.start.line, "character": span.start.character}}
    arguments = {"root": root, "arguments": list(lens.arguments), "at": place}
    return types.CodeLens(span, types.Command(lens.title, lens.command, arguments=[arguments]))
