"""MERGEs in Scala code: string literals that are given to `….sql(…)`, and chains of Delta's and Spark's builders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from merge_runner.lint.containers.budget import OverBudgetError
from merge_runner.lint.containers.found import (
    NOT_FOLLOWED,
    NOT_PUT_TOGETHER,
    Contents,
    FoundStatement,
    UnreadMerge,
    has_words,
)
from merge_runner.lint.containers.placeholders import with_placeholders
from merge_runner.lint.containers.scala_builder import ScalaBuilders
from merge_runner.lint.containers.scala_strings import ScalaStrings
from merge_runner.lint.containers.script import unread_in
from merge_runner.lint.containers.traced import Origin
from merge_runner.lint.containers.unread_text import merge_in_parts
from merge_runner.merge.find import find_merge
from merge_runner.text import Place, SourceText

_WORDS = re.compile(r"merge|when(?:not)?matched|(?:create|alter)\b[^'\"]{0,40}\btable", re.IGNORECASE)
_TABLE = re.compile(r"\s*(?:--[^\n]*\n\s*)*(?:CREATE|REPLACE|ALTER)\s[^(]*\bTABLE\b", re.IGNORECASE)
_NOT_GIVEN = "lint finds no `.sql(…)` in this file that is given this text"


def read_scala(source: SourceText) -> Contents:
    """Return the statements of a Scala file: strings, and vals of strings, that are given to `….sql(…)`, and builders.

    Of a builder whose calls are not one chain, or parts of it in vals, the place is in `unread`.
    """
    if not _WORDS.search(source.text):
        return Contents()
    try:
        return _contents(source)
    except RecursionError:
        why = "the code is nested too deeply for lint"
    except OverBudgetError as error:
        why = f"lint does not follow this code: {error}"
    words = re.search("merge", source.text, re.IGNORECASE)
    at = source.place(*words.span()) if words is not None else source.place(0, 0)
    return Contents(unread=(UnreadMerge("scala", at, why),))


def _contents(source: SourceText) -> Contents:
    reader = ScalaStrings.of(source)
    builders = ScalaBuilders(reader)
    built = [FoundStatement("builder", with_placeholders(text).rendered([source])) for text in builders.merges()]
    given = list(_given(reader))
    read = [each for each in given if isinstance(each, FoundStatement)]
    found = sorted([*read, *built], key=lambda each: each.rendered.map.span(0).start)
    unread = [each for each in given if isinstance(each, UnreadMerge)]
    unread += [UnreadMerge("scala", place, _NOT_GIVEN) for place in _not_given(reader)]
    unread += [UnreadMerge("builder", reader.place(i), NOT_FOLLOWED) for i in builders.not_followed()]
    whole = Contents(tuple(found), tuple(unread))
    return whole if whole.merges or whole.unread else replace(whole, unread=tuple(_parts(reader)))


def _given(reader: ScalaStrings) -> Iterator[FoundStatement | UnreadMerge]:
    seen: set[Origin] = set()
    for i, token in enumerate(reader.tokens):
        if token.text != "sql" or i + 1 >= len(reader.tokens) or (i and reader.text(i - 1) != "."):
            continue
        if reader.text(i + 1) != "(" and reader.tokens[i + 1].kind != "string":
            continue
        before = set(reader.used)
        called = reader.text(i + 1) == "("
        text, stop = reader.expression(i + 1 + called)
        merge = find_merge(text.text) if text is not None else None
        whole = not called or reader.text(stop) in (")", ",")
        if text is None or not whole or (merge is None and _TABLE.match(text.text) is None):
            reader.used = before
            continue
        origin = text.origin(merge.start if merge is not None else 0)
        if origin in seen:
            continue
        seen.add(origin)
        if merge is not None and (reason := unread_in(text.text)) is not None:
            yield UnreadMerge("scala", reader.source.place(origin.start, origin.end), reason)
        else:
            yield FoundStatement("scala", with_placeholders(text).rendered([reader.source]))


def _parts(reader: ScalaStrings) -> Iterator[UnreadMerge]:
    """The first string that begins a MERGE whose other parts are not found."""
    strings = [i for i, token in enumerate(reader.tokens) if token.kind == "string" and i not in reader.used]
    first = merge_in_parts([reader.tokens[i].text for i in strings])
    if first is not None:
        yield UnreadMerge("scala", reader.place(strings[first]), NOT_PUT_TOGETHER)


def _not_given(reader: ScalaStrings) -> Iterator[Place]:
    """MERGEs in strings that no `.sql(…)` of the file is given."""
    for i, token in enumerate(reader.tokens):
        if token.kind != "string" or i in reader.used or not has_words(token.text, "USING", "WHEN"):
            continue
        if find_merge(token.text.strip('"')) is not None:
            yield reader.place(i)
