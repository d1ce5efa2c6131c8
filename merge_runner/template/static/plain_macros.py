"""Which macros of a project say the same about every file that calls them, found without Jinja."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from merge_runner.template.captured import Captured
from merge_runner.template.static.macro_definitions import MacroDefinition
from merge_runner.template.static.tags import STRING

_HEAD = re.compile(rf"\{{%[-+]?\s*macro\b(?:{STRING}|[^'\"])*?%\}}", re.S)
_TAIL = re.compile(r"\{%[-+]?\s*endmacro\s*[-+]?%\}\Z")
_TAG = re.compile(rf"\{{\{{((?:{STRING}|[^'\"])*?)\}}\}}", re.S)
_VAR = re.compile(r"""(?<![\w.])var\s*\(\s*('[^'\\\n]*'|"[^"\\\n]*")\s*[,)]""")
_WORD = re.compile(rf"{STRING}|(?<![\w.])[A-Za-z_]\w*", re.S)
_FILTER = re.compile(r"\|\s*[A-Za-z_]\w*")
_SILENT = frozenset(
    {"var", "target", "model_name"} | {"not", "in", "is", "true", "false", "none", "True", "False", "None"}
)
"""Words, besides its parameters and other macros, that say nothing about a file, or that are read here (`var`).

Not `if`, `and` and `or`: they skip what follows them.
"""


def plain_macros(definitions: Iterable[MacroDefinition]) -> Mapping[str, Captured]:
    """What a call of each macro adds to what its file says: itself, the macros below it, and the vars that they read.

    Macros with a block inside, with a name that may say something (`ref`, `this`…) or that is unknown, are left out,
    and so is what calls them: these need rendering.
    """
    by_name = {macro.name: macro for macro in definitions}
    found: dict[str, Captured | None] = {}

    def read(name: str) -> Captured | None:
        if name not in found:
            found[name] = None  # while it is read: one that calls itself is not plain
            found[name] = _read(by_name[name])
        return found[name]

    def _read(macro: MacroDefinition) -> Captured | None:
        head = _HEAD.match(macro.text)
        tail = _TAIL.search(macro.text)
        if head is None or tail is None:
            return None
        body = macro.text[head.end() : tail.start()]
        if "{%" in body or "{#" in body:
            return None
        code = " ".join(_TAG.findall(body))
        names, parameters = _names(code), _names(head.group())
        variables = [text[1:-1] for text in _VAR.findall(code)]
        if names.count("var") != len(variables) or not _SILENT.union(parameters, by_name).issuperset(names):
            return None
        if not {"var", *by_name}.isdisjoint(set(parameters) - {"macro", macro.name}):
            return None  # a parameter hides the name, or a default calls it
        macros, read_vars = {macro.name}, set(variables)
        for called in {name for name in names if name in by_name} - {macro.name}:
            below = read(called)
            if below is None:
                return None
            macros |= below.macros
            read_vars |= below.vars
        return Captured(vars=frozenset(read_vars), macros=frozenset(macros))

    return {name: captured for name in by_name if (captured := read(name)) is not None}


def _names(code: str) -> list[str]:
    """The names in a piece of Jinja, without filters, attributes and strings."""
    return [word for word in _WORD.findall(_FILTER.sub("", code)) if word[0] not in "'\""]
