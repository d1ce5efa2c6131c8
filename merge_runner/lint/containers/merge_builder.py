"""The MERGE that a chain of a builder is: `DeltaTable.merge(…)….execute()` and `DataFrame.mergeInto(…)….merge()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
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
from merge_runner.lint.containers.python_scopes import Use
from merge_runner.lint.containers.python_values import Values
from merge_runner.lint.containers.relation_text import Relation
from merge_runner.lint.containers.traced import Traced

_DELTA = {
    "whenMatchedUpdate": (MATCHED, "update"),
    "whenMatchedUpdateAll": (MATCHED, "update set *"),
    "whenMatchedDelete": (MATCHED, "delete"),
    "whenNotMatchedInsert": (NOT_MATCHED, "insert"),
    "whenNotMatchedInsertAll": (NOT_MATCHED, "insert *"),
    "whenNotMatchedBySourceUpdate": (BY_SOURCE, "update"),
    "whenNotMatchedBySourceDelete": (BY_SOURCE, "delete"),
}


def built_merge(call: ast.Call, use: Use, values: Values) -> Traced | None:
    """Return the text of the MERGE that a call runs, `….execute()` or `….merge()`; None where it is no such call."""
    if not isinstance(call.func, ast.Attribute) or call.args or call.keywords:
        return None
    ends_with = call.func.attr
    if ends_with not in ("execute", "merge"):
        return None
    whole = chain(call.func.value, use, values)
    begins = whole.index("merge" if ends_with == "execute" else "mergeInto")
    if begins is None or whole.links[begins].call is None:
        return None
    return _Builder(whole, begins, values).text()


@dataclass
class _Builder:
    whole: Chain
    begins: int
    values: Values

    def text(self) -> Traced | None:
        """The MERGE; None where the call that begins it has other arguments."""
        link = self.whole.links[self.begins]
        before = Chain(self.whole.root, self.whole.use, self.whole.links[: self.begins], self.whole.name)
        condition = link.argument(1, "condition")
        first = link.argument(0, "source", "table")
        if condition is None or first is None:
            return None
        if link.name == "merge":
            target, source = relation(before, self.values), relation(chain(first, link.use, self.values), self.values)
        else:
            name = self.values.filled(first, link.use)
            target, source = Relation(column_name(name)), relation(before, self.values)
        after = self.whole.links[self.begins + 1 :]
        return merge_text(
            link,
            target,
            source,
            sql_of(condition, link.use, self.values),
            self._delta(after) if link.name == "merge" else self._spark(after),
            [each for each in after if each.name is None],
            evolves=any(each.name == "withSchemaEvolution" for each in after),
        )

    def _delta(self, links: tuple[Link, ...]) -> Iterator[tuple[str, Traced]]:
        for link in links:
            if link.name in _DELTA:
                kind, action = _DELTA[link.name]
                yield self._clause(kind, link, action, link, link.argument(1, "set", "values"))

    def _spark(self, links: tuple[Link, ...]) -> Iterator[tuple[str, Traced]]:
        asked: Link | None = None
        for link in links:
            if link.name in ASKED:
                asked = link
            elif link.name in ACTIONS and asked is not None and asked.name is not None:
                yield self._clause(ASKED[asked.name], asked, ACTIONS[link.name], link, link.argument(0, "assignments"))
                asked = None

    def _clause(self, kind: str, asked: Link, action: str, link: Link, given: ast.expr | None) -> tuple[str, Traced]:
        condition = asked.argument(0, "condition")
        asks = sql_of(condition, asked.use, self.values) if condition is not None else None
        listed = self._assignments(given, link.use) if given is not None and action in SETS else None
        hole = Traced.filled("{…}", link.use.file.origin(given if given is not None else link.node))
        return clause_text(kind, asked, asks, action, link, hole if listed is None else listed)

    def _assignments(self, given: ast.expr, use: Use) -> Assignments | None:
        """Columns and their values; a placeholder without a value stands for those that are not known."""
        if isinstance(given, ast.DictComp):
            return self._comprehended(given, use)
        known = self.values.dictionary(given, use)
        if known is None:
            binding = self.values.bindings(given, use)
            value = binding[0].value if len(binding) == 1 and binding[0].kind == "assign" else None
            return self._comprehended(value, binding[0].use) if isinstance(value, ast.DictComp) else None
        found: list[tuple[Traced, Traced | None]] = []
        node, place = known
        for key, value in zip(node.keys, node.values, strict=True):
            inner = self._assignments(value, place) if key is None else None
            if inner is not None:
                found += inner
            elif key is None:
                found.append((Traced.filled("{…}", place.file.origin(value)), None))
            else:
                found.append((column_name(self.values.filled(key, place)), sql_of(value, place, self.values)))
        return found or None

    def _comprehended(self, node: ast.DictComp, use: Use) -> Assignments | None:
        generator = node.generators[0]
        listed = self.values.items(generator.iter, use)
        if len(node.generators) > 1 or generator.ifs or listed is None or not isinstance(generator.target, ast.Name):
            return None
        found: list[tuple[Traced, Traced | None]] = []
        for each, place in listed:
            env = {generator.target.id: self.values.text(each, place)}
            key = column_name(self.values.filled(node.key, use, env))
            found.append((key, sql_of(node.value, use, self.values, env)))
        return found
