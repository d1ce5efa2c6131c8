"""The text of the MERGE that the calls of a builder mean, in whatever language they are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from merge_runner.lint.containers.pieced_text import PiecedText
from merge_runner.lint.containers.relation_text import Call, Relation

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

Assignments = Sequence[tuple[PiecedText, PiecedText | None]]
"""Columns and their values; a placeholder without a value is for those that are not known."""


def clause_text(
    kind: str, when: Call, condition: PiecedText | None, action: str, link: Call, assignments: Assignments | PiecedText
) -> tuple[str, PiecedText]:
    """Return a clause with its kind; `assignments` is what an action sets, or the placeholder of it."""
    text = when.sql(kind)
    if condition is not None:
        text = text + when.sql(" and ") + condition.strip()
    text = text + link.sql(f" then {action}")
    if action not in SETS:
        return kind, text
    if isinstance(assignments, PiecedText):
        return kind, text + link.sql(" set " if action == "update" else " ") + assignments
    if action == "update":
        pairs = [name + link.sql(" = ") + value if value is not None else name for name, value in assignments]
        return kind, text + link.sql(" set ") + _join_with_commas(pairs, link)
    names = _join_with_commas([name for name, _ in assignments], link)
    values = _join_with_commas([value if value is not None else name for name, value in assignments], link)
    return kind, text + link.sql(" (") + names + link.sql(") values (") + values + link.sql(")")


def merge_text(
    link: Call,
    target: Relation,
    source: Relation,
    condition: PiecedText,
    clauses: Iterable[tuple[str, PiecedText]],
    more: Iterable[Call],
    *,
    evolves: bool,
) -> PiecedText:
    """Return the MERGE that the call `link` begins; at the calls `more` it may have clauses that are not known."""
    words = f"merge {'with schema evolution ' * evolves}into "
    parts = [link.sql(words), target.aliased, link.sql("\nusing "), source.aliased, link.sql("\non ")]
    parts.append(condition.strip())
    texts = [text for _, text in sorted(clauses, key=lambda clause: _ORDER.index(clause[0]))]
    for part in (*texts, *(PiecedText.filled("{…}", call.origin) for call in more)):
        parts += [link.sql("\n"), part]
    return PiecedText.join(parts)


def _join_with_commas(parts: Sequence[PiecedText], link: Call) -> PiecedText:
    texts: list[PiecedText] = []
    for part in parts:
        texts += [link.sql(", "), part] if texts else [part]
    return PiecedText.join(texts)
