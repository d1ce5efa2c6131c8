"""Where a template puts a var, an environment variable or a value of the target into its text without quoting it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from jinja2 import TemplateError, nodes

from merge_runner.errors import ProblemsError
from merge_runner.template.environment import ModelEnvironment
from merge_runner.template.jinja_compiler import OffsetParser
from merge_runner.template.static.tags import read_call
from merge_runner.text import SourceText, Span

_MAY_READ = re.compile(r"\bvar\s*\(|\benv_var\s*\(|\btarget\s*[.\[]")
_ATTRIBUTE = re.compile(r"\w+\s*(?:\.\s*\w+|\[[^\]]*\])")
_QUOTING = frozenset({"literal", "identifier", "column_name", "int", "float", "length", "count", "wordcount"})
"""Filters whose result is a quoted text or a number."""
_TEXT_METHODS = frozenset(
    {"upper", "lower", "strip", "lstrip", "rstrip", "replace", "title", "capitalize", "format", "get", "join"}
    | {"items", "keys", "values", "split", "splitlines"}
)
_FILLED = frozenset({"format", "replace", "join", "default", "d"})
"""Methods and filters whose arguments become a part of the text."""
_MOST_ROUNDS = 10
"""How often the names of a file are read for those that get their values from others, which may be set after them."""
_NAMING = frozenset({"generate_schema_name", "generate_alias_name", "generate_database_name"})
"""Macros whose text is a name that is quoted later, and no SQL."""
_SQL = re.compile(
    r"""(?P<string>'(?:[^'\\]|\\.|'')*(?:'|\\?\Z) | "(?:[^"\\]|\\.|"")*(?:"|\\?\Z)) | (?P<name>`[^`]*(?:`|\Z))
    | (?P<comment>--[^\n]* | /\*.*?(?:\*/|\Z))""",
    re.VERBOSE | re.DOTALL,
)
_VALUE_BEFORE = re.compile(r"(?:[=<>]|\b(?:between|like|ilike|rlike))\s*\Z", re.IGNORECASE)
_GLUED = re.compile(r"[\w.{]")
_TYPE_BEFORE = re.compile(r"\b(?:date|timestamp|timestamp_ntz|timestamp_ltz|interval)\s*\Z", re.IGNORECASE)


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
    """The call whose value the name at `span` has; None where a call is there itself."""
    in_string: bool = False
    """Whether the tag is inside a string of SQL."""
    whole: bool = False
    """Whether the tag holds nothing else."""


def may_read_values(text: str) -> bool:
    """Return whether a template may read a var, an environment variable or a value of the target."""
    # A plain search takes a hundredth of the time of the pattern.
    return "{{" in text and ("var" in text or "target" in text) and _MAY_READ.search(text) is not None


def raw_vars(source: SourceText, returning: Collection[str] = ()) -> list[RawVar]:
    """The raw values of a file in their order.

    A value that went through `literal`, `identifier`, `int` or `float`, and one that is only compared, is not raw; nor
    is one in a comment. A name that `set`, `with`, a loop or a namespace gives a raw value is raw where it is put out,
    and so is a call of a macro of `returning` (see `returning_macros`); what a macro makes of an argument is not
    followed. A file that is no Jinja has none.
    """
    text = source.text
    if not may_read_values(text) and not ("{{" in text and any(name in text for name in returning)):
        return []
    parser = OffsetParser(_environment(), source)
    try:
        tree = parser.parse()
    except (TemplateError, ProblemsError, RecursionError):
        return []
    surroundings = _Surroundings(source.text, parser.tags)
    names: dict[str, nodes.Node | None] = {**{f"{name}()": None for name in returning}, **_raw_names(tree, returning)}
    values = []
    for output in _outputs(tree):
        for child in output.nodes:
            if isinstance(child, nodes.TemplateData):
                continue
            for node in _raw(child, names):
                raw = surroundings.raw_var(_span(source.text, node), whole=node is child)
                if raw is None:
                    continue
                value = names.get(_key(node))
                of = _span(source.text, value) if value is not None else None
                values.append(replace(raw, name=_var_name(value or node), of=of))
    return sorted(values, key=lambda raw: raw.span)


@cache
def _environment() -> ModelEnvironment:
    return ModelEnvironment()


def _outputs(tree: nodes.Node) -> Iterator[nodes.Output]:
    for child in tree.iter_child_nodes():
        if isinstance(child, nodes.Output):
            yield child
        elif not (isinstance(child, nodes.Macro) and child.name in _NAMING):
            yield from _outputs(child)


def returning_macros(source: SourceText) -> frozenset[str]:
    """Return the names of the macros of a file that return a raw value: `{{ return(var('x')) }}`."""
    if "return" not in source.text or not may_read_values(source.text):
        return frozenset()
    try:
        tree = OffsetParser(_environment(), source).parse()
    except (TemplateError, ProblemsError, RecursionError):
        return frozenset()
    names = _raw_names(tree, ())
    return frozenset(
        macro.name
        for macro in tree.find_all(nodes.Macro)
        for call in macro.find_all(nodes.Call)
        if isinstance(call.node, nodes.Name) and call.node.name == "return" and call.args
        if next(_raw(call.args[0], names), None) is not None
    )


def _raw_names(tree: nodes.Template, returning: Collection[str]) -> dict[str, nodes.Node | None]:
    """The names with a raw value, each with the first that it has; not those that something else also binds.

    An attribute of a namespace is `name.attribute`.
    """
    names: dict[str, nodes.Node | None] = {f"{name}()": None for name in returning}
    targets: list[nodes.Node] = [argument for macro in tree.find_all(nodes.Macro) for argument in macro.args]
    targets += [argument for block in tree.find_all(nodes.CallBlock) for argument in block.args]
    shadowed = {name.name for target in targets for name in _names_of(target)}
    pairs = [pair for node in tree.find_all((nodes.Assign, nodes.For, nodes.With)) for pair in _pairs(node)]
    for _ in range(_MOST_ROUNDS):
        before = len(names)
        for key, value in pairs:
            raw = next(_raw(value, names), None) if key not in names and key not in shadowed else None
            if raw is not None:
                names[key] = names.get(_key(raw)) or raw
        if len(names) == before:
            break
    for loop in tree.find_all(nodes.For):
        if next(_raw(loop.iter, names), None) is None:
            for name in _names_of(loop.target):
                names.pop(name.name, None)
    return names


def _pairs(node: nodes.Node) -> Iterator[tuple[str, nodes.Node]]:
    """The names that a statement binds, each with the expression that its value comes from."""
    if isinstance(node, nodes.With):
        for target, value in zip(node.targets, node.values, strict=True):
            yield from _bindings(target, value)
    elif isinstance(node, nodes.For):
        yield from ((name.name, node.iter) for name in _names_of(node.target))
    elif isinstance(node, nodes.Assign):
        yield from _bindings(node.target, node.node)


def _bindings(target: nodes.Node, value: nodes.Node) -> Iterator[tuple[str, nodes.Node]]:
    if isinstance(target, nodes.NSRef):
        yield f"{target.name}.{target.attr}", value
    elif isinstance(target, nodes.Tuple) and isinstance(value, nodes.Tuple) and len(target.items) == len(value.items):
        for name, item in zip(target.items, value.items, strict=True):
            yield from _bindings(name, item)
    elif isinstance(value, nodes.Call) and isinstance(value.node, nodes.Name) and value.node.name == "namespace":
        for name in _names_of(target):
            yield from ((f"{name.name}.{keyword.key}", keyword.value) for keyword in value.kwargs)
    else:
        yield from ((name.name, value) for name in _names_of(target))


def _names_of(target: nodes.Node) -> list[nodes.Name]:
    return [name for name in (target, *target.find_all(nodes.Name)) if isinstance(name, nodes.Name)]


def _key(node: nodes.Node) -> str:
    """The name that an expression is in `names`: `a`, `a.b` of a namespace, `m()` of a macro; else an empty one."""
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name):
        return f"{node.node.name}.{node.attr}"
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name):
        return f"{node.node.name}()"
    return ""


def _raw(node: nodes.Node, names: Mapping[str, nodes.Node | None]) -> Iterator[nodes.Node]:
    """The calls and names in an expression whose value becomes part of its text as it is.

    `names` are those that hold such a value.
    """
    if _reads(node) or _key(node) in names:
        yield node
    else:
        for part in _parts(node):
            yield from _raw(part, names)


def _parts(node: nodes.Node) -> list[nodes.Expr]:
    """The expressions in an expression whose values become part of its text."""
    match node:
        case nodes.Filter() if node.node is not None and not _quotes(node):
            return [node.node, *(_arguments(node) if node.name in _FILLED else ())]
        case nodes.Call(node=nodes.Getattr(node=owner, attr=method)) if method in _TEXT_METHODS:
            return [owner, *(_arguments(node) if method in _FILLED else ())]
        case nodes.List() | nodes.Tuple():
            return node.items
        case nodes.Dict():
            return [pair.value for pair in node.items]
        case nodes.Getattr() | nodes.Getitem():
            return [node.node]
        case nodes.Concat():
            return node.nodes
        case nodes.CondExpr():
            return [node.expr1, *([node.expr2] if node.expr2 is not None else [])]
        case nodes.And() | nodes.Or() | nodes.Add() | nodes.Mod() if not _is_sum(node):
            return [node.left, node.right]
    return []


def _arguments(node: nodes.Filter | nodes.Call) -> list[nodes.Expr]:
    return [*node.args, *(keyword.value for keyword in node.kwargs)]


def _reads(node: nodes.Node) -> bool:
    """Whether it is `var(…)`, `env_var(…)` or a value of `target`."""
    if isinstance(node, nodes.Call):
        return isinstance(node.node, nodes.Name) and node.node.name in ("var", "env_var")
    if isinstance(node, nodes.Getattr | nodes.Getitem):
        return isinstance(node.node, nodes.Name) and node.node.name == "target"
    return False


def _var_name(node: nodes.Node) -> str | None:
    """The name in `var('name')`; None for any other call or name."""
    if not isinstance(node, nodes.Call) or not isinstance(node.node, nodes.Name) or node.node.name != "var":
        return None
    first = node.args[0] if node.args else None
    return first.value if isinstance(first, nodes.Const) and isinstance(first.value, str) else None


def _quotes(node: nodes.Filter) -> bool:
    if node.name == "map":
        first = node.args[0] if node.args else None
        return isinstance(first, nodes.Const) and first.value in _QUOTING
    if node.name == "join":
        return node.node is not None and isinstance(node.node, nodes.Filter) and _quotes(node.node)
    return node.name in _QUOTING


def _is_sum(node: nodes.BinExpr) -> bool:
    """Whether it adds a number: a text would be refused."""
    sides = (node.left, node.right)
    return isinstance(node, nodes.Add) and any(
        isinstance(side, nodes.Const) and isinstance(side.value, int | float) for side in sides
    )


def _span(text: str, node: nodes.Node) -> Span:
    """The range of a call, a name, or a value of a name; `lineno` is an offset plus one (see compiler)."""
    if isinstance(node, nodes.Name):
        return Span(node.lineno - 1, node.lineno - 1 + len(node.name))
    assert isinstance(node, nodes.Call | nodes.Getattr | nodes.Getitem)
    start = node.node.lineno - 1
    if isinstance(node, nodes.Call):
        return Span(start, read_call(text, start)[0])
    attribute = _ATTRIBUTE.match(text, start)
    return Span(start, attribute.end() if attribute else start)


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
        in_string = around is not None and around.lastgroup == "string"
        value = RawVar(span, tag, in_string=in_string, whole=whole)
        if not whole:
            return value
        before, inside, after = self._text[tag.start : span.start], span.of(self._text), self._text[span.end : tag.end]
        if around is None:
            if _VALUE_BEFORE.search(self._text[max(tag.start - 80, 0) : tag.start]) and not _GLUED.match(
                self._text, tag.end
            ):
                return replace(value, replaces=Span(span.end, span.end), replacement=" | literal")
            return value
        if (around.start() + 1, around.end() - 1) != (tag.start, tag.end):
            return value
        quoting = " | identifier" if around.lastgroup == "name" else " | literal"
        if around.lastgroup == "string" and _TYPE_BEFORE.search(
            self._text[max(around.start() - 80, 0) : around.start()]
        ):
            quoting = " | string | literal"  # a date in YAML would bring its own DATE
        replaces = Span(around.start(), around.end())
        return replace(value, replaces=replaces, replacement=f"{before}{inside}{quoting}{after}")
