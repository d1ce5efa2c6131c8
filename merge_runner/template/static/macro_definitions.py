"""The macros that a file defines, read without Jinja."""

from __future__ import annotations

import re
from dataclasses import dataclass

from merge_runner.template.static.tags import STRING
from merge_runner.text import Place, SourceText

TEST_PREFIX = "test_"
"""Before the name of a data test in the name of its macro."""

# Comments, raw blocks and strings hide what looks like a macro inside them; one without an end, all that follows.
_TAG = re.compile(
    rf"""
      \{{\#.*?(?:\#\}}|\Z)
    | \{{%[-+]?\s*raw\s*-?%\}} .*? (?:\{{%[-+]?\s*endraw\s*[-+]?%\}}|\Z)
    | \{{\{{ (?:{STRING}|['"].*|[^'"])*? (?:\}}\}}|\Z)
    | \{{%[-+]?\s*(?:(?P<open>macro|test|data_test)\s+(?P<name>[A-Za-z_]\w*)|(?P<close>end(?:macro|test|data_test))\b|)
      (?:{STRING}|['"].*|[^'"])*? (?:%\}}|\Z)
    """,
    re.X | re.S,
)


@dataclass(frozen=True, slots=True)
class MacroDefinition:
    """A macro of the project: its name, the place of the name, and its text from `{% macro` to `endmacro %}`.

    `{% test name(…) %}` is the macro `test_name`, as in dbt.
    """

    name: str
    place: Place
    text: str


def macro_definitions(source: SourceText) -> list[MacroDefinition]:
    """The macros of a file in their order; a macro inside a macro is not seen from outside and left out."""
    definitions = []
    outer: list[re.Match[str]] = []
    for tag in _TAG.finditer(source.text):
        if tag["open"]:
            outer.append(tag)
        elif tag["close"] and outer:
            opening = outer.pop()
            if not outer:
                place = source.place(*opening.span("name"))
                name = opening["name"] if opening["open"] == "macro" else TEST_PREFIX + opening["name"]
                definitions.append(MacroDefinition(name, place, source.text[opening.start() : tag.end()]))
    return definitions


def test_macro(test: str) -> str:
    """Return the name of the macro of a data test, with its package where it has one: `dbt_utils.test_at_least_one`."""
    package, dot, name = test.rpartition(".")
    return f"{package}{dot}{TEST_PREFIX}{name}"
