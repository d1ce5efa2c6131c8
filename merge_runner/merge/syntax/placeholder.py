"""What is filled in before Spark gets a text: `${x}`, and `${=…}` around the spelling of any other placeholder.

Spark itself replaces `${x}` before it parses, inside strings too, so that a text with this form shows by itself where a
part of it is not known. Readers of code write placeholders of other spellings (`{day}`, `%s`, a DataFrame) in it.
"""

from __future__ import annotations

import re

PLACEHOLDER = r"\$\{=?(?:[^{}]|\{\{[^{}]*\}\}|\{[^{}]*\})*\}"
"""A regular expression of a placeholder."""

_PLACEHOLDER = re.compile(PLACEHOLDER)
_WRITTEN = re.compile(r"\$\{=((?:[^{}]|\{\{[^{}]*\}\}|\{[^{}]*\})*)\}")
_UNSAFE = re.compile(r"['\"`\\]")
_LONGEST = 60


def placeholder(spelling: str) -> str:
    """Return the placeholder that messages show as `spelling`: on one line, without quotes, of at most 60 characters.

    Braces may enclose the whole or be paired inside it; others are left out.
    """
    text = " ".join(_UNSAFE.sub("", spelling).split())
    opening = "{{" if text.startswith("{{") and text.endswith("}}") else "{" if text[:1] + text[-1:] == "{}" else ""
    inner = text[len(opening) : len(text) - len(opening)] if opening else text
    inner = inner.replace("{", "").replace("}", "")
    if len(inner) > _LONGEST:
        inner = inner[: _LONGEST - 1] + "…"
    return f"${{={opening}{inner}{'}' * len(opening)}}}"


def has_placeholder(text: str) -> bool:
    """Return whether a part of `text` is filled in before Spark gets it."""
    return "${" in text and _PLACEHOLDER.search(text) is not None


def is_placeholder(word: str) -> bool:
    """Return whether `word` is one placeholder and nothing else."""
    return word.startswith("${") and _PLACEHOLDER.fullmatch(word) is not None


def is_repeatable(text: str) -> bool:
    """Return whether each placeholder in `text` has a name, so that it stands for one value wherever it is written."""
    return all(
        re.search(r"[A-Za-z_]", match[0]) and "…" not in match[0] and match[0] != "${=%s}"
        for match in _PLACEHOLDER.finditer(text)
    )


def as_written(text: str) -> str:
    """Return `text` with its placeholders as the author wrote them: `{catalog}.sales`."""
    return _WRITTEN.sub(lambda match: match[1], text) if "${=" in text else text
