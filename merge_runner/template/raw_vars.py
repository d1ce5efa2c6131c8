"""Where a template puts a var, an environment variable or a value of the target into its text without quoting it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from merge_runner.errors import ProblemsError
from merge_runner.lazy_dataclass import dataclass
from merge_runner.lazy_pattern import pattern
from merge_runner.template.static.tags import read_call
from merge_runner.text import SourceText, Span

if TYPE_CHECKING:
    from jinja2 import nodes

    from merge_runner.template.environment import ModelEnvironment

_MAY_READ = pattern(r"\bvar\s*\(|\benv_var\s*\(|\btarget\s*[.\[]")
_TARGET = pattern(r"target\s*(?:\.\s*\w+|\[[^\]]*\])")
_QUOTING = frozenset({"literal", "identifier", "column_name", "int", "float", "length", "count", "wordcount"})
"""Filters whose result is a quoted text or a number."""
_TEXT_METHODS = frozenset(
    {"upper", "lower", "strip", "lstrip", "rstrip", "replace", "title", "capitalize", "format", "get", "join"}
)
_NAMING = frozenset({"generate_schema_name", "generate_alias_name", "generate_database_name"})
"""Macros whose text is a name that is quoted later, and no SQL."""
_SQL = pattern(
    r"""(?P<string>'(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*") | (?P<name>`[^`]*`)
    | (?P<comment>--[^\n]* | /\*.*?\*/)""",
    re.VERBOSE | re.DOTALL,
)
_VALUE_BEFORE = pattern(r"(?:[=<>]|\b(?:between|like|ilike|rlike))\s*\Z", re.IGNORECASE)
_GLUED = pattern(r"[\w.{]")
_TYPE_BEFORE = pattern(r"\b(?:date|timestamp|timestamp_ntz|timestamp_ltz|interval)\s*\Z", re.IGNORECASE)


@dataclass(frozen=True)
class RawVar:
    """A value that is put out raw. `span` is the call (`var('x')`) or the name (`target.schema`) in the source.

    `tag` is the tag around it. `replacement` is what the range `replaces` becomes where one can say how to quote the
    value: inside quotes that hold nothing else, and after a comparison.
    """

    span: Span
    tag: Span
    replaces: Span | None = None
    replacement: str = ""
    name: str | None = None
    """That of the var, where it is written out in the call."""
    of: Span | None = None
    """The call whose value `set` gave the name at `span`; None where a call is there itself."""
    quoted: bool = False
    """Whether the tag is inside a string of SQL."""
    whole: bool = False
    """Whether the tag holds nothing else."""


def may_read_values(text: str) -> bool:
    """Return whether a template may read a var, an environment variable or a value of the target."""
    # A plain search takes a hundredth of the time of the pattern.
    return "{{" in text and ("var" in text or "target" in text) and _MAY_READ.search(text) is not None


def raw_vars(source: SourceText) -> list[RawVar]:
    """The raw values of a file in their order.

    A value that went through `literal`, `identifier`, `int` or `float`, and one that is only compared, is not raw; nor
    is one in a comment. A name that `set` gives a raw value is raw where it is put out; what a macro makes of an
    argument is not followed. A file that is no Jinja has none.
    """
    text = source.text
    if not may_read_values(text):
        return []
    from jinja2 import TemplateError, nodes

    from merge_runner.template.jinja_compiler import OffsetParser

    parser = OffsetParser(_environment(), source)
    try:
        tree = parser.parse()
    except (TemplateError, ProblemsError, RecursionError):
        return []
    surroundings = _Surroundings(source.text, parser.tags)
    names = _set_names(tree)
    found = []
    for output in _outputs(tree):
        for child in output.nodes:
            if isinstance(child, nodes.TemplateData):
                continue
            for node in _raw(child, names):
                raw = surroundings.raw_var(_span(source.text, node), whole=node is child)
                if raw is None:
                    continue
                held = names[node.name] if isinstance(node, nodes.Name) else None
                of = _span(source.text, held) if held is not None else None
                found.append(replace(raw, name=_var_name(held or node), of=of))
    return sorted(found, key=lambda raw: raw.span)


@cache
def _environment() -> ModelEnvironment:
    from merge_runner.template.environment import ModelEnvironment

    return ModelEnvironment()


def _outputs(tree: nodes.Node) -> Iterator[nodes.Output]:
    from jinja2 import nodes

    for child in tree.iter_child_nodes():
        if isinstance(child, nodes.Output):
            yield child
        elif not (isinstance(child, nodes.Macro) and child.name in _NAMING):
            yield from _outputs(child)


def _set_names(tree: nodes.Template) -> dict[str, nodes.Node]:
    """The names that `set` gives a raw value, each with its first one; not those that loops and macros also bind."""
    from jinja2 import nodes

    found: dict[str, nodes.Node] = {}
    for assign in tree.find_all(nodes.Assign):
        if isinstance(assign.target, nodes.Name):
            for raw in _raw(assign.node, found):
                found.setdefault(assign.target.name, found[raw.name] if isinstance(raw, nodes.Name) else raw)
    bound: list[nodes.Node] = [loop.target for loop in tree.find_all(nodes.For)]
    bound += [argument for macro in tree.find_all(nodes.Macro) for argument in macro.args]
    bound += [argument for block in tree.find_all(nodes.CallBlock) for argument in block.args]
    for target in bound:
        for name in (target, *target.find_all(nodes.Name)):
            if isinstance(name, nodes.Name):
                found.pop(name.name, None)
    return found


def _raw(node: nodes.Node, names: Mapping[str, nodes.Node]) -> Iterator[nodes.Node]:
    """The calls and names in an expression whose value becomes part of its text as it is.

    `names` are those that hold such a value.
    """
    from jinja2 import nodes

    if _reads(node) or (isinstance(node, nodes.Name) and node.name in names):
        yield node
    elif isinstance(node, nodes.Filter):
        if node.node is not None and not _quotes(node):
            yield from _raw(node.node, names)
    elif isinstance(node, nodes.Call):
        if isinstance(node.node, nodes.Getattr) and node.node.attr in _TEXT_METHODS:
            yield from _raw(node.node.node, names)
    elif isinstance(node, nodes.Getattr | nodes.Getitem):
        yield from _raw(node.node, names)
    elif isinstance(node, nodes.Concat):
        for part in node.nodes:
            yield from _raw(part, names)
    elif isinstance(node, nodes.CondExpr):
        yield from _raw(node.expr1, names)
        if node.expr2 is not None:
            yield from _raw(node.expr2, names)
    elif isinstance(node, nodes.And | nodes.Or | nodes.Add | nodes.Mod) and not _is_sum(node):
        yield from _raw(node.left, names)
        yield from _raw(node.right, names)


def _reads(node: nodes.Node) -> bool:
    """Whether it is `var(…)`, `env_var(…)` or a value of `target`."""
    from jinja2 import nodes

    if isinstance(node, nodes.Call):
        return isinstance(node.node, nodes.Name) and node.node.name in ("var", "env_var")
    if isinstance(node, nodes.Getattr | nodes.Getitem):
        return isinstance(node.node, nodes.Name) and node.node.name == "target"
    return False


def _var_name(node: nodes.Node) -> str | None:
    """The name in `var('name')`; None for any other call or name."""
    from jinja2 import nodes

    if not isinstance(node, nodes.Call) or not isinstance(node.node, nodes.Name) or node.node.name != "var":
        return None
    first = node.args[0] if node.args else None
    return first.value if isinstance(first, nodes.Const) and isinstance(first.value, str) else None


def _quotes(node: nodes.Filter) -> bool:
    from jinja2 import nodes

    if node.name == "map":
        first = node.args[0] if node.args else None
        return isinstance(first, nodes.Const) and first.value in _QUOTING
    if node.name == "join":
        return node.node is not None and isinstance(node.node, nodes.Filter) and _quotes(node.node)
    return node.name in _QUOTING


def _is_sum(node: nodes.BinExpr) -> bool:
    """Whether it adds a number: a text would be refused."""
    from jinja2 import nodes

    sides = (node.left, node.right)
    return isinstance(node, nodes.Add) and any(
        isinstance(side, nodes.Const) and isinstance(side.value, int | float) for side in sides
    )


def _span(text: str, node: nodes.Node) -> Span:
    """The range of a call, a name, or a value of `target`; `lineno` is an offset plus one (see compiler)."""
    from jinja2 import nodes

    if isinstance(node, nodes.Name):
        return Span(node.lineno - 1, node.lineno - 1 + len(node.name))
    assert isinstance(node, nodes.Call | nodes.Getattr | nodes.Getitem)
    start = node.node.lineno - 1
    if isinstance(node, nodes.Call):
        return Span(start, read_call(text, start)[0])
    named = _TARGET.match(text, start)
    return Span(start, named.end() if named else start + len("target"))


class _Surroundings:
    """The text around the tags of a file, read as SQL in which a tag is a word."""

    def __init__(self, text: str, tags: list[Span]) -> None:
        self._text = text
        self._tags = tags
        parts, at = [], 0
        for tag in tags:
            parts += [text[at : tag.start], "x" * (tag.end - tag.start)]
            at = tag.end
        self._tokens = list(_SQL.finditer("".join([*parts, text[at:]])))

    def raw_var(self, span: Span, *, whole: bool) -> RawVar | None:
        """The value at `span`; None inside a comment. `whole`: the tag holds nothing else."""
        tag = next(tag for tag in self._tags if tag.start <= span.start < tag.end)
        around = next((token for token in self._tokens if token.start() < tag.start < token.end()), None)
        if around is not None and around.lastgroup == "comment":
            return None
        quoted = around is not None and around.lastgroup == "string"
        found = RawVar(span, tag, quoted=quoted, whole=whole)
        if not whole:
            return found
        before, inside, after = self._text[tag.start : span.start], span.of(self._text), self._text[span.end : tag.end]
        if around is None:
            if _VALUE_BEFORE.search(self._text[max(tag.start - 80, 0) : tag.start]) and not _GLUED.match(
                self._text, tag.end
            ):
                return replace(found, replaces=Span(span.end, span.end), replacement=" | literal")
            return found
        if (around.start() + 1, around.end() - 1) != (tag.start, tag.end):
            return found
        quoting = " | identifier" if around.lastgroup == "name" else " | literal"
        if around.lastgroup == "string" and _TYPE_BEFORE.search(
            self._text[max(around.start() - 80, 0) : around.start()]
        ):
            quoting = " | string | literal"  # a date in YAML would bring its own DATE
        replaces = Span(around.start(), around.end())
        return replace(found, replaces=replaces, replacement=f"{before}{inside}{quoting}{after}")
