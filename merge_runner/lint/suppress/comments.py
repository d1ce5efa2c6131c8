"""The comments of a file as its author wrote it: of SQL with Jinja, of Python and Scala, of YAML, of TOML.

They are read from the author's text and not from the rendered one: a comment counts for the line that it is on,
also where a template repeats the line or leaves it out.
"""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from merge_runner.lint.containers.notebook import is_notebook
from merge_runner.merge.find import comment_end
from merge_runner.template.rendered_text import RenderedText
from merge_runner.template.static.tags import OPENING, STRING
from merge_runner.text import SourceText, Span

Kind = Literal["line", "block", "jinja", "hash", "code"]


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment: its `span` with the marks, the `body` between them, and the text of the body, Jinja tags blotted out.

    `inside`: a Jinja comment within a comment of SQL. `conditional`: it is in a Jinja block that need not be
    rendered, or may be for another linter. A comment of Python or Scala counts from the offset `counts_from` on: the
    start of the string of several lines that ends on its line.
    """

    kind: Kind
    span: Span
    body: Span
    text: str
    inside: bool = False
    conditional: bool = False
    counts_from: int | None = None

    @property
    def has_tags(self) -> bool:
        """Whether tags of Jinja are in a comment of SQL: what they write may end it."""
        return _BLOT in self.text

    @property
    def trims(self) -> bool:
        """Whether the comment takes the blanks around it with it, as `{#- … -#}` does."""
        return self.kind == "jinja" and (self.body.start - self.span.start, self.span.end - self.body.end) != (2, 2)


def comments(source: SourceText) -> tuple[Comment, ...]:
    """The comments of a file in their order, distinguished from strings; the file name says which language it is."""
    all_comments = _comments(source)
    if is_notebook(source):  # what is after MAGIC is of a cell, whose comments `embedded` gives
        return tuple(comment for comment in all_comments if not comment.text.startswith(" MAGIC"))
    return all_comments


def _comments(source: SourceText) -> tuple[Comment, ...]:
    ending = source.path.rpartition(".")[2].lower()
    if ending in ("yml", "yaml"):
        return tuple(_hashes(source.text, _yaml_texts(source.text)))
    if ending in ("py", "ipynb", "json"):  # of JSON the cells of a notebook
        return tuple(_python(source.text))
    if ending == "scala":
        return tuple(_scala(source.text))
    if ending == "toml":
        return tuple(_toml(source.text))
    return tuple(sorted(_sql(source.text), key=lambda comment: comment.span))


_SPACE = re.compile(r"\s*")


def after_space(text: str, at: int) -> int:
    """The offset of the first character from `at` on that is no blank."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def embedded(
    part: RenderedText | SourceText, language: str, texts: Mapping[str, SourceText]
) -> Iterator[tuple[str, Comment]]:
    """Give the comments of a text in a file of another language, such as SQL in Python or a cell of Python in SQL.

    Each has the name of its text in `texts`, and spans in that text. One that is not as it is in the author's text,
    since a string escapes it, is left out.
    """
    if "noqa" not in part.text.lower():
        return
    for comment in _EMBEDDED[language](part.text):
        span = comment.span
        place = part.place(span.start, span.end)
        source = texts.get(place.text_name)
        if source is None or place.end_line is None or place.end_column is None:
            continue
        start = source.offset(place.line, place.column)
        if source.offset(place.end_line, place.end_column) - start == span.end - span.start:
            moved = start - span.start
            body = Span(comment.body.start + moved, comment.body.end + moved)
            since = comment.counts_from
            if since is not None:
                begin = part.place(since)
                since = source.offset(begin.line, begin.column)
            ends = start + span.end - span.start
            yield source.name, replace(comment, span=Span(start, ends), body=body, counts_from=since)


# SQL with Jinja: tags first, as Jinja does, which knows no SQL; then SQL in the text with the tags blotted out.

_BLOT = "\x1a"  # neither a blank nor part of a word
_RAW = re.compile(r"\{%[-+]?\s*raw\s*[-+]?%\}")
_END_RAW = re.compile(r"\{%[-+]?\s*endraw\s*[-+]?%\}")
_WORD = re.compile(r"\{%[-+]?\s*(\w+)")
_IN_TAG = re.compile(rf"{STRING}|['\"]|[(\[{{]|[)\]}}]|%\}}", re.S)
_MAYBE = frozenset({"if", "for", "macro"})

# As in merge/syntax/lexer.py, where a string, name or comment may begin and end; what has no end, another reports.
_BEGIN = re.compile(r"--|/\*(?!\+)|\*/|(?<!\w)[rR]['\"]|['\"`]")
_LINE = re.compile(rf"--(?:\\{_BLOT}*\n|[^\r\n])*")  # a tag may write nothing between a backslash and the newline
_QUOTED = {
    "'": re.compile(r"'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'", re.S),
    '"': re.compile(r'"[^"\\]*(?:(?:\\.|"")[^"\\]*)*"', re.S),
    "`": re.compile(r"`[^`]*(?:``[^`]*)*`"),
    "r'": re.compile(r"[rR]'[^']*'"),
    'r"': re.compile(r'[rR]"[^"]*"'),
}


def _sql(text: str) -> Iterator[Comment]:
    tags, maybe = _tags(text)
    blotted = _blot_tags(text, tags)
    quoted, comment_spans = _sql_spans(blotted)
    for span in comment_spans:
        block = text.startswith("/*", span.start)
        body = Span(span.start + 2, span.end - 2 if block else span.end)
        yield Comment("block" if block else "line", span, body, body.of(blotted), conditional=_covers(maybe, span))
    for span in tags:
        if text.startswith("{#", span.start) and not _covers(quoted, span):
            start, end = span.start + 2, span.end - 2
            body = Span(start + text.startswith(("-", "+"), start), end - text.endswith(("-", "+"), start + 1, end))
            inside = _covers(comment_spans, span)
            yield Comment("jinja", span, body, body.of(text), inside, conditional=_covers(maybe, span))


def _covers(spans: Sequence[Span], span: Span) -> bool:
    """Whether one of the spans, which are in order and apart, holds the start of `span`."""
    at = bisect_right(spans, Span(span.start + 1, 0)) - 1
    return at >= 0 and span.start < spans[at].end


def _blot_tags(text: str, tags: Sequence[Span]) -> str:
    """The text with its tags blotted out, and with them the blanks that they take away, as `{{- … -}}` does.

    A newline that a tag takes away ends no comment.
    """
    pieces = []
    at = 0
    for tag in tags:
        before, end = text[at : tag.start], tag.end
        if text.startswith("-", tag.start + 2):
            before = before.rstrip()
        if text.startswith("-", tag.end - 3) and tag.end - tag.start > 5:
            end = after_space(text, end)
        pieces += [before, _BLOT * (end - at - len(before))]
        at = end
    return "".join([*pieces, text[at:]])


def _tags(text: str) -> tuple[list[Span], list[Span]]:
    """The Jinja tags and comments, and the blocks that need not be rendered.

    Reading ends at a tag without an end: such a file does not render.
    """
    tags: list[Span] = []
    maybe: list[Span] = []
    depth = start = at = 0
    while opening := OPENING.search(text, at):
        tag = _tag(text, opening.start())
        if tag is None:
            break
        tags.append(tag)
        at = tag.end
        if _RAW.match(text, tag.start):
            end = _END_RAW.search(text, at)
            if end is None:
                break
            tags.append(Span(*end.span()))
            at = end.end()
        elif word := _WORD.match(text, tag.start):
            if word[1] in _MAYBE:
                start = start if depth else tag.start
                depth += 1
            elif word[1].removeprefix("end") in _MAYBE and depth:
                depth -= 1
                if depth == 0:
                    maybe.append(Span(start, tag.end))
    if depth:
        maybe.append(Span(start, len(text)))
    return tags, maybe


def _tag(text: str, start: int) -> Span | None:
    """The tag or comment that begins at `start`; parentheses in a tag are balanced, as Jinja's lexer does it."""
    kind = text[start + 1]
    if kind == "#":
        end = text.find("#}", start + 2)
        return Span(start, end + 2) if end >= 0 else None
    depth = 0
    for token in _IN_TAG.finditer(text, start + 2):
        word = token[0]
        if word in "'\"":
            return None
        if word in "([{":
            depth += 1
        elif word in (")", "]", "}", "%}"):
            if depth:
                depth -= 1
            elif kind == "%":
                return Span(start, token.end()) if word == "%}" else None
            else:
                return Span(start, token.end() + 1) if text.startswith("}}", token.start()) else None
    return None


def _sql_spans(text: str) -> tuple[list[Span], list[Span]]:
    """Where strings and quoted names are, and where comments."""
    strings: list[Span] = []
    comment_spans: list[Span] = []
    endless: set[str] = set()
    at = 0
    while begin := _BEGIN.search(text, at):
        word = begin[0].lower()
        start = begin.start()
        if word == "--":
            line = _LINE.match(text, start)
            at = line.end() if line else len(text)
            comment_spans.append(Span(start, at))
        elif word == "/*":
            end = comment_end(text, start)
            if end is None:
                break
            comment_spans.append(Span(start, end))
            at = end
        elif word == "*/":  # the end of a hint; in `*/*` no comment begins
            at = start + 2
        elif word not in endless and (string := _QUOTED[word].match(text, start)):
            strings.append(Span(start, string.end()))
            at = string.end()
        else:
            endless.add(word)  # once is enough to know: looking again at each quote would take forever
            at = start + 1
    return strings, comment_spans


_HASH = re.compile(r"(?:(?<=\s)|\A)#[^\r\n]*")
# What has no end reaches to that of its line or the text: to look from each quote inside it again takes for ever.
_TOML = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"{3,5}|\\?\Z)|\'\'\'.*?(?:\'{3,5}|\Z)|"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?|(?P<comment>#[^\r\n]*)',
    re.S,
)


def _hash(text: str, start: int, end: int) -> Comment:
    return Comment("hash", Span(start, end), Span(start + 1, end), text[start + 1 : end])


def _hashes(text: str, texts: Sequence[Span] | None) -> Iterator[Comment]:
    if texts is not None:
        for match in _HASH.finditer(text):
            if not _covers(texts, Span(*match.span())):
                yield _hash(text, *match.span())


def _yaml_texts(text: str) -> list[Span] | None:
    """Where the scalars of a YAML file are; None where it is no YAML."""
    import yaml

    scalars = []
    try:
        for token in yaml.scan(text):
            if isinstance(token, yaml.ScalarToken):
                start, end = token.start_mark.index, token.end_mark.index
                if token.style in ("|", ">"):  # a comment may follow the sign
                    start = min(end, max(start, text.find("\n", start)))
                scalars.append(Span(start, end))
    except yaml.YAMLError:
        return None
    return scalars


def _toml(text: str) -> Iterator[Comment]:
    for match in _TOML.finditer(text):
        if match["comment"]:
            yield _hash(text, *match.span())


# Python and Scala: comments of the code, next to those in strings of SQL, which `embedded` gives.

_SCALA = re.compile(
    r'"""(?s:.*?)(?:"{3,5}|\Z)|"(?:[^"\\\n]|\\.)*"?|\'(?:[^\'\\\n]|\\.)\'|/\*(?s:.*?)(?:\*/|\Z)|(?P<comment>//[^\r\n]*)'
)


def _code(text: str, start: int, end: int, mark: int, counts_from: int | None) -> Comment:
    bare = text.find(":", start, end) < 0  # without codes it may be meant for another linter
    body = Span(start + mark, end)
    return Comment("code", Span(start, end), body, body.of(text), conditional=bare, counts_from=counts_from)


def _python(text: str) -> Iterator[Comment]:
    """The comments of Python; what cannot be read as Python has none from there on."""
    source = SourceText("", text)
    opened: list[int] = []
    string: tuple[int, int] | None = None
    """The start of the last string, and the line that it ends on."""
    begins, ends = getattr(tokenize, "FSTRING_START", -1), getattr(tokenize, "FSTRING_END", -1)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            start = source.offset(token.start[0], token.start[1] + 1)
            if token.type == begins:
                opened.append(start)
            elif token.type == ends and opened:
                string = (opened.pop(), token.end[0])
            elif token.type == tokenize.STRING:
                string = (start, token.end[0])
            elif token.type == tokenize.COMMENT:
                since = string[0] if string is not None and string[1] == token.start[0] else None
                yield _code(text, start, start + len(token.string.rstrip("\r\n")), 1, since)
    except (tokenize.TokenError, SyntaxError):
        return


def _scala(text: str) -> Iterator[Comment]:
    string: Span | None = None
    for match in _SCALA.finditer(text):
        start, end = match.span()
        if match["comment"] is None:
            string = Span(start, end)
            continue
        same = string is not None and "\n" not in text[string.end : start]
        yield _code(text, start, end, 2, string.start if string is not None and same else None)


_EMBEDDED = {"sql": _sql, "python": _python, "scala": _scala}
