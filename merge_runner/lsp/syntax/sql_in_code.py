"""Where the SQL around a cursor is, in code that may be half written."""

from __future__ import annotations

import re
from typing import Literal

from merge_runner.text import Span

Language = Literal["sql", "python", "scala"]

_OPENINGS = {
    "python": re.compile(r"(?P<comment>#[^\n]*)|(?P<quote>\"\"\"|'''|\"|')"),
    "scala": re.compile(r"(?P<comment>//[^\n]*|/\*(?s:.*?)(?:\*/|\Z))|(?P<quote>\"\"\"|\")"),
}
_ENDS = {
    '"""': re.compile(r'(?s:(?:\\.|[^\\])*?)(?P<end>"""|\Z)'),
    "'''": re.compile(r"(?s:(?:\\.|[^\\])*?)(?P<end>'''|\Z)"),
    '"': re.compile(r'(?:\\.|[^"\\\n])*(?P<end>"|\n|\\?\Z)'),
    "'": re.compile(r"(?:\\.|[^'\\\n])*(?P<end>'|\n|\\?\Z)"),
}


def sql_around(language: Language, text: str, offset: int) -> Span | None:
    """Return the range of SQL that a cursor is in: all of a text of SQL, else the string; None outside of any."""
    if language == "sql":
        return Span(0, len(text))
    at = 0
    while (opening := _OPENINGS[language].search(text, at)) is not None and opening.start() < offset:
        at = opening.end()
        if opening["quote"] is None:
            if offset <= at:
                return None
            continue
        end = _ENDS[opening["quote"]].match(text, at)
        closing = end.start("end") if end is not None else len(text)
        if at <= offset <= closing:
            return Span(at, closing)
        at = end.end() if end is not None else len(text)
    return None
