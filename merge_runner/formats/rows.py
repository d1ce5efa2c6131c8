"""Tables of facts from short rows, and facts about the clauses of a MERGE."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from merge_runner.formats.fact import Fact, Prunes

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class ClauseFact:
    """Which conditions of a MERGE with these clauses keep the engine from reading files of the target.

    `on_prunes`: a condition in ON that by itself can. `when_prunes`: the same condition in WHEN, where `clauses` has
    `{when}`. `inferred_prunes`: `t.dt = s.dt` in ON, and a source that is filtered to one literal `dt`; only what the
    main scan of the target is planned with counts, not a filter at run time. `table` is the probe table.
    """

    subject: str
    clauses: str
    on_prunes: bool
    when_prunes: bool
    inferred_prunes: bool
    table: str
    source: str


def facts(source: str, rows: Mapping[_Key, tuple[Prunes, str]], table: str = "data") -> dict[_Key, Fact]:
    """A table of facts from `{key: (prunes, on)}`, all of one source; `on` may be `table: condition`."""
    return {key: _fact(source, key, prunes, on, table) for key, (prunes, on) in rows.items()}


def _fact(source: str, key: Hashable, prunes: Prunes, on: str, table: str) -> Fact:
    subject = ", ".join(key) if isinstance(key, tuple) else str(key)
    named, colon, condition = on.partition(": ")
    return Fact(subject, prunes, condition, named, source) if colon else Fact(subject, prunes, on, table, source)
