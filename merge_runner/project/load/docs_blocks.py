"""Docs blocks: `{% docs name %} … {% enddocs %}` in the .md files of a project, for `doc('name')` in descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from merge_runner.errors import Problems
from merge_runner.text import Place, SourceText

_TAG = re.compile(r"\{%[-+]?\s*(?:docs\s+(?P<name>\w+)|(?P<unnamed>docs)|(?P<end>enddocs))\s*[-+]?%\}")


def docs_blocks(sources: Iterable[SourceText], problems: Problems) -> dict[str, str]:
    """Return the texts of all blocks by name, without the blanks around them, as in dbt.

    A block that is not closed, has no name or is inside another one, and a second block of a name, is a problem.
    """
    texts: dict[str, str] = {}
    places: dict[str, Place] = {}
    for source in sources:
        opening: re.Match[str] | None = None
        for tag in _TAG.finditer(source.text):
            place = source.place(*tag.span())
            if tag["end"] is None:
                if tag["unnamed"]:
                    problems.add("docs-block", "a docs block without a name", place, "write {% docs name %}")
                if opening is not None:
                    _add_unclosed(source, opening, problems)
                opening = tag
            elif opening is None:
                problems.add("docs-block", "{% enddocs %} without {% docs %}", place)
            else:
                name = opening["name"]
                if name in texts:
                    message = f'the docs block "{name}" is defined twice, first in {places[name]}'
                    at = source.place(*opening.span("name"))
                    problems.add("duplicate-name", message, at, "give one of them another name")
                elif name is not None:
                    texts[name] = source.text[opening.end() : tag.start()].strip()
                    places[name] = source.place(*opening.span("name"))
                opening = None
        if opening is not None:
            _add_unclosed(source, opening, problems)
    return texts


def _add_unclosed(source: SourceText, opening: re.Match[str], problems: Problems) -> None:
    message = "a docs block is never closed: {% enddocs %} is missing"
    problems.add("docs-block", message, source.place(*opening.span()))
