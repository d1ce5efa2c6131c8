"""What clients ask of documents that are no file of a project: plain SQL, Python, Scala, cells of notebooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lsprotocol import types

from merge_runner.lsp.answers.code_lenses import plain_lenses
from merge_runner.lsp.answers.hover import Hover
from merge_runner.lsp.answers.plain_completion import plain_completions
from merge_runner.lsp.answers.plain_merges import merge_hints, merge_hover
from merge_runner.lsp.answers.plain_names import plain_definition, plain_hover, plain_references
from merge_runner.lsp.answers.semantic_tokens import semantic_tokens
from merge_runner.lsp.answers.symbols import document_symbols, folding_ranges, merge_symbols
from merge_runner.lsp.documents.described_tables import DescribedTables
from merge_runner.lsp.documents.remark import Diagnosis
from merge_runner.lsp.protocol.answer_messages import (
    completion_list,
    folding_message,
    hover_message,
    inlay_hint,
    lens_message,
    symbol_message,
    tokens_message,
)
from merge_runner.lsp.protocol.positions import Positions
from merge_runner.lsp.protocol.request import Plain
from merge_runner.lsp.syntax.sql_in_code import Language
from merge_runner.text import Place, SourceText

_Named = Callable[[DescribedTables, Language, SourceText, int, int | None], Sequence[Place]]


def hover(plain: Plain, positions: Positions, diagnosis: Diagnosis, position: types.Position) -> types.Hover | None:
    """Return what a name is with what the condition does that it is in, or the verdict on a MERGE."""
    at = positions.offset(position)
    merge = merge_hover(positions.text, diagnosis, at)
    name = plain_hover(plain.tables(), plain.language, positions.text, at) if plain.language is not None else None
    content = merge or name
    if merge is not None and name is not None:
        content = Hover(f"{name.markdown}\n\n{merge.markdown}", name.span)
    return hover_message(positions, content) if content is not None else None


def definition(plain: Plain, position: types.Position) -> list[types.Location]:
    """Return where a name is defined."""
    return _locations(plain, position, plain_definition)


def references(plain: Plain, position: types.Position) -> list[types.Location]:
    """Return where a name is in its SQL."""
    return _locations(plain, position, plain_references)


def _locations(plain: Plain, position: types.Position, ask: _Named) -> list[types.Location]:
    if plain.language is None:
        return []
    source = SourceText(str(plain.file), plain.positions.text)
    places = ask(plain.tables(), plain.language, source, plain.positions.offset(position), plain.cell)
    return [at for place in places if (at := plain.location(place)) is not None]


def completion(plain: Plain, position: types.Position) -> types.CompletionList | None:
    """Return what may be written at a position."""
    if plain.language is None:
        return None
    at = plain.positions.offset(position)
    completions = plain_completions(plain.tables(), plain.language, plain.positions.text, at)
    return completion_list(plain.positions, position, completions)


def hints(positions: Positions, diagnosis: Diagnosis, range: types.Range) -> list[types.InlayHint]:
    """Return the verdicts on the MERGEs in a range."""
    inlay_hints = merge_hints(positions.text, diagnosis, positions.offset(range.start), positions.offset(range.end))
    return [inlay_hint(positions, hint) for hint in inlay_hints]


def lenses(plain: Plain, positions: Positions, diagnosis: Diagnosis, uri: str) -> list[types.CodeLens]:
    """Return the commands above the MERGEs."""
    code_lenses = plain_lenses(positions.text, diagnosis, plain.file.name)
    return [lens_message(positions, lens, uri, str(plain.file.parent)) for lens in code_lenses]


def symbols(plain: Plain) -> list[types.DocumentSymbol]:
    """Return the symbols of SQL; those of code are its MERGEs."""
    if plain.language == "sql":
        outline = document_symbols(plain.file.name, plain.positions.text)
    else:
        outline = merge_symbols(plain.positions.text, plain.merges())
    return [symbol_message(plain.positions, symbol) for symbol in outline]


def folding(plain: Plain) -> list[types.FoldingRange]:
    """Return the ranges of SQL that fold."""
    spans = folding_ranges("plain.sql", plain.positions.text) if plain.language == "sql" else ()
    return folding_message(plain.positions, spans)


def tokens(plain: Plain) -> types.SemanticTokens:
    """Return what the names of SQL are."""
    semantic = semantic_tokens((), plain.positions.text) if plain.language == "sql" else ()
    return tokens_message(plain.positions, semantic)
