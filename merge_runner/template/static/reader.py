"""Reads a text of plain tags: outputs, `if`, `for`, `set`, macros, and expressions of names, calls and constants.

What a name, a call or a filter means says the `Meaning` that a reader is given (`parts.py`). Anything else is refused,
and so is all that Jinja would refuse.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from keyword import iskeyword
from operator import contains, eq, ge, gt, le, lt, ne
from typing import Any, Generic, NamedTuple

from merge_runner.template.static.parts import Call, For, If, Macro, Meaning, Output, Part, Set, Text, Value
from merge_runner.template.static.scan import UncertainError, literal_value
from merge_runner.template.static.tags import OPENING
from merge_runner.text import Span

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?!\w)")
_KEYWORD = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*=(?!=)\s*")
_CONSTANT = re.compile(r"['\"\[{]|-?[0-9]|(?:[Tt]rue|[Ff]alse|[Nn]one)(?!\w)")
_COMPARISON = re.compile(r"==|!=|<=|>=|<|>")
_IN = re.compile(r"(not\s+)?in(?!\w)")
_IS_NONE = re.compile(r"is\s+(not\s+)?none(?!\w)(?!\s*(?!(?:and|or|else)\b)[\w'\"(\[{])")
"""Jinja takes any other word or value after a test as its argument."""
_SPACE = re.compile(r"\s*")
_BLOCK = re.compile(r"\s*(if|elif|else|endif|set|for|endfor|macro|endmacro)(?!\w)\s*")
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {"==": eq, "!=": ne, "<=": le, ">=": ge, "<": lt, ">": gt}
_RESERVED = frozenset(
    {"and", "or", "not", "in", "is", "if", "else", "elif", "self", "super", "loop", "caller", "varargs", "kwargs"}
    | {"True", "False", "None", "true", "false", "none"}
)
"""Words of Jinja's expressions, and names that it gives a meaning."""
CALL_OFFSET = "_call_offset"
"""The keyword by which `Environment.call` gets the offset of the call in the source."""
_LOOP = frozenset({"first", "last", "index", "index0"})
_DEEPEST = 20
"""Calls in each other, and blocks in each other."""
_DEEPEST_LOOP = 8


class _Ending(NamedTuple):
    """A tag that ends a block or branch: its word, and where it begins."""

    word: str
    start: int


class Reader(Generic[Value]):
    """Reads one text; raises UncertainError at what only Jinja can read."""

    def __init__(self, meaning: Meaning[Value], text: str) -> None:
        self.tags: list[Span] = []
        self._meaning = meaning
        self._text = text
        self._at = 0
        self._read: set[str] = set()
        """Names that were read so far, and parameters."""
        self._assigned: set[str] = set()
        self._loops: list[str] = []
        """The names of the loops that are open."""
        self._left: set[str] = set()
        """The names of the loops that are closed."""
        self._operands = 0
        self._in_macro = False

    def template(self) -> list[Part]:
        """Return the parts of the whole text. Raises UncertainError, ValueError and RecursionError."""
        if "\r" in self._text:
            raise UncertainError
        parts, ending = self._parts(0)
        if ending is not None:
            raise UncertainError
        return parts

    def _parts(self, depth: int) -> tuple[list[Part], _Ending | None]:
        """Return what comes up to a tag that ends a block, and that tag; None: up to the end of the text."""
        text = self._text
        parts: list[Part] = []
        while opening := OPENING.search(text, self._at):
            start = opening.start()
            strips = text.startswith("-", start + 2)
            before = text[self._at : start]
            if strips:
                before = before.rstrip()
            if before:
                parts.append(Text(self._at, before))
            self._at = start + 2 + strips
            if opening.group() == "{#":
                self._comment()
            elif opening.group() == "{{":
                origin = -1 - len(self.tags)
                parts.append(Output(origin, self._output(start)))
            else:
                word = self._word()
                if word == "if":
                    parts.append(self._if(start, depth + 1))
                elif word == "set":
                    parts.append(self._set(start, depth))
                elif word == "for":
                    parts.append(self._for(start, depth + 1))
                elif word == "macro":
                    parts.append(self._macro(start, depth))
                else:
                    return parts, _Ending(word, start)
        if self._at < len(text):
            parts.append(Text(self._at, text[self._at :]))
            self._at = len(text)
        return parts, None

    def _comment(self) -> None:
        end = self._text.find("#}", self._at)
        if end < 0:
            raise UncertainError
        strips = end > self._at and self._text[end - 1] == "-"
        self._at = end + 2
        if strips:
            self._space()

    def _close(self, brackets: str, start: int) -> None:
        """Read the end of the tag that begins at `start`."""
        self._space()
        strips = self._text.startswith("-", self._at)
        self._at += strips
        if not self._text.startswith(brackets, self._at):
            raise UncertainError
        self._at += 2
        self.tags.append(Span(start, self._at))
        if strips:
            self._space()

    def _word(self) -> str:
        found = _BLOCK.match(self._text, self._at)
        if found is None:
            raise UncertainError
        self._at = found.end()
        return found[1]

    def _set(self, start: int, depth: int) -> Set:
        name = self._name()
        if not self._takes("="):
            raise UncertainError
        self._space()
        value = self._expression(0)
        # Jinja decides by the order of the whole text what a name means before it has a value.
        if depth or name in self._read or name in self._left:
            raise UncertainError
        self._assigned.add(name)
        self._close("%}", start)
        return Set(name, value)

    def _if(self, start: int, depth: int) -> If:
        if depth > _DEEPEST:
            raise UncertainError
        branches: list[tuple[Value, list[Part]]] = []
        otherwise: list[Part] = []
        ending: _Ending | None = _Ending("if", start)
        while ending is not None and ending.word in ("if", "elif"):
            condition = self._condition(0)
            self._close("%}", ending.start)
            inside, ending = self._parts(depth)
            branches.append((condition, inside))
        if ending is not None and ending.word == "else":
            self._close("%}", ending.start)
            otherwise, ending = self._parts(depth)
        self._end(ending, "endif")
        return If(branches, otherwise)

    def _for(self, start: int, depth: int) -> For:
        name = self._name()
        if not self._meaning.extended or len(self._loops) >= _DEEPEST_LOOP or not self._takes_word("in"):
            raise UncertainError
        iterated = self._condition(0)
        # As with `set`, and a loop has names of its own: each is one of a loop alone.
        if name in self._read or name in self._assigned or name in self._loops:
            raise UncertainError
        self._close("%}", start)
        self._loops.append(name)
        inside, ending = self._parts(depth)
        self._end(ending, "endfor")
        self._left.add(self._loops.pop())
        return For(name, iterated, inside)

    def _macro(self, start: int, depth: int) -> Macro:
        """Read a macro of a file: it sees nothing of the text around it."""
        if depth or self._in_macro or not self._meaning.extended or self._assigned:
            raise UncertainError
        name = self._name()
        parameters: list[str] = []
        defaults: dict[str, Any] = {}
        if not self._takes("("):
            raise UncertainError
        for _ in self._items(")"):
            parameter = self._name()
            if parameter in parameters:
                raise UncertainError
            parameters.append(parameter)
            if self._takes("="):
                self._space()
                defaults[parameter], self._at = literal_value(self._text, self._at)
            elif defaults:
                raise UncertainError
        self._close("%}", start)
        outside = self._read
        self._read, self._left = set(parameters), set()
        self._in_macro = True
        inside, ending = self._parts(0)
        self._in_macro = False
        self._end(ending, "endmacro")
        self._read, self._left, self._assigned = outside | {name}, set(), set()
        return Macro(name, parameters, defaults, inside)

    def _end(self, ending: _Ending | None, word: str) -> None:
        if ending is None or ending.word != word:
            raise UncertainError
        self._close("%}", ending.start)

    def _condition(self, depth: int) -> Value:
        """Read a condition: `or` of `and` of `not` of comparisons."""
        found = self._all(depth)
        while self._takes_word("or"):
            found = self._meaning.either(found, self._all(depth))
        return found

    def _all(self, depth: int) -> Value:
        found = self._negated(depth)
        while self._takes_word("and"):
            found = self._meaning.both(found, self._negated(depth))
        return found

    def _negated(self, depth: int) -> Value:
        if self._takes_word("not"):
            return self._meaning.negated(self._negated(depth))
        self._space()
        left = self._joined(depth)
        self._space()
        operator = _COMPARISON.match(self._text, self._at)
        if operator is not None:
            self._at = operator.end()
            self._space()
            return self._meaning.compared(_OPERATORS[operator.group()], left, self._joined(depth))
        inside = _IN.match(self._text, self._at) if self._meaning.extended else None
        if inside is None:
            return left
        self._at = inside.end()
        self._space()
        found = self._meaning.compared(contains, self._joined(depth), left)
        return self._meaning.negated(found) if inside[1] else found

    def _joined(self, depth: int) -> Value:
        value = self._value(depth)
        if not self._meaning.extended or not self._takes("~"):
            return value
        values = [value]
        while True:
            self._space()
            values.append(self._value(depth))
            if not self._takes("~"):
                return self._meaning.joined(values)

    def _expression(self, depth: int) -> Value:
        """Read what an output, an argument or a variable is."""
        if not self._meaning.extended:
            return self._value(depth)
        if depth > _DEEPEST:
            raise UncertainError
        value = self._condition(depth)
        if not self._takes_word("if"):
            return value
        condition = self._condition(depth)
        if not self._takes_word("else"):
            raise UncertainError
        return self._meaning.chosen(value, condition, self._expression(depth + 1))

    def _output(self, start: int) -> Value:
        self._space()
        before = self._operands
        value = self._expression(0)
        if self._operands == before:
            raise UncertainError  # Jinja writes a constant into its code
        self._close("}}", start)
        return value

    def _value(self, depth: int) -> Value:
        """Read a constant, or a name with attributes, a call and filters."""
        if depth > _DEEPEST:
            raise UncertainError
        if self._meaning.extended:
            return self._tested(self._primary(depth))
        if _CONSTANT.match(self._text, self._at):
            return self._literal()
        return self._filtered(self._operand(depth), depth)

    def _primary(self, depth: int) -> Value:
        if self._takes("("):
            self._space()
            value = self._expression(depth + 1)
            if not self._takes(")"):
                raise UncertainError
            return self._filtered(value, depth)
        if not _CONSTANT.match(self._text, self._at):
            return self._filtered(self._operand(depth), depth)
        at = self._at
        try:
            return self._filtered(self._literal(), depth)
        except UncertainError:
            self._at = at
            return self._filtered(self._list(depth), depth)

    def _list(self, depth: int) -> Value:
        if not self._takes("["):
            raise UncertainError
        return self._meaning.listed([self._expression(depth + 1) for _ in self._items("]")])

    def _literal(self) -> Value:
        value, self._at = literal_value(self._text, self._at)
        return self._meaning.constant(value)

    def _tested(self, value: Value) -> Value:
        self._space()
        found = _IS_NONE.match(self._text, self._at)
        if found is None:
            return value
        self._at = found.end()
        value = self._meaning.is_none(value)
        return self._meaning.negated(value) if found[1] else value

    def _operand(self, depth: int) -> Value:
        offset = self._at
        self._operands += 1
        if self._loops and self._takes_word("loop"):
            name = self._name() if self._takes(".") else ""
            if name not in _LOOP:
                raise UncertainError
            return self._meaning.of_loop(name)
        name = self._name()
        if name not in self._loops:
            if name in self._left:
                raise UncertainError
            self._read.add(name)
        attributes = []
        while self._takes("."):
            dot = self._at - 1
            self._space()
            attributes.append((self._name(), dot))
        call = None
        if self._takes("("):
            args, kwargs = self._arguments(depth)
            call = Call(args, kwargs, self._at)
        return self._meaning.operand(name, offset, attributes, call)

    def _filtered(self, value: Value, depth: int) -> Value:
        while self._takes("|"):
            self._space()
            name = self._name()
            args, kwargs = self._arguments(depth) if self._takes("(") else ([], {})
            value = self._meaning.filtered(name, value, args, kwargs)
        return value

    def _arguments(self, depth: int) -> tuple[list[Value], dict[str, Value]]:
        """Read arguments and the closing parenthesis."""
        args: list[Value] = []
        kwargs: dict[str, Value] = {}
        for _ in self._items(")"):
            keyword = _KEYWORD.match(self._text, self._at)
            if keyword is not None:
                if keyword[1] in kwargs or iskeyword(keyword[1]) or keyword[1] == CALL_OFFSET:
                    raise UncertainError
                self._at = keyword.end()
                kwargs[keyword[1]] = self._expression(depth + 1)
            elif kwargs:
                raise UncertainError
            else:
                args.append(self._expression(depth + 1))
        return args, kwargs

    def _items(self, closing: str) -> Iterator[None]:
        """Yield where an item of a list begins, which has commas between items, and read the sign that closes it."""
        self._space()
        while not self._takes(closing):
            yield
            if not self._takes(","):
                if not self._takes(closing):
                    raise UncertainError
                return
            self._space()

    def _name(self) -> str:
        found = _NAME.match(self._text, self._at)
        if found is None or found.group() in _RESERVED:
            raise UncertainError
        self._at = found.end()
        return found.group()

    def _space(self) -> None:
        found = _SPACE.match(self._text, self._at)
        assert found is not None
        self._at = found.end()

    def _takes(self, sign: str) -> bool:
        """Read a sign where it comes next, after blanks."""
        self._space()
        if not self._text.startswith(sign, self._at):
            return False
        self._at += 1
        return True

    def _takes_word(self, word: str) -> bool:
        self._space()
        found = _NAME.match(self._text, self._at)
        if found is None or found.group() != word:
            return False
        self._at = found.end()
        return True
