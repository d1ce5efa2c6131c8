"""What macros returned for the same arguments and vars: many models call the same few, and rendering one takes longer.

Kept is what plain macros return (`static/plain_macros.py`) that say nothing about the model which calls them: all that
they read is their arguments and vars.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from merge_runner.template.captured import Captured
from merge_runner.template.context import Context
from merge_runner.template.static.macro_definitions import MacroDefinition
from merge_runner.text import SourceText

_OTHERS = re.compile(r"\b(?:target|model_name|env_var)\b")
"""What a plain macro may read besides."""
_SIMPLE = (str, int, float, bool, type(None))
_MISSING = object()
_MOST_KEPT = 4096
_LONGEST = 1000
"""Characters of a result that is kept."""


@dataclass(frozen=True)
class Call:
    """A call of a macro: what it says about the file that calls, and what distinguishes it from other calls."""

    captured: Captured
    key: tuple[str, str]


class MacroResults:
    """The results of calls, by what they depend on."""

    def __init__(
        self,
        plain: Mapping[str, Captured],
        definitions: Mapping[str, MacroDefinition],
        files: Mapping[str, SourceText],
    ) -> None:
        """Take the plain macros of a project with what each captures; of all macros the definitions, and their files.

        A macro of a file with other tags around is left out: they may define it for some models alone.
        """
        odd = {source.path for source in files.values() if "{%" in _around(source, definitions.values())}

        def may_differ(name: str) -> bool:
            return files[name].path in odd or _OTHERS.search(definitions[name].text) is not None

        self._plain = {name: captured for name, captured in plain.items() if not any(map(may_differ, captured.macros))}
        self._known: dict[tuple[str, str], str] = {}

    def call(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], context: Context) -> Call | None:
        """Return a call whose result may be kept; None for any other."""
        captured = self._plain.get(name)
        if captured is None or context.macros or not all(type(each) in _SIMPLE for each in (*args, *kwargs.values())):
            return None
        read = [(each, context.vars.get(each, _MISSING)) for each in sorted(captured.vars)]
        return Call(captured, (name, repr((args, kwargs, read))))

    def get(self, call: Call) -> str | None:
        """Return the result of such a call, where there was one."""
        return self._known.get(call.key)

    def put(self, call: Call, result: Any) -> None:
        """Keep the result of a call."""
        if type(result) is str and len(result) <= _LONGEST:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            self._known[call.key] = result


def _around(source: SourceText, definitions: Iterable[MacroDefinition]) -> str:
    """Return the text of a file without the macros in it."""
    text = source.text
    for definition in definitions:
        if definition.place.path == source.path:
            text = text.replace(definition.text, "")
    return text
