"""Placeholders in the text of a statement, as tools fill them in before Spark gets it."""

from __future__ import annotations

import re

from merge_runner.lint.containers.pieced_text import Origin, PiecedText
from merge_runner.merge.syntax.placeholder import PLACEHOLDER
from merge_runner.template.rendered_text import RenderedText
from merge_runner.text import Span

_TOKEN = re.compile(
    rf"""
      (?P<known>{PLACEHOLDER})
    | (?P<comment>--[^\n]* | /\*.*?(?:\*/|\Z))
    | (?P<jinja>\{{\{{(?:[^{{}}]|\{{[^{{}}]*\}})*\}}\}})
    | (?P<brace>\{{[A-Za-z_][\w.\[\]'" -]*(?:![rsa])?(?::[^{{}}']*)?\}})
    | (?P<bare>\{{\d*\}})
    | (?P<printf>%(?:\([A-Za-z_]\w*\))?[sd](?!\w))
    | (?P<call>\$\([A-Za-z_]\w*\))
    | (?P<dollar>\$[A-Za-z_]\w*)
    | (?P<escape>\\.)
    | (?P<quote>['"`])
    """,
    re.VERBOSE | re.DOTALL,
)
_HINTS = re.compile(r"[{$]|%[(sd]")
_OPERAND_ENDS = re.compile(r"[\w)`'\"\]}]\s*\Z")
_KEYWORD_ENDS = re.compile(
    r"\b(?:and|or|not|on|in|like|between|then|when|set|values|select|from|using|into|where|by|is|as|else|interval)\s*\Z",
    re.IGNORECASE,
)


def with_placeholders(text: PiecedText) -> PiecedText:
    """Return a statement in which each placeholder has the one form that the parser of MERGE knows.

    Known are `{x}`, `{}`, `{{ x }}`, `%s`, `%(x)s`, `$x`, `$(x)`; `${x}` is that form. Inside of strings only those
    with a name are placeholders, so that JSON and patterns of LIKE stay what they are.
    """
    if _HINTS.search(text.text) is None:
        return text
    edits: list[tuple[Span, PiecedText]] = []
    quote = ""
    for token in _TOKEN.finditer(text.text):
        kind, start = token.lastgroup, token.start()
        if kind == "quote":
            quote = token[0] if not quote else "" if token[0] == quote else quote
            continue
        if kind in ("known", "escape") or (kind == "comment" and not quote):
            continue
        if kind == "comment" or not _is_placeholder(text.text, token, quote):
            continue
        span = Span(start, token.end())
        first, last = text.origin(span.start), text.origin(span.end - 1)
        at = Origin(first.source, first.start, max(first.end, last.end) if first.source == last.source else first.end)
        edits.append((span, PiecedText.filled(token[0], at)))
    return text.edited(edits) if edits else text


def placeholders_of(rendered: RenderedText) -> RenderedText:
    """Return the text of a file or cell with its placeholders in the form that the parser of MERGE knows."""
    if _HINTS.search(rendered.text) is None:
        return rendered
    text = PiecedText.of(rendered)
    converted = with_placeholders(text)
    return rendered if converted is text else converted.render([rendered.source])


def _is_placeholder(text: str, match: re.Match[str], quote: str) -> bool:
    """Whether a match is one where it is: `t.id %s` outside of a string may be a remainder."""
    kind = match.lastgroup
    if kind in ("brace", "jinja", "call"):
        return True
    if kind == "bare":
        return not quote or quote == "`"
    if kind == "dollar":
        return not quote or quote == "`"
    if kind == "printf":
        before = text[max(match.start() - 40, 0) : match.start()]
        operand = _OPERAND_ENDS.search(before) is not None and _KEYWORD_ENDS.search(before) is None
        return "(" in match[0] or not (quote or operand)
    return False
