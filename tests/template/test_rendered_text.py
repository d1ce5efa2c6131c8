"""Rendering against plain Jinja: the same text, and every character leads back to where it came from."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from merge_runner.relation import Relation
from merge_runner.template.context import Context
from merge_runner.template.rendered_text import RenderedText
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText

NAMES = {"model_name": "m", "target": {"schema": "s"}, "this": Relation("m", "s")}
PLAIN = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True, extensions=["jinja2.ext.do"])
CONTEXT = Context("m", Relation("m", "s"), Relation, lambda _, table: Relation(table), {}, {}, {"schema": "s"}, False)
TEXTS = [
    "a",
    "select *\n",
    " ",
    "\n",
    "\n\n  ",
    "\t",
    "é ",
    "x = '%'",
    "} ",
    "-- c\n",
    "%}",
    "}}",
    "#}",
    "(1, 2)",
    "{ ",
    "\u2028",
]
EXPRESSIONS = [
    "1 + 2", "model_name", "'a' ~ 'b\n'", "target.schema", "[1, 2]|join(', ')", "i|default('-')", "this",
    "'x' if i is defined else ''", "''", "{'a': '}}'}['a']", "target['schema']|upper", "none", "-1", "(1, 2)[0]",
]  # fmt: skip


def render(text: str, context: Context = CONTEXT, macros: str = "") -> RenderedText:
    templates = Templates([SourceText("macros/m.sql", macros)] if macros else [])
    return templates.render(SourceText("models/m.sql", text), context)


class Writer:
    """Writes a random template. `[n]` comes from the n-th expression that stands outside every buffer."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.expressions = 0
        self.macros = 0

    def some(self, depth: int, *, buffered: bool) -> str:
        return "".join(self.one(depth, buffered=buffered) for _ in range(self.draw(st.integers(0, 4))))

    def sign(self, signs: tuple[str, ...] = ("", "", "-")) -> str:
        return self.draw(st.sampled_from(signs))

    def tag(self, inside: str) -> str:
        return f"{{%{self.sign(('', '', '-', '+'))} {inside} {self.sign(('', '', '-', '+'))}%}}"

    def one(self, depth: int, *, buffered: bool) -> str:
        kinds = ["text", "text", "expression", "expression", "comment", "raw", "set", "print"]
        if depth > 0:
            kinds += ["if", "for", "filtered for", "recursive for", "set block", "macro", "call", "filter", "with"]
        kind = self.draw(st.sampled_from(kinds))
        if kind == "text":
            return self.draw(st.sampled_from(TEXTS))
        if kind == "expression":
            return self.expression(buffered=buffered)
        if kind == "comment":
            return f"{{#{self.sign()} {self.draw(st.sampled_from(TEXTS)).replace('#}', '')} {self.sign()}#}}"
        if kind == "raw":
            text = self.draw(st.sampled_from(["{{ a }}", " {% x %} ", "", "\n"]))
            return f"{{%{self.sign()} raw {self.sign()}%}}{text}{{%{self.sign()} endraw {self.sign()}%}}"
        if kind == "set":
            return self.tag("set y = 'q'")
        if kind == "print":
            return self.tag("print 'p', model_name")
        return self.block(kind, depth - 1, buffered=buffered)

    def expression(self, *, buffered: bool) -> str:
        inside = self.draw(st.sampled_from(EXPRESSIONS))
        if not buffered and self.draw(st.booleans()):
            inside = f"'[{self.expressions}]' ~ {inside.join('()')}"
            self.expressions += 1
        space = self.draw(st.sampled_from(["", " ", "\n  "]))
        return f"{{{{{self.sign()}{space or ' '}{inside}{space}{self.sign()}}}}}"

    def block(self, kind: str, depth: int, *, buffered: bool) -> str:
        if kind == "if":
            test = self.draw(st.sampled_from(["true", "false", "i is defined", "model_name == 'm'"]))
            first, second = (self.some(depth, buffered=buffered) for _ in range(2))
            return self.tag(f"if {test}") + first + self.tag("else") + second + self.tag("endif")
        if kind == "for":
            body, other = (self.some(depth, buffered=buffered) for _ in range(2))
            items = self.draw(st.sampled_from(["range(3)", "[]", "'ab'"]))
            return self.tag(f"for i in {items}") + body + self.tag("else") + other + self.tag("endfor")
        if kind == "filtered for":
            body = self.some(depth, buffered=buffered) + ("{{ loop.index }}" if self.draw(st.booleans()) else "")
            return self.tag("for i in range(4) if i is odd") + body + self.tag("endfor")
        if kind == "with":
            return self.tag("with y = 1") + self.some(depth, buffered=buffered) + self.tag("endwith")
        body = self.some(depth, buffered=True)
        if kind == "recursive for":
            again = "{{ loop(i) }}" if self.draw(st.booleans()) else ""
            return self.tag("for i in [[], [[]]] recursive") + body + again + self.tag("endfor")
        if kind == "set block":
            return self.tag("set z") + body + self.tag("endset") + self.draw(st.sampled_from(["", "{{ z }}"]))
        if kind == "filter":
            return self.tag("filter upper") + body + self.tag("endfilter")
        self.macros += 1
        name = f"macro_{self.macros}"
        caller = "({{ caller() }})" if kind == "call" else ""
        macro = self.tag(f"macro {name}(i='d')") + self.some(depth, buffered=True) + caller + self.tag("endmacro")
        if kind == "call":
            return macro + self.tag(f"call {name}(1)") + body + self.tag("endcall")
        return macro + self.draw(st.sampled_from(["", f"{{{{ {name}() }}}}", f"{{{{ {name}('v')|upper }}}}"]))


@st.composite
def templates(draw: st.DrawFn) -> str:
    writer = Writer(draw)
    return "".join(writer.one(3, buffered=False) for _ in range(draw(st.integers(1, 6))))


def assert_like_plain_jinja(text: str) -> None:
    rendered = render(text)
    assert rendered.text == PLAIN.from_string(text).render(NAMES)
    source = rendered.source
    tags = {(tag.start, tag.end) for tag in rendered.map.tags}
    assert all(re.fullmatch(r"\{\{.*\}\}|\{%.*%\}", text[start:end], re.S) for start, end in tags)
    for offset, char in enumerate(rendered.text):
        span = rendered.map.span(offset, offset + 1)
        if rendered.map.is_authored(offset, offset + 1):
            assert span.of(text) == char
            assert not any(start <= span.start < end for start, end in tags)
        else:
            assert (span.start, span.end) in tags
        assert rendered.place(offset, offset + 1) == source.place(span.start, span.end)
    for number in re.finditer(r"\[(\d+)\]", rendered.text):
        span = rendered.map.span(number.start(), number.end())
        if text.count(f"'{number.group()}'") == 1:
            assert f"'{number.group()}'" in span.of(text)


@given(templates())
def test_renders_as_plain_jinja_and_every_character_leads_back(text: str) -> None:
    assert_like_plain_jinja(text)


@pytest.mark.nightly
@given(templates())
@settings(max_examples=5000, deadline=None)
def test_renders_as_plain_jinja_and_every_character_leads_back_for_many(text: str) -> None:
    assert_like_plain_jinja(text)
