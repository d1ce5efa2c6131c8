"""Whether a model file holds a MERGE or another statement that writes, read from its raw text in microseconds."""

from __future__ import annotations

import re

from merge_runner.text import Span

# Each piece ends in one place alone, if need be at the text's end: a line of dashes after MERGE could be read in more
# ways than there is time, and to look for the end of a tag from each of many beginnings takes the square of the text.
# A string in a tag may hold a tag: config(post_hook='optimize {{ this }}').
_TAG_STRING = r"""'(?:[^'\\]|\\.)*(?:'|\\?\Z)|"(?:[^"\\]|\\.)*(?:"|\\?\Z)"""
_JINJA = rf"""
      \{{\#(?:(?!\#\}}).)*(?:\#\}}|\Z)
    | \{{%(?:{_TAG_STRING}|[^'"%]|%(?!\}}))*(?:%\}}|\Z)
    | \{{\{{(?:{_TAG_STRING}|[^'"}}]|\}}(?!\}}))*(?:\}}\}}|\Z)
"""
_LINE_COMMENT = r"--(?:\\\n|[^\r\n\\]|\\(?!\n))*(?![^\r\n])"
_GAP = rf"(?:\s|{_JINJA}|{_LINE_COMMENT}|/\*(?:(?!\*/).)*(?:\*/|\Z))+"
_QUOTED = {
    "'": re.compile(r"'[^'\\]*(?:\\.[^'\\]*)*'", re.DOTALL),
    '"': re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL),
    "`": re.compile("`[^`]*`"),
}
_WORDS = re.compile(
    rf"""
      {_JINJA} | {_LINE_COMMENT}
    | (?P<quote>['"`])
    | (?P<comment>/\*)
    | (?P<merge>(?<![\w.])MERGE{_GAP}(?:WITH{_GAP}SCHEMA{_GAP}EVOLUTION{_GAP})?INTO(?!\w))
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_MERGE = re.compile("merge", re.IGNORECASE)
_BEFORE = re.compile(
    rf"""
      [\s;]+ | \{{\#.*?\#\}} | {_LINE_COMMENT} | /\*
    | \{{\{{-?\s*config\s*\((?:{_TAG_STRING}|[^'"}}]|\}}(?!\}}))*\}}\}}
    | \{{%-?\s*set\s+\w+\s*=(?:{_TAG_STRING}|[^'"%]|%(?!\}}))*%\}}
    """,
    re.VERBOSE | re.DOTALL,
)
_STATEMENT = re.compile(r"(?:MERGE|INSERT|UPDATE|DELETE|TRUNCATE|CREATE|REPLACE|ALTER|DROP|COPY)(?=\s)", re.IGNORECASE)
_WITH = re.compile(r"WITH(?=\s|/\*|--)", re.IGNORECASE)
_CTE_PIECE = re.compile(
    rf"""
      {_JINJA} | {_LINE_COMMENT}
    | (?P<quote>['"`])
    | (?P<comment>/\*) | (?P<open>\() | (?P<close>\))
    """,
    re.VERBOSE | re.DOTALL,
)
_CTE_GOES_ON = re.compile(r",|\(|AS(?!\w)", re.IGNORECASE)
_COMMENT_EDGE = re.compile(r"/\*|\*/")


def holds_merge(text: str) -> bool:
    """Whether `text`, SQL that may hold Jinja, has the words MERGE [WITH SCHEMA EVOLUTION] INTO.

    Words inside comments (SQL and Jinja), strings, quoted names and Jinja tags do not count; between the words all of
    these may appear. Nothing is parsed, so a text that answers True may still be no valid statement.
    """
    return find_merge(text) is not None


def find_merge(text: str) -> Span | None:
    """Return the span of the words MERGE … INTO that `holds_merge` is about; None where there are none."""
    if _MERGE.search(text) is None:
        return None
    at, endless = 0, set[str]()
    while (match := _WORDS.search(text, at)) is not None:
        if match["merge"] is not None:
            return Span(*match.span("merge"))
        at = _past(text, match, endless)
    return None


def find_statement(text: str) -> Span | None:
    """Return the span of the first word of `text` where it begins a statement that writes, and that is no MERGE INTO.

    No query begins with MERGE, INSERT, UPDATE, DELETE, TRUNCATE, CREATE, REPLACE, ALTER, DROP or COPY. Before it there
    may be comments, `config` and `set` tags, and the CTEs of a WITH; after any other tag, which may write SQL, nothing
    is known.
    """
    at = _past_blanks(text, 0)
    if (ctes := _WITH.match(text, at)) is not None:
        at = _past_ctes(text, ctes.end())
    word = _STATEMENT.match(text, at)
    return None if word is None else Span(*word.span())


def _past_blanks(text: str, at: int) -> int:
    """The offset after blanks, comments, `config` and `set` tags."""
    while (before := _BEFORE.match(text, at)) is not None:
        at = _past_comment(text, at) if text.startswith("/*", at) else before.end()
    return at


def _past_ctes(text: str, at: int) -> int:
    """The offset of the statement after the CTEs of a WITH, which begin at `at`; the text's end where there is none."""
    depth, endless = 0, set[str]()
    while (piece := _CTE_PIECE.search(text, at)) is not None:
        at = _past(text, piece, endless)
        depth += (piece["open"] is not None) - (piece["close"] is not None)
        if piece["close"] is not None and depth == 0:
            at = _past_blanks(text, at)
            if _CTE_GOES_ON.match(text, at) is None:
                return at
    return len(text)


def comment_end(text: str, start: int) -> int | None:
    """The offset after the bracketed comment at `start`, where comments nest as in Spark; None: it has no end."""
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, start):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    return None


def _past(text: str, piece: re.Match[str], endless: set[str]) -> int:
    """The offset after a piece. `endless` are the quotes that were seen to have no end: none of those after has one."""
    if piece["comment"] is not None:
        return _past_comment(text, piece.start())
    quote = piece["quote"]
    quoted_text = _QUOTED[quote].match(text, piece.start()) if quote is not None and quote not in endless else None
    if quote is not None and quoted_text is None:
        endless.add(quote)
    return piece.end() if quoted_text is None else quoted_text.end()


def _past_comment(text: str, start: int) -> int:
    return comment_end(text, start) or len(text)
