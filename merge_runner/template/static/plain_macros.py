"""Which macros of a project say the same about every file that calls them, found without Jinja."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Set

from merge_runner.template.capture import Capture
from merge_runner.template.static.macro_definitions import MacroDefinition
from merge_runner.template.static.tags import OPENING, STRING

_HEAD = re.compile(rf"\{{%[-+]?\s*macro\b(?:{STRING}|[^'\"])*?%\}}", re.S)
_TAIL = re.compile(r"\{%[-+]?\s*endmacro\s*[-+]?%\}\Z")
# A brace inside a tag may be a dict, whose end is not that of the tag: these are left to Jinja.
_OUTPUT = re.compile(rf"\{{\{{[-+]?((?:{STRING}|[^'\"{{}}])*?)[-+]?\}}\}}", re.S)
_BLOCK = re.compile(rf"\{{%[-+]?\s*([a-z]+)\b((?:{STRING}|[^'\"{{}}])*?)[-+]?%\}}", re.S)
_COMMENT = re.compile(r"\{#.*?#\}", re.S)
_SET = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)(.*)", re.S)
_FOR = re.compile(r"\s*([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)\s+in\b(.*)", re.S)
_VAR = re.compile(r"""(?<![\w.])var\s*\(\s*('[^'\\\n]*'|"[^"\\\n]*")\s*[,)]""")
_WORD = re.compile(rf"{STRING}|['\"].*|(?<![\w.])[A-Za-z_]\w*", re.S)
_FILTER_OR_TEST = re.compile(r"\|\s*[A-Za-z_]\w*|(?<![\w.])is\s+(?:not\s+)?[A-Za-z_]\w*")
_KEYWORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*\s*=(?!=)")
_SILENT = frozenset({"var", "target", "model_name"} | {"not", "in", "true", "false", "none", "True", "False", "None"})
"""Words, besides parameters and other macros, that say nothing about a file, or that are read here (`var`)."""
_SKIPPING = frozenset({"if", "else", "and", "or"})
"""Words that skip what follows them."""


def plain_macros(definitions: Iterable[MacroDefinition]) -> Mapping[str, Capture]:
    """What a call of each macro adds to what its file says: itself, the macros below it, and the vars that they read.

    Macros that read a var or call another inside of a branch or loop, those with a name that may say something (`ref`,
    `this`…) or that is unknown, are left out, and so is what calls them: these need rendering.
    """
    by_name = {macro.name: macro for macro in definitions}
    captures: dict[str, Capture | None] = {}

    def capture(name: str) -> Capture | None:
        if name not in captures:
            captures[name] = None  # while it is read: one that calls itself is not plain
            captures[name] = _capture(by_name[name])
        return captures[name]

    def _capture(macro: MacroDefinition) -> Capture | None:
        head = _HEAD.match(macro.text)
        tail = _TAIL.search(macro.text)
        if head is None or tail is None:
            return None
        parameters = set(_names(head.group()))
        if not {"var", *by_name}.isdisjoint(parameters - {"macro", macro.name}):
            return None  # a parameter hides the name, or a default calls it
        body = _Body(parameters, by_name)
        try:
            body.read(macro.text[head.end() : tail.start()])
        except _NotPlainError:
            return None
        macros, read_vars = {macro.name}, body.vars
        for callee in body.callees - {macro.name}:
            below = capture(callee)
            if below is None:
                return None
            macros |= below.macros
            read_vars |= below.vars
        return Capture(vars=frozenset(read_vars), macros=frozenset(macros))

    return {name: captured for name in by_name if (captured := capture(name)) is not None}


class _NotPlainError(Exception):
    """Only rendering says what a macro reads and calls."""


class _Body:
    """Reads the text of a macro: which vars it reads, and which macros it calls, whatever it is given."""

    def __init__(self, parameters: Set[str], macros: Collection[str]) -> None:
        self.vars: set[str] = set()
        self.callees: set[str] = set()
        self._macros = macros
        self._blocks: list[str] = []
        """The words of the blocks that are open."""
        self._assigned_names: list[set[str]] = [set(parameters)]
        """The names that have a value: of the macro, and of each open block."""

    def read(self, text: str) -> None:
        """Read the text. Raises _NotPlainError."""
        at = 0
        while opening := OPENING.search(text, at):
            kind = {"{{": _OUTPUT, "{%": _BLOCK, "{#": _COMMENT}[opening.group()]
            tag = kind.match(text, opening.start())
            if tag is None:
                raise _NotPlainError
            if kind is _OUTPUT:
                self._expression(tag[1], always=not self._blocks)
            elif kind is _BLOCK:
                self._block(tag[1], tag[2])
            at = tag.end()
        if self._blocks:
            raise _NotPlainError

    def _block(self, word: str, jinja: str) -> None:
        if word == "set":
            self._set(jinja)
        elif word == "if":
            self._expression(jinja, always=not self._blocks)
            self._enter("if")
        elif word == "for":
            self._for(jinja)
        elif word in ("elif", "else") and self._blocks and (word == "else" or self._blocks[-1] == "if"):
            self._expression(jinja, always=False)
            self._assigned_names[-1] = set()
        elif word in ("endif", "endfor") and self._blocks and word == f"end{self._blocks[-1]}" and not jinja.strip():
            self._blocks.pop()
            self._assigned_names.pop()
        else:
            raise _NotPlainError

    def _set(self, jinja: str) -> None:
        statement = _SET.match(jinja)
        if statement is None:
            raise _NotPlainError
        self._expression(statement[2], always=not self._blocks)
        self._name(statement[1])

    def _for(self, jinja: str) -> None:
        statement = _FOR.match(jinja)
        if statement is None or not {"if", "recursive"}.isdisjoint(_names(statement[2])):
            raise _NotPlainError
        self._expression(statement[2], always=not self._blocks)
        self._enter("for")
        for name in statement[1].split(","):
            self._name(name.strip())
        self._assigned_names[-1].add("loop")

    def _enter(self, word: str) -> None:
        self._blocks.append(word)
        self._assigned_names.append(set())

    def _name(self, name: str) -> None:
        """Take a name that gets a value. Raises _NotPlainError where it had a meaning."""
        if name in _SILENT or name in self._macros or name == "loop":
            raise _NotPlainError
        self._assigned_names[-1].add(name)

    def _expression(self, jinja: str, *, always: bool) -> None:
        """Read an expression; `always`: it is evaluated whatever the macro is given."""
        names = set(words := _names(_KEYWORD.sub(" ", jinja)))
        variables = [text[1:-1] for text in _VAR.findall(jinja)]
        callees = names.intersection(self._macros)
        if (
            words.count("var") != len(variables)
            or not _SILENT.union(_SKIPPING, callees, *self._assigned_names) >= names
        ):
            raise _NotPlainError
        if (variables or callees) and not (always and _SKIPPING.isdisjoint(names)):
            raise _NotPlainError
        self.vars |= set(variables)
        self.callees |= callees


def _names(jinja: str) -> list[str]:
    """The names in a piece of Jinja, without filters, tests, attributes and strings."""
    return [word for word in _WORD.findall(_FILTER_OR_TEST.sub(" ", jinja)) if word[0] not in "'\""]
