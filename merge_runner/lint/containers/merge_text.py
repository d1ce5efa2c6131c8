"""The text of the MERGE that the calls of a builder mean, in whatever language they are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from merge_runner.lint.containers.relation_text import Call, Relation
from merge_runner.lint.containers.traced import Traced

MATCHED, NOT_MATCHED, BY_SOURCE = "when matched", "when not matched", "when not matched by source"
_ORDER = (MATCHED, NOT_MATCHED, BY_SOURCE)
"""The order of the clauses in SQL; a builder takes them in any order, and keeps that of each kind."""

ASKED = {"whenMatched": MATCHED, "whenNotMatched": NOT_MATCHED, "whenNotMatchedBySource": BY_SOURCE}
"""The calls that begin a clause of Spark's builder, and of Delta's in Scala."""
ACTIONS = {
    "update": "update",
    "updateAll": "update set *",
    "delete": "delete",
    "insert": "insert",
    "insertAll": "insert *",
}
"""The calls that end such a clause."""
SETS = ("update", "insert")
"""The actions that list columns."""

Assignments = Sequence[tuple[Traced, Traced | None]]
"""Columns and their values; a placeholder without a value is for those that are not known."""


def clause_text(
    kind: str, asked: Call, condition: Traced | None, action: str, link: Call, given: Assignments | Traced
) -> tuple[str, Traced]:
    """Return a clause with its kind; `given` is what an action that lists columns sets, or the placeholder of it."""
    text = asked.made(kind)
    if condition is not None:
        text = text + asked.made(" and ") + condition.strip()
    text = text + link.made(f" then {action}")
    if action not in SETS:
        return kind, text
    if isinstance(given, Traced):
        return kind, text + link.made(" set " if action == "update" else " ") + given
    if action == "update":
        pairs = [name + link.made(" = ") + value if value is not None else name for name, value in given]
        return kind, text + link.made(" set ") + _listed(pairs, link)
    names = _listed([name for name, _ in given], link)
    values = _listed([value if value is not None else name for name, value in given], link)
    return kind, text + link.made(" (") + names + link.made(") values (") + values + link.made(")")


def merge_text(
    link: Call,
    target: Relation,
    source: Relation,
    condition: Traced,
    clauses: Iterable[tuple[str, Traced]],
    more: Iterable[Call],
    *,
    evolves: bool,
) -> Traced:
    """Return the MERGE that the call `link` begins; at the calls `more` it may have clauses that are not known."""
    words = f"merge {'with schema evolution ' * evolves}into "
    parts = [link.made(words), target.aliased, link.made("\nusing "), source.aliased, link.made("\non ")]
    parts.append(condition.strip())
    listed = [text for _, text in sorted(clauses, key=lambda clause: _ORDER.index(clause[0]))]
    for part in (*listed, *(Traced.filled("{…}", each.origin) for each in more)):
        parts += [link.made("\n"), part]
    return Traced.joined(parts)


def _listed(parts: Sequence[Traced], link: Call) -> Traced:
    found: list[Traced] = []
    for part in parts:
        found += [link.made(", "), part] if found else [part]
    return Traced.joined(found)
