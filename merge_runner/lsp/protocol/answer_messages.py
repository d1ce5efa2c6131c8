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


def hover_message(positions: Positions, content: Hover) -> types.Hover:
    """Return what is shown under a cursor."""
    return types.Hover(markdown(content.markdown), positions.span(content.span))


def completion_list(
    positions: Positions, position: types.Position, completions: Sequence[Completion]
) -> types.CompletionList:
    """Return what may be written at a position, of `completions` those that have the letters that are typed."""
    matches = typed(completions, positions.text, positions.offset(position))
    first_matches = matches[:MOST]
    items = [
        types.CompletionItem(
            completion.label,
            kind=_COMPLETIONS[completion.kind],
            detail=completion.detail or None,
            documentation=markdown(completion.markdown) if completion.markdown else None,
            sort_text=f"{number:03}",
            filter_text=completion.label,
            text_edit=types.TextEdit(positions.span(completion.replaces), completion.insert or completion.label),
        )
        for number, completion in enumerate(first_matches)
    ]
    return types.CompletionList(is_incomplete=len(first_matches) < len(matches), items=items)


def inlay_hint(positions: Positions, hint: InlayHint) -> types.InlayHint:
    """Return a hint."""
    return types.InlayHint(positions.at(hint.offset), hint.label, tooltip=markdown(hint.markdown), padding_left=True)


def tokens_message(positions: Positions, tokens: Iterable[SemanticToken]) -> types.SemanticTokens:
    """Return five numbers for each name: its line and column after the one before it, its length, and its kind."""
    data: list[int] = []
    before = types.Position(0, 0)
    for token in tokens:
        token_range = positions.span(token.span)
        lines = token_range.start.line - before.line
        column = token_range.start.character - (0 if lines else before.character)
        data += [lines, column, token_range.end.character - token_range.start.character, KINDS.index(token.kind), 0]
        before = token_range.start
    return types.SemanticTokens(data)


def folding_message(positions: Positions, spans: Iterable[Span]) -> list[types.FoldingRange]:
    """Return the lines that fold."""
    ranges = (positions.span(span) for span in spans)
    return [types.FoldingRange(folding.start.line, folding.end.line) for folding in ranges]


def symbol_message(positions: Positions, symbol: DocumentSymbol) -> types.DocumentSymbol:
    """Return a symbol with those in it."""
    children = [symbol_message(positions, child) for child in symbol.children]
    whole, name = positions.span(symbol.span), positions.span(symbol.name_span)
    return types.DocumentSymbol(symbol.name or "?", SYMBOLS[symbol.kind], whole, name, children=children)


def lens_message(positions: Positions, lens: CodeLens, uri: str, root: str) -> types.CodeLens:
    """Return a command with the folder `root` and the arguments of its command line, and the place that it is at."""
    span = positions.span(lens.span)
    place = {"textDocument": {"uri": uri}, "position": {"line": span.start.line, "character": span.start.character}}
    arguments = {"root": root, "arguments": list(lens.arguments), "at": place}
    return types.CodeLens(span, types.Command(lens.title, lens.command, arguments=[arguments]))
