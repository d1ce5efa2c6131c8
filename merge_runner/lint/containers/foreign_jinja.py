"""SQL with Jinja that cannot be rendered here: what other tools fill in around a MERGE is unknown, the rest is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from merge_runner.lint.containers.contents import Contents, EmbeddedStatement, UnreadMerge
from merge_runner.lint.containers.pieced_text import Origin, PiecedText
from merge_runner.lint.containers.placeholders import placeholders_of
from merge_runner.lint.containers.script import read_script
from merge_runner.lint.containers.unread_text import without_jinja_comments
from merge_runner.merge.find import find_merge
from merge_runner.merge.parse import parse
from merge_runner.merge.script import statements
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.template.rendered_text import RenderedText
from merge_runner.text import SourceText, Span

_TAG = re.compile(r"\{%[-+]?\s*(?P<word>\w+)(?P<more>(?:'[^']*'|\"[^\"]*\"|[^'\"%{]|\{(?!%)|%(?!\}))*)%\}")
_DEEPEST = 30
"""Blocks in each other."""
_OTHER_TOOLS = frozenset({"extends", "include", "import", "from", "materialization", "snapshot", "test", "block"})
"""Tags that models of merge-runner do not have."""
_WRITES_NOTHING = frozenset({"set", "do", "extends", "import", "from", "macro", "materialization", "test"})


@dataclass(frozen=True)
class _Block:
    """A tag, or all from the tag that begins a block to the one that ends it; `cuts` are its `else` and `elif`."""

    word: str
    span: Span
    inside: Span
    blocks: tuple[_Block, ...] = ()
    cuts: tuple[Span, ...] = ()


class _UnknownError(Exception):
    """Which text is written is not known."""


def has_tags_of_others(text: str) -> bool:
    """Return whether the text has a tag of Jinja that is another tool's."""
    return any(tag["word"] in _OTHER_TOOLS for tag in _TAG.finditer(without_jinja_comments(text)))


def read_foreign(source: SourceText, why: str) -> Contents | None:
    """Return the MERGEs of a text whose blocks are not rendered; `why` is the first reason for that.

    A block around a MERGE is left out, with the branches that hold none; any other is a placeholder. None: the blocks
    are not nested in each other, or there is no MERGE. One that cannot be read without them is in `unread`.
    """
    merge = find_merge(source.text)
    if merge is None:
        return None
    unread = UnreadMerge("sql", source.place(merge.start, merge.end), f"its Jinja cannot be rendered: {why}")
    try:
        blocks = _blocks(source.text)
        edits = [] if blocks is None else list(_edits(source.text, blocks))
    except _UnknownError:
        return Contents(unread=(unread,))
    if blocks is None:
        return None
    text = PiecedText.of(RenderedText.plain(source)).edited(edits)
    contents = read_script(placeholders_of(text.render([source])))
    if contents.merges and all(_is_read(statement) for statement in contents.statements):
        return contents
    return replace(contents, statements=(), unread=(unread,))


def _is_read(statement: EmbeddedStatement) -> bool:
    if all(part.kind == "other" for part in statements(statement.rendered.text)):
        return True
    try:
        parse(statement.rendered.text)
    except MergeSyntaxError:
        return False
    return True


def _blocks(text: str) -> tuple[_Block, ...] | None:
    """The tags and blocks of a text; None where an end does not fit its beginning."""
    tags = list(_TAG.finditer(without_jinja_comments(text)))
    block_tags = {tag["word"].removeprefix("end") for tag in tags if tag["word"].startswith("end")}
    if "raw" in block_tags:
        return None
    top: list[_Block] = []
    open_blocks: list[tuple[re.Match[str], list[_Block], list[Span]]] = []
    for tag in tags:
        word, span = tag["word"], Span(*tag.span())
        siblings = open_blocks[-1][1] if open_blocks else top
        if word.startswith("end"):
            if not open_blocks or word != "end" + open_blocks[-1][0]["word"]:
                return None
            first, blocks, cuts = open_blocks.pop()
            whole = Span(first.start(), span.end)
            block = _Block(first["word"], whole, Span(first.end(), span.start), tuple(blocks), tuple(cuts))
            (open_blocks[-1][1] if open_blocks else top).append(block)
        elif word in ("else", "elif") and open_blocks:
            open_blocks[-1][2].append(span)
        elif word in block_tags and not (word == "set" and "=" in tag["more"]):
            open_blocks.append((tag, [], []))
            if len(open_blocks) > _DEEPEST:
                return None
        else:
            siblings.append(_Block(word, span, span))
    return None if open_blocks else tuple(top)


def _edits(text: str, blocks: Sequence[_Block]) -> Iterator[tuple[Span, PiecedText]]:
    """What is in place of the tags: nothing, or a placeholder with blanks around it."""
    for block in blocks:
        if block.inside == block.span or find_merge(block.inside.of(text)) is None:
            at = Origin(0, block.span.start, block.span.end)
            blank = PiecedText.from_origin(" ", at)
            shown = PiecedText.filled(f"{{{block.word} …}}", at)
            yield block.span, blank if block.word in _WRITES_NOTHING else blank + shown + blank
            continue
        edges = [block.inside.start, *(edge for cut in block.cuts for edge in (cut.start, cut.end)), block.inside.end]
        branches = [Span(*edges[i : i + 2]) for i in range(0, len(edges), 2)]
        branches_with_merge = [branch for branch in branches if find_merge(branch.of(text)) is not None]
        if len(branches_with_merge) != 1:
            raise _UnknownError
        (branch,) = branches_with_merge
        yield Span(block.span.start, branch.start), PiecedText()
        inner = [nested for nested in block.blocks if branch.start <= nested.span.start < branch.end]
        yield from _edits(text, inner)
        yield Span(branch.end, block.span.end), PiecedText()
