"""Conditions and values that are written with Spark's Column functions, as the SQL that they mean."""

from __future__ import annotations

import ast
import re

from merge_runner.lint.containers.pieced_text import Origin, PiecedText
from merge_runner.lint.containers.python_formatting import Environment
from merge_runner.lint.containers.python_scopes import Use
from merge_runner.lint.containers.python_values import Values
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
"""Functions whose arguments, Columns and numbers, are those of the SQL callee of the same name."""
_NAME = re.compile(r"(?:[A-Za-z_]\w*|`[^`]+`)(?:\.(?:[A-Za-z_]\w*|`[^`]+`|\*))*")
_WORD = re.compile(r"[A-Za-z_]\w*")


def identifier(name: PiecedText) -> PiecedText:
    """Return a name as SQL takes it: in backquotes where it needs them."""
    if _WORD.fullmatch(name.text) is not None or "${" in name.text or "`" in name.text:
        return name
    quote = PiecedText.mark("`", name.origin(0))
    return quote + name + quote


def column_name(name: PiecedText) -> PiecedText:
    """Return the dotted name of a column as SQL takes it."""
    if "${" in name.text or _NAME.fullmatch(name.text) is not None:
        return name
    parts, at = [], 0
    for part in name.text.split("."):
        parts += [name.cut(at - 1, at)] if at else []
        parts.append(identifier(name.cut(at, at + len(part))) if part else name.cut(at, at))
        at += len(part) + 1
    return PiecedText.join(parts)


def sql_of(node: ast.expr, use: Use, values: Values, env: Environment | None = None) -> PiecedText:
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

    def read(self, node: ast.expr) -> PiecedText:
        """The SQL of a Column; a placeholder of what is none, or is not known."""
        sql = self._read(node)
        return sql if sql is not None else self.values.hole(node, self.use)

    def _read(self, node: ast.expr) -> PiecedText | None:
        self.values.budget.step()
        sql = self._column(node)
        self.values.budget.characters(len(sql.text) if sql is not None else 0)
        return sql

    def _column(self, node: ast.expr) -> PiecedText | None:
        if isinstance(node, ast.Name):
            bindings = self.values.bindings(node, self.use)
            if (
                len(bindings) == 1
                and bindings[0].kind == "assign"
                and bindings[0].value is not None
                and not bindings[0].path
            ):
                return _Columns(bindings[0].use, self.values, {})._read(bindings[0].value)
            return None
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
            return self._binary(node.left, _COMPARISONS[type(node.ops[0])], node.comparators[0])
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return self._binary(node.left, _OPERATORS[type(node.op)], node.right)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            inner = self.read(node.operand)
            return self._sql("not (", node) + inner + self._sql(")", node)
        return self._call(node) if isinstance(node, ast.Call) else None

    def _binary(self, left: ast.expr, operator: str, right: ast.expr) -> PiecedText:
        first, last = self.use.file.origin(left), self.use.file.origin(right)
        glue = PiecedText.from_origin(f" {operator} ", Origin(first.source, first.end, last.start))
        return self._operand(left, operator) + glue + self._operand(right, operator)

    def _operand(self, node: ast.expr, around: str) -> PiecedText:
        """A side of an operator, in parentheses where it has an operator itself."""
        sql = self.literal(node) or self._read(node)
        bare = sql or self.values.hole(node, self.use)
        if sql is None and around in ("and", "or"):  # one Column, whatever is in it
            return self._sql("(", node) + bare + self._sql(")", node)
        inner = node if isinstance(node, ast.Compare | ast.BinOp | ast.UnaryOp) else None
        joins = around in ("and", "or") and isinstance(inner, ast.Compare)
        same = isinstance(inner, ast.BinOp) and _OPERATORS.get(type(inner.op)) == around == "and"
        if inner is None or joins or same:
            return bare
        return self._sql("(", node) + bare + self._sql(")", node)

    def literal(self, node: ast.expr) -> PiecedText | None:
        """The SQL literal of a Python constant."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            value: object = node.operand.value
            return self._sql(f"-{value}", node) if isinstance(value, int | float) else None
        if isinstance(node, ast.Constant):
            if node.value is None or isinstance(node.value, bool):
                return self._sql("null" if node.value is None else str(node.value).lower(), node)
            if isinstance(node.value, int | float):
                return self._sql(str(node.value), node)
        text = self.values.text(node, self.use, self.env)
        if text is None:
            return None
        quote = self._sql("'", node)
        for char in "\\'":
            text = text.replace(char, self._sql("\\" + char, node))
        return quote + text + quote

    def _call(self, node: ast.Call) -> PiecedText | None:
        callee = node.func
        name = callee.attr if isinstance(callee, ast.Attribute) else callee.id if isinstance(callee, ast.Name) else ""
        if name in ("col", "column") and len(node.args) == 1:
            text = self.values.text(node.args[0], self.use, self.env)
            return column_name(text) if text is not None else self.values.hole(node.args[0], self.use)
        if name == "expr" and len(node.args) == 1:
            text = self.values.text(node.args[0], self.use, self.env)
            return text and self._sql("(", node) + text + self._sql(")", node)
        if name == "lit" and len(node.args) == 1:
            return self.literal(node.args[0])
        if isinstance(callee, ast.Attribute) and (method := self._method(node, callee)) is not None:
            return method
        if name in _FUNCTIONS and not node.keywords:
            parts = [self._argument(argument) for argument in node.args]
            columns = [part for part in parts if part is not None]
            return self._list(name, columns, node) if len(columns) == len(parts) else None
        return None

    def _argument(self, node: ast.expr) -> PiecedText | None:
        if isinstance(node, ast.Constant):
            return self.literal(node) if isinstance(node.value, int) else None
        return self._read(node)

    def _method(self, node: ast.Call, callee: ast.Attribute) -> PiecedText | None:
        name, arguments = callee.attr, node.args
        if name in ("isNull", "isNotNull") and not arguments:
            return self._operand(callee.value, name) + self._sql(f" is {'not ' * (name == 'isNotNull')}null", node)
        if name == "isin" and arguments:
            items = self.values.items(arguments[0], self.use) if len(arguments) == 1 else None
            elements = [element for element, _ in items] if items is not None else arguments
            return self._operand(callee.value, name) + self._list(" in ", [self._value(e) for e in elements], node)
        if name == "between" and len(arguments) == 2:
            low, high = self._value(arguments[0]), self._value(arguments[1])
            inner = self._operand(callee.value, name) + self._sql(" between ", node)
            return inner + low + self._sql(" and ", node) + high
        if name in ("like", "rlike", "eqNullSafe") and len(arguments) == 1:
            operator = "<=>" if name == "eqNullSafe" else name
            return self._operand(callee.value, operator) + self._sql(f" {operator} ", node) + self._value(arguments[0])
        if name == "cast" and len(arguments) == 1 and isinstance(arguments[0], ast.Constant):
            kind = self.values.text(arguments[0], self.use, self.env)
            inner = self._sql("cast(", node) + self.read(callee.value)
            return kind and inner + self._sql(" as ", node) + kind + self._sql(")", node)
        return None

    def _value(self, node: ast.expr) -> PiecedText:
        return self.literal(node) or self.read(node)

    def _list(self, name: str, parts: list[PiecedText], node: ast.expr) -> PiecedText:
        sql = self._sql(f"{name}(", node)
        for number, part in enumerate(parts):
            sql = sql + (self._sql(", ", node) if number else PiecedText()) + part
        return sql + self._sql(")", node)

    def _sql(self, text: str, node: ast.expr) -> PiecedText:
        return PiecedText.from_origin(text, self.use.file.origin(node))
