"""The MERGE that a chain of a builder is: `DeltaTable.merge(…)….execute()` and `DataFrame.mergeInto(…)….merge()`."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from merge_runner.lint.containers.call_chain import Chain, Link, chain
from merge_runner.lint.containers.column_expressions import column_name, sql_of
from merge_runner.lint.containers.data_frame import Relation, relation
from merge_runner.lint.containers.python_scopes import Use
from merge_runner.lint.containers.python_values import Values
from merge_runner.lint.containers.traced import Traced

_ORDER = ("when matched", "when not matched", "when not matched by source")
"""The order of the clauses in SQL; a builder takes them in any order, and keeps that of each kind."""

_DELTA = {
    "whenMatchedUpdate": (_ORDER[0], "update"),
    "whenMatchedUpdateAll": (_ORDER[0], "update set *"),
    "whenMatchedDelete": (_ORDER[0], "delete"),
    "whenNotMatchedInsert": (_ORDER[1], "insert"),
    "whenNotMatchedInsertAll": (_ORDER[1], "insert *"),
    "whenNotMatchedBySourceUpdate": (_ORDER[2], "update"),
    "whenNotMatchedBySourceDelete": (_ORDER[2], "delete"),
}
_SPARK = {"whenMatched": _ORDER[0], "whenNotMatched": _ORDER[1], "whenNotMatchedBySource": _ORDER[2]}
_ACTIONS = {
    "update": "update",
    "updateAll": "update set *",
    "delete": "delete",
    "insert": "insert",
    "insertAll": "insert *",
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
        evolves = any(each.name == "withSchemaEvolution" for each in after)
        words = f"merge {'with schema evolution ' * evolves}into "
        on = link.made("\non ") + sql_of(condition, link.use, self.values).strip()
        clauses = self._delta(after) if link.name == "merge" else self._spark(after)
        clauses.sort(key=lambda clause: _ORDER.index(clause[0]))
        unknown = [each for each in after if each.name is None]
        more = [Traced.filled("{…}", each.origin) for each in unknown]
        parts = [link.made(words), target.aliased, link.made("\nusing "), source.aliased, on]
        for part in (*(text for _, text in clauses), *more):
            parts += [link.made("\n"), part]
        return Traced.joined(parts)

    def _delta(self, links: tuple[Link, ...]) -> list[tuple[str, Traced]]:
        found = []
        for link in links:
            if link.name in _DELTA:
                kind, action = _DELTA[link.name]
                given = link.argument(1, "set", "values")
                condition = link.argument(0, "condition")
                found.append((kind, self._clause(kind, condition, link, action, given, link)))
        return found

    def _spark(self, links: tuple[Link, ...]) -> list[tuple[str, Traced]]:
        found = []
        asked: Link | None = None
        for link in links:
            if link.name in _SPARK:
                asked = link
            elif link.name in _ACTIONS and asked is not None and asked.name is not None:
                kind, given = _SPARK[asked.name], link.argument(0, "assignments")
                condition = asked.argument(0, "condition")
                found.append((kind, self._clause(kind, condition, asked, _ACTIONS[link.name], given, link)))
                asked = None
        return found

    def _clause(
        self, kind: str, condition: ast.expr | None, asked: Link, action: str, given: ast.expr | None, link: Link
    ) -> Traced:
        text = asked.made(kind)
        if condition is not None:
            text = text + asked.made(" and ") + sql_of(condition, asked.use, self.values).strip()
        text = text + link.made(f" then {action}")
        if action not in ("update", "insert"):
            return text
        listed = self._assignments(given, link.use) if given is not None else None
        if listed is None or given is None:
            hole = Traced.filled("{…}", link.use.file.origin(given if given is not None else link.node))
            return text + link.made(" set " if action == "update" else " ") + hole
        if action == "update":
            pairs = [name + link.made(" = ") + value if value is not None else name for name, value in listed]
            return text + link.made(" set ") + _joined(pairs, link)
        names = _joined([name for name, _ in listed], link)
        values = _joined([value if value is not None else name for name, value in listed], link)
        return text + link.made(" (") + names + link.made(") values (") + values + link.made(")")

    def _assignments(self, given: ast.expr, use: Use) -> list[tuple[Traced, Traced | None]] | None:
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

    def _comprehended(self, node: ast.DictComp, use: Use) -> list[tuple[Traced, Traced | None]] | None:
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


def _joined(parts: list[Traced], link: Link) -> Traced:
    found = Traced()
    for number, part in enumerate(parts):
        found = found + (link.made(", ") if number else Traced()) + part
    return found
