"""What may be written at a cursor outside of models: in plain SQL, in strings of Python and Scala, in notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from merge_runner.lsp.answers.sql_completion import READS_NEXT, Completion, in_sql, noqa_codes
from merge_runner.lsp.documents.described_tables import DescribedTables
from merge_runner.lsp.syntax.sql_in_code import Language, sql_around
from merge_runner.lsp.syntax.statements import statements
from merge_runner.text import Span


def plain_completions(tables: DescribedTables, language: Language, text: str, offset: int) -> list[Completion]:
    """Return what may be written at `offset`: columns and tables in SQL, and rule codes in a noqa comment."""
    codes = noqa_codes(text, offset)
    if codes is not None:
        return codes
    around = sql_around(language, text, offset)
    if around is None:
        return []
    moved = around.start
    return [
        replace(completion, replaces=Span(completion.replaces.start + moved, completion.replaces.end + moved))
        for completion in _in_sql(tables, around.of(text), offset - moved)
    ]


def _in_sql(tables: DescribedTables, sql: str, offset: int) -> Iterator[Completion]:
    syntax = statements(sql)
    token = syntax.scan.token_at(offset)
    if token is not None and token.kind in ("string", "comment", "number") and token.start < offset:
        return
    if syntax.scan.tag_at(offset) is not None:
        return
    before = sql[:offset]
    reads = READS_NEXT.search(before)
    yield from in_sql(tables, None, syntax, before, offset)
    if reads is not None:
        word = Span(reads.start("word"), offset)
        yield from (Completion(name, "relation", word, "table") for name in tables.names)
