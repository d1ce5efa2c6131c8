"""Keeps the values of environment variables out of messages and logs."""

from __future__ import annotations

from collections.abc import Iterable

_HIDDEN = "*****"
_TELLING = 3  # A shorter value is hidden only where it stands in quotes: it would blot out half of every sentence.


def redact(text: str, secrets: Iterable[str]) -> str:
    """`text` with every secret replaced, also as Python would print it, the longest first."""
    for secret in sorted(secrets, key=len, reverse=True):
        for form in (secret, repr(secret)[1:-1]):
            if len(form) >= _TELLING:
                text = text.replace(form, _HIDDEN)
            elif form:
                for quote in "'\"":
                    text = text.replace(f"{quote}{form}{quote}", f"{quote}{_HIDDEN}{quote}")
    return text
