"""The parts of a template that only an incremental run has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from merge_runner.text import Span

_BRANCH = re.compile(r"\{%[-+]?\s*(?P<word>if|elif|else|endif)\b(?P<condition>.*?)(?:[-+]?%\}|\Z)", re.DOTALL)
_ASKED = re.compile(r"\s*(?P<negated>not\s+)?is_incremental\s*\(\s*\)(?:\s+and\b.*)?\s*\Z", re.DOTALL)


def incremental_branches(text: str) -> Iterator[Span]:
    """Yield the branches of `{% if is_incremental() %}`, and what follows ELSE where the condition is negated."""
    branches: list[tuple[int | None, bool]] = []
    for tag in _BRANCH.finditer(text):
        word = tag["word"]
        if word != "if":
            if not branches:
                return
            start, is_next = branches.pop()
            if start is not None:
                yield Span(start, tag.start())
            if word != "endif":
                branches.append((tag.end() if is_next and word == "else" else None, False))
            continue
        condition = _ASKED.match(tag["condition"])
        negated = condition is not None and condition["negated"] is not None
        branches.append((tag.end() if condition is not None and not negated else None, negated))
