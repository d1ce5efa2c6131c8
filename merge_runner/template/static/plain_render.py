"""Renders a file whose tags are plain calls of `config`, `ref`, `changes`, `source` and `this` without Jinja.

Most models are such files, and compiling a template takes Jinja more than a millisecond.
"""

from __future__ import annotations

from collections.abc import Sequence

from merge_runner.relation import changes_of
from merge_runner.template.captured import Captured
from merge_runner.template.context import Context
from merge_runner.template.limits import MAX_CHARACTERS
from merge_runner.template.rendered import Rendered
from merge_runner.template.source_map import SourceMap
from merge_runner.template.static.scan import PlainTag, plain_tags
from merge_runner.text import SourceText


def plain_render(source: SourceText, context: Context) -> Rendered | None:
    """Return what Jinja would render, with its source map; None where this needs Jinja, or something is wrong."""
    found = plain_tags(source)
    if found is None:
        return None
    captured, tags = found
    try:
        values = [_value(tag, context) for tag in tags]
    except LookupError:
        return None
    if any(value is None for value in values):
        return None
    return _joined(source, captured, tags, [value or "" for value in values])


def _value(tag: PlainTag, context: Context) -> str | None:
    if tag.kind == "config":
        return ""
    if tag.kind == "this":
        return None if context.this is None else str(context.this)
    if tag.kind == "ref":
        return str(context.resolve_ref(tag.names[-1]))
    if tag.kind == "changes":
        context.resolve_ref(tag.names[-1])
        return str(changes_of(tag.names[-1]))
    return str(context.resolve_source(*tag.names))


def _joined(source: SourceText, captured: Captured, tags: Sequence[PlainTag], values: Sequence[str]) -> Rendered | None:
    text = source.text
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    length = at = 0

    def add(piece: str, origin: int) -> None:
        nonlocal length
        if piece:
            pieces.append(piece)
            starts.append(length)
            origins.append(origin)
            length += len(piece)

    for number, (tag, value) in enumerate(zip(tags, values, strict=True)):
        add(text[at : tag.span.start], at)
        add(value, -1 - number)
        at = tag.span.end
    add(text[at:], at)
    if length > MAX_CHARACTERS:
        return None
    source_map = SourceMap(tuple(starts), tuple(origins), tuple(tag.span for tag in tags))
    return Rendered(source, "".join(pieces), captured, source_map)
