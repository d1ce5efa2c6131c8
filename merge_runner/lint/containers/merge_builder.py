"""The MERGE that a chain of a builder is: `DeltaTable.merge(…)….execute()` and `DataFrame.mergeInto(…)….merge()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from merge_runner.lint.containers.call_chain import Chain, Link, chain
from merge_runner.lint.containers.column_expressions import column_name, sql_of
from merge_runner.lint.containers.data_frame import relation
from merge_runner.lint.containers.merge_text import (
    ACTIONS,
    ASKED,
    BY_SOURCE,
    MATCHED,
    NOT_MATCHED,
    SETS,
    Assignments,
    clause_text,
    merge_text,
)
from merge_runner.lint.containers.pieced_text import PiecedText
from merge_runner.lint.containers.python_scopes import Use
from merge_runner.lint.containers.python_values import Values
from merge_runner.lint.containers.relation_text import Relation

_DELTA = {
    "whenMatchedUpdate": (MATCHED, "update"),
    "whenMatchedUpdateAll": (MATCHED, "update set *"),
    "whenMatchedDelete": (MATCHED, "delete"),
    "whenNotMatchedInsert": (NOT_MATCHED, "insert"),
    "whenNotMatchedInsertAll": (NOT_MATCHED, "insert *"),
    "whenNotMatchedBySourceUpdate": (BY_SOURCE, "update"),
    "whenNotMatchedBySourceDelete": (BY_SOURCE, "delete"),
}


WHEN = frozenset({*_DELTA, *ASKED})
"""The calls that add a clause, of both builders."""
_JOINS = frozenset({"left", "right", "inner", "outer", "cross"})
"""What the second argument of `merge` is in pandas."""


@dataclass(frozen=True)
class BuiltMerge:
    """The text of a MERGE, and the call that begins its chain."""

    text: PiecedText
    begins: ast.Call


def begins_merge(call: ast.Call) -> bool:
    """Return whether a call may begin a builder: `table.merge(source, condition)`, `frame.mergeInto(table, on)`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("merge", "mergeInto"):
        return False
    names = {keyword.arg for keyword in call.keywords}
    if not names <= {"source", "table", "condition"} or len(call.args) + len(names) != 2:
        return False
    second = call.args[1] if len(call.args) > 1 else None
    return not (isinstance(second, ast.Constant) and second.value in _JOINS)


def built_merge(call: ast.Call, use: Use, values: Values) -> BuiltMerge | None:
    """Return the MERGE that a call runs, `….execute()` or `….merge()`; None where it is no such call."""
    if not isinstance(call.func, ast.Attribute) or call.args or call.keywords:
        return None
    ends_with = call.func.attr
    if ends_with not in ("execute", "merge"):
        return None
    whole = chain(call.func.value, use, values)
    begins = whole.index("merge" if ends_with == "execute" else "mergeInto")
    first = whole.links[begins].call if begins is not None else None
    if begins is None or first is None or not isinstance(first.func, ast.Attribute):
        return None
    # The variable of the table is not that of the builder.
    before = chain(first.func.value, whole.links[begins].use, values)
    # The writer of Spark is changed by each call, also where what the call returns is thrown away.
    more = _added_elsewhere(first, values) if ends_with == "merge" else ()
    text = _Builder(before, (*whole.links[begins:], *more), values).text()
    return BuiltMerge(text, first) if text is not None else None


def throws_clause_away(call: ast.Call) -> bool:
    """Return whether a call that is a statement adds a clause to nothing: a builder of Delta is a new one in each call.

    Source: delta/tables.py of Delta 4.0, whose methods return `DeltaMergeBuilder(self._spark, new_jbuilder)`.
    """
    return isinstance(call.func, ast.Attribute) and call.func.attr in _DELTA and begun_by(call) is None


def begun_by(call: ast.Call) -> ast.Call | None:
    """Return the call that begins a builder in a chain of calls that is written as one."""
    node: ast.expr = call
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if begins_merge(node):
            return node
        node = node.func.value
    return None


def _added_elsewhere(begins: ast.Call, values: Values) -> Iterator[Link]:
    """The statements that add a clause to the writer which `begins` makes: which of them run before it is not known."""
    for call, use in values.names.discarded:
        adds = isinstance(call.func, ast.Attribute) and call.func.attr in ACTIONS
        if adds and any(link.call is begins for link in chain(call, use, values).links):
            yield Link(None, None, call, use)


@dataclass
class _Builder:
    before: Chain
    links: tuple[Link, ...]
    values: Values

    def text(self) -> PiecedText | None:
        """The MERGE; None where the call that begins it has other arguments."""
        link, *after = self.links
        condition = link.argument(1, "condition")
        first = link.argument(0, "source", "table")
        if condition is None or first is None:
            return None
        if link.name == "merge":
            other = chain(first, link.use, self.values)
            target, source = relation(self.before, self.values), relation(other, self.values)
        else:
            name = self.values.filled(first, link.use)
            target, source = Relation(column_name(name)), relation(self.before, self.values)
        return merge_text(
            link,
            target,
            source,
            sql_of(condition, link.use, self.values),
            self._delta(after) if link.name == "merge" else self._spark(after),
            [link for link in after if link.name is None],
            evolves=any(link.name == "withSchemaEvolution" for link in after),
        )

    def _delta(self, links: Sequence[Link]) -> Iterator[tuple[str, PiecedText]]:
        for link in links:
            if link.name in _DELTA:
                kind, action = _DELTA[link.name]
                yield self._clause(kind, link, action, link, link.argument(1, "set", "values"))

    def _spark(self, links: Sequence[Link]) -> Iterator[tuple[str, PiecedText]]:
        when: Link | None = None
        for link in links:
            if link.name in ASKED:
                when = link
            elif link.name in ACTIONS and when is not None and when.name is not None:
                yield self._clause(ASKED[when.name], when, ACTIONS[link.name], link, link.argument(0, "assignments"))
                when = None

    def _clause(
        self, kind: str, when: Link, action: str, link: Link, assignments: ast.expr | None
    ) -> tuple[str, PiecedText]:
        condition = when.argument(0, "condition")
        asks = sql_of(condition, when.use, self.values) if condition is not None else None
        columns = self._assignments(assignments, link.use) if assignments is not None and action in SETS else None
        hole = PiecedText.filled("{…}", link.use.file.origin(assignments if assignments is not None else link.node))
        return clause_text(kind, when, asks, action, link, hole if columns is None else columns)

    def _assignments(self, expression: ast.expr, use: Use) -> Assignments | None:
        """Columns and their values; a placeholder without a value is for those that are not known."""
        if isinstance(expression, ast.DictComp):
            return self._read_comprehension(expression, use)
        dictionary = self.values.dictionary(expression, use)
        if dictionary is None:
            binding = self.values.bindings(expression, use)
            value = binding[0].value if len(binding) == 1 and binding[0].kind == "assign" else None
            return self._read_comprehension(value, binding[0].use) if isinstance(value, ast.DictComp) else None
        assignments: list[tuple[PiecedText, PiecedText | None]] = []
        node, place = dictionary
        for key, value in zip(node.keys, node.values, strict=True):
            inner = self._assignments(value, place) if key is None else None
            if inner is not None:
                assignments += inner
            elif key is None:
                assignments.append((PiecedText.filled("{…}", place.file.origin(value)), None))
            else:
                assignments.append((column_name(self.values.filled(key, place)), sql_of(value, place, self.values)))
        return assignments or None

    def _read_comprehension(self, node: ast.DictComp, use: Use) -> Assignments | None:
        generator = node.generators[0]
        items = self.values.items(generator.iter, use)
        if len(node.generators) > 1 or generator.ifs or items is None or not isinstance(generator.target, ast.Name):
            return None
        assignments: list[tuple[PiecedText, PiecedText | None]] = []
        for element, place in items:
            env = {generator.target.id: self.values.text(element, place)}
            key = column_name(self.values.filled(node.key, use, env))
            assignments.append((key, sql_of(node.value, use, self.values, env)))
        return assignments
