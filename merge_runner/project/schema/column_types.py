"""Declared types of columns that Spark does not have: a misspelled one."""

from __future__ import annotations

import re
from functools import lru_cache

from merge_runner.errors import nearest
from merge_runner.formats.types import KNOWN, parse_type

_WORD = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\([\d\s,]*\))?\s*\Z")
"""One word, perhaps with numbers. What is in other types (array, struct) or follows them is left to Spark."""
_LATER = frozenset({"geography", "geometry"})
"""Types of later releases of Spark and of platforms, which `parse_type` does not read."""


@lru_cache(maxsize=4096)
def unknown_type(text: str) -> tuple[str, str] | None:
    """Return what is wrong with a declared type and what to do; None where Spark may take it."""
    word = _WORD.match(text)
    if word is None or word[1].lower() in KNOWN | _LATER or parse_type(text) is not None:
        return None
    close = nearest(word[1], KNOWN)
    hint = f'did you mean "{close}"?' if close else "write a type of Spark SQL: string, bigint, decimal(10, 2), date, …"
    return f'Spark has no type "{word[1]}"', hint
