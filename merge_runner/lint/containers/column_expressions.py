"""Conditions and values that are written with Spark's Column functions, as the SQL that they mean."""

from __future__ import annotations

import ast
import re

from merge_runner.lint.containers.python_formatting import Environment
from merge_runner.lint.containers.python_scopes import Use
from merge_runner.lint.containers.python_values import Values
from merge_runner.lint.containers.traced import Origin, Traced
from merge_runner.merge.syntax.keywords import words

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "=",
    ast.NotEq: "<>",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_OPERATORS: dict[type[ast.operator], str] = {
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Mod: "%",
}
_FUNCTIONS = words(
    "current_date current_timestamp now coalesce upper lower trim date_sub date_add add_months to_date last_day year "
    "month day quarter abs greatest least hash xxhash64 md5 crc32 isnull isnotnull length concat"
)
"""Functions whose arguments, Columns and numbers, are those of the SQL function of the same name."""
_NAME = re.compile(r"(?:[A-Za-z_]\w*|`[^`]+`)(?:\.(?:[A-Za-z_]\w*|`[^`]+`|\*))*")
_WORD = re.compile(r"[A-Za-z_]\w*")


def identifier(name: Traced) -> Traced:
    """Return a name as SQL takes it: in backquotes where it needs them."""
    if _WORD.fullmatch(name.text) is not None or "${" in name.text or "`" in name.text:
        return name
    quote = Traced.mark("`", name.origin(0))
    return quote + name + quote


def column_name(name: Traced) -> Traced:
    """Return the dotted name of a column as SQL takes it."""
    if "${" in name.text or _NAME.fullmatch(name.text) is not None:
        return name
    parts, at = [], 0
    for part in name.text.split("."):
        parts += [name.cut(at - 1, at)] if at else []
        parts.append(identifier(name.cut(at, at + len(part))) if part else name.cut(at, at))
        at += len(part) + 1
    return Traced.joined(parts)


def sql_of(node: ast.expr, use: Use, values: Values, env: Environment | None = None) -> Traced:
    """Return the SQL of an expression: a string is SQL itself, a Column what it means; else a placeholder."""
    text = values.text(node, use, env)
    if text is not None:
        return text
    return _Columns(use, values, env or {}).read(node)


class _Columns:
    def __init__(self, use: Use, values: Values, env: Environment) -> None:
        self.use = use
        self.values = values
        self.env = env

    def read(self, node: ast.expr) -> Traced:
        """The SQL of a Column; a placeholder of what is none, or is not known."""
        found = self._read(node)
        return found if found is not None else self.values.hole(node, self.use)

    def _read(self, node: ast.expr) -> Traced | None:
        self.values.budget.step()
        found = self._column(node)
        self.values.budget.characters(len(found.text) if found is not None else 0)
        return found

    def _column(self, node: ast.expr) -> Traced | None:
        if isinstance(node, ast.Name):
            found = self.values.bindings(node, self.use)
            if len(found) == 1 and found[0].kind == "assign" and found[0].value is not None and not found[0].path:
                return _Columns(found[0].use, self.values, {})._read(found[0].value)
            return None
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
            return self._binary(node.left, _COMPARISONS[type(node.ops[0])], node.comparators[0])
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return self._binary(node.left, _OPERATORS[type(node.op)], node.right)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            inner = self.read(node.operand)
            return self._made("not (", node) + inner + self._made(")", node)
        return self._call(node) if isinstance(node, ast.Call) else None

    def _binary(self, left: ast.expr, operator: str, right: ast.expr) -> Traced:
        first, last = self.use.file.origin(left), self.use.file.origin(right)
        glue = Traced.made(f" {operator} ", Origin(first.source, first.end, last.start))
        return self._operand(left, operator) + glue + self._operand(right, operator)

    def _operand(self, node: ast.expr, around: str) -> Traced:
        """A side of an operator, in parentheses where it has an operator itself."""
        found = self.literal(node) or self._read(node)
        bare = found or self.values.hole(node, self.use)
        if found is None and around in ("and", "or"):  # one Column, whatever is in it
            return self._made("(", node) + bare + self._made(")", node)
        inner = node if isinstance(node, ast.Compare | ast.BinOp | ast.UnaryOp) else None
        joins = around in ("and", "or") and isinstance(inner, ast.Compare)
        same = isinstance(inner, ast.BinOp) and _OPERATORS.get(type(inner.op)) == around == "and"
        if inner is None or joins or same:
            return bare
        return self._made("(", node) + bare + self._made(")", node)

    def literal(self, node: ast.expr) -> Traced | None:
        """The SQL literal of a Python constant."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            value: object = node.operand.value
            return self._made(f"-{value}", node) if isinstance(value, int | float) else None
        if isinstance(node, ast.Constant):
            if node.value is None or isinstance(node.value, bool):
                return self._made("null" if node.value is None else str(node.value).lower(), node)
            if isinstance(node.value, int | float):
                return self._made(str(node.value), node)
        text = self.values.text(node, self.use, self.env)
        if text is None:
            return None
        quote = self._made("'", node)
        for char in "\\'":
            text = text.replace(char, self._made("\\" + char, node))
        return quote + text + quote

    def _call(self, node: ast.Call) -> Traced | None:
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        if name in ("col", "column") and len(node.args) == 1:
            text = self.values.text(node.args[0], self.use, self.env)
            return column_name(text) if text is not None else self.values.hole(node.args[0], self.use)
        if name == "expr" and len(node.args) == 1:
            text = self.values.text(node.args[0], self.use, self.env)
            return text and self._made("(", node) + text + self._made(")", node)
        if name == "lit" and len(node.args) == 1:
            return self.literal(node.args[0])
        if isinstance(called, ast.Attribute) and (found := self._method(node, called)) is not None:
            return found
        if name in _FUNCTIONS and not node.keywords:
            parts = [self._argument(each) for each in node.args]
            known = [part for part in parts if part is not None]
            return self._listed(name, known, node) if len(known) == len(parts) else None
        return None

    def _argument(self, node: ast.expr) -> Traced | None:
        if isinstance(node, ast.Constant):
            return self.literal(node) if isinstance(node.value, int) else None
        return self._read(node)

    def _method(self, node: ast.Call, called: ast.Attribute) -> Traced | None:
        name, given = called.attr, node.args
        if name in ("isNull", "isNotNull") and not given:
            return self._operand(called.value, name) + self._made(f" is {'not ' * (name == 'isNotNull')}null", node)
        if name == "isin" and given:
            listed = self.values.items(given[0], self.use) if len(given) == 1 else None
            elements = [each for each, _ in listed] if listed is not None else given
            return self._operand(called.value, name) + self._listed(" in ", [self._value(e) for e in elements], node)
        if name == "between" and len(given) == 2:
            low, high = self._value(given[0]), self._value(given[1])
            inner = self._operand(called.value, name) + self._made(" between ", node)
            return inner + low + self._made(" and ", node) + high
        if name in ("like", "rlike", "eqNullSafe") and len(given) == 1:
            operator = "<=>" if name == "eqNullSafe" else name
            return self._operand(called.value, operator) + self._made(f" {operator} ", node) + self._value(given[0])
        if name == "cast" and len(given) == 1 and isinstance(given[0], ast.Constant):
            kind = self.values.text(given[0], self.use, self.env)
            inner = self._made("cast(", node) + self.read(called.value)
            return kind and inner + self._made(" as ", node) + kind + self._made(")", node)
        return None

    def _value(self, node: ast.expr) -> Traced:
        return self.literal(node) or self.read(node)

    def _listed(self, name: str, parts: list[Traced], node: ast.expr) -> Traced:
        found = self._made(f"{name}(", node)
        for number, part in enumerate(parts):
            found = found + (self._made(", ", node) if number else Traced()) + part
        return found + self._made(")", node)

    def _made(self, text: str, node: ast.expr) -> Traced:
        return Traced.made(text, self.use.file.origin(node))
