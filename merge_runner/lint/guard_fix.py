"""The fix that adds conditions to a WHEN clause."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Edit, Fix

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.merge.statement import Clause

_KIND = re.compile(r"when\s+(not\s+)?matched(\s+by\s+(source|target))?\b", re.IGNORECASE)


def guard(merge: LintedMerge, clause: Clause, conditions: Sequence[str]) -> Fix | None:
    """Return the fix that makes a clause ask for these conditions besides its own.

    None where the clause is not in the author's file as it is in the statement, as a macro or a builder writes it.
    """
    rendered, text, own = merge.file.rendered, merge.statement.text, clause.condition
    kind = _KIND.match(text, clause.span.start)
    if rendered is None or kind is None:
        return None
    end = own.span.end if own is not None else kind.end()
    place = rendered.place(clause.span.start, end)
    if place.end_line is None or place.end_column is None:
        return None
    source = rendered.source
    written = source.text[source.offset(place.line, place.column) : source.offset(place.end_line, place.end_column)]
    if written != text[clause.span.start : end]:
        return None
    joined = " and ".join(conditions)
    after = rendered.place(end, end)
    if own is None or re.search(r"\bor\b", own.text, re.IGNORECASE) is None:
        edits: tuple[Edit, ...] = (Edit(after, f" and {joined}"),)
    else:
        before = rendered.place(own.span.start, own.span.start)
        edits = (Edit(before, f"{joined} and ("), Edit(after, ")"))
    return Fix(f"add `{joined}` to the clause", edits)
