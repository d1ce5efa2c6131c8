"""Keeps secrets out of messages, logs and artifacts: as they are, and as they are quoted, escaped or encoded there."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

from merge_runner.relation import string_literal
from merge_runner.template.literal import literal

HIDDEN = "*****"
_SHORTEST = 3  # A shorter value is hidden only in quotes: it would blot out half of every sentence.
_ANYWHERE = 6  # A value shorter than this is hidden only as a whole word: `dev` is also in `device`.
_TORN = 8  # So much of the beginning of a value reveals it, where an engine has cut it off with `...`.
_LONGEST_TORN = 64
_LONGEST_PATTERN = 100_000  # An environment variable of Linux holds 128 KiB.
_OWN_WORDS = frozenset(
    ("event", "at", "level", "status", "command", "which", "resource_type", "unique_id", "node", "invocation_id")
)
"""Keys whose values are words of this program or names of nodes, and never text from elsewhere."""


def redact(text: str, secrets: Iterable[str]) -> str:
    """`text` with every secret replaced, also as SQL, Python, JSON, HTML or a URL would write it, the longest first."""
    pattern = _pattern(frozenset(secrets))
    return text if pattern is None else pattern.sub(HIDDEN, text)


def redact_data(value: Any, secrets: Iterable[str]) -> Any:
    """Plain data with every secret in its texts replaced; keys, and what only this program writes, stay."""
    distinct = frozenset(secrets)
    return _redact_value(value, distinct) if _pattern(distinct) is not None else value


def same_but_hidden(redacted: Any, value: Any) -> bool:
    """Return whether plain data may be what `redacted` shows of it: a hidden part matches any text."""
    if isinstance(redacted, str) and HIDDEN in redacted:
        return isinstance(value, str) and _fits(redacted.split(HIDDEN), value)
    if isinstance(redacted, Mapping) and isinstance(value, Mapping):
        return redacted.keys() == value.keys() and all(same_but_hidden(redacted[key], value[key]) for key in redacted)
    if isinstance(redacted, list | tuple) and isinstance(value, list | tuple):
        return len(redacted) == len(value) and all(map(same_but_hidden, redacted, value))
    return bool(redacted == value)


def _fits(parts: Sequence[str], text: str) -> bool:
    """Whether the text is the parts in their order with anything between them."""
    first, *middle, last = parts
    end = len(text) - len(last)
    if not text.startswith(first) or not text.endswith(last) or end < len(first):
        return False
    at = len(first)
    for part in middle:
        start = text.find(part, at, end)
        if start < 0:
            return False
        at = start + len(part)
    return True


def java_pattern(secrets: Iterable[str]) -> str:
    """The same as a regular expression of Java, in ASCII; one that matches nothing where there are none.

    It fits into an environment variable: the longest forms are left out where it would not.
    """
    alternatives = list(_alternatives(frozenset(secrets), _as_java))
    while sum(map(len, alternatives)) > _LONGEST_PATTERN:
        alternatives.remove(max(alternatives, key=len))
    return "|".join(alternatives) or "(?!)"


def _redact_value(value: Any, secrets: frozenset[str]) -> Any:
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, Mapping):
        return {key: item if key in _OWN_WORDS else _redact_value(item, secrets) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_redact_value(item, secrets) for item in value]
    return value


@lru_cache(maxsize=64)
def _pattern(secrets: frozenset[str]) -> re.Pattern[str] | None:
    alternatives = "|".join(_alternatives(secrets, re.escape))
    return re.compile(alternatives) if alternatives else None


def _alternatives(secrets: frozenset[str], escape: Callable[[str], str]) -> Iterator[str]:
    forms = {form for secret in secrets for form in _forms(secret) if form}
    for form in sorted(forms, key=lambda form: (-len(form), form)):
        text = escape(form)
        if len(form) >= _ANYWHERE:
            yield text
        elif len(form) >= _SHORTEST:
            yield f"(?<![A-Za-z0-9]){text}(?![A-Za-z0-9])"
        else:
            yield from (f"(?<={mark}){text}(?={mark})" for mark in "'\"")
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) > _TORN:
            characters = [escape(character) for character in secret[_TORN:_LONGEST_TORN]]
            yield escape(secret[:_TORN]) + "(?:" + "(?:".join(characters) + ")?" * len(characters) + r"(?=\.\.\.)"


def _forms(secret: str) -> Iterator[str]:
    """How a secret may be written."""
    yield secret
    if len(secret) < _SHORTEST:
        return

    yield from (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    yield from (repr(secret)[1:-1], literal(secret)[1:-1], string_literal(secret)[1:-1])
    yield from (html.escape(secret), html.escape(secret, quote=False))
    data = secret.encode("utf-8", "replace")
    yield from (quote(data, safe=""), quote(data), quote_plus(data))
    if len(secret) >= _ANYWHERE:
        yield from (encode(data).decode().rstrip("=") for encode in (base64.b64encode, base64.urlsafe_b64encode))
    # Of a key of several lines a log may show each alone.
    yield from (line for line in map(str.strip, secret.splitlines()) if len(line) > 2 * _TORN)


def _as_java(text: str) -> str:
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
