"""What a fix changes, as lines that go and lines that come."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from merge_runner.lint.finding import Fix
from merge_runner.lint.fixes import apply
from merge_runner.text import SourceText


def changed_lines(source: SourceText, fix: Fix) -> Iterator[str]:
    """The lines that change, `-` or `+` in front, without the ones around them; none where it cannot be applied."""
    fixed = apply(source, [fix], unsafe=True).text
    for number, line in enumerate(unified_diff(source.text.split("\n"), fixed.split("\n"), n=0, lineterm="")):
        if number > 1 and not line.startswith("@@"):
            yield line
