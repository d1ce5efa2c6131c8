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
    found: dict[str, str] = {}
    places: dict[str, Place] = {}
    for source in sources:
        opened: re.Match[str] | None = None
        for tag in _TAG.finditer(source.text):
            place = source.place(*tag.span())
            if tag["end"] is None:
                if tag["unnamed"]:
                    problems.add("docs-block", "a docs block without a name", place, "write {% docs name %}")
                if opened is not None:
                    _not_closed(source, opened, problems)
                opened = tag
            elif opened is None:
                problems.add("docs-block", "{% enddocs %} without {% docs %}", place)
            else:
                name = opened["name"]
                if name in found:
                    message = f'the docs block "{name}" is defined twice, first in {places[name]}'
                    at = source.place(*opened.span("name"))
                    problems.add("duplicate-name", message, at, "give one of them another name")
                elif name is not None:
                    found[name] = source.text[opened.end() : tag.start()].strip()
                    places[name] = source.place(*opened.span("name"))
                opened = None
        if opened is not None:
            _not_closed(source, opened, problems)
    return found


def _not_closed(source: SourceText, opened: re.Match[str], problems: Problems) -> None:
    message = "a docs block is never closed: {% enddocs %} is missing"
    problems.add("docs-block", message, source.place(*opened.span()))
