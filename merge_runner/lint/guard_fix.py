"""The fix that adds conditions to a WHEN clause."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Edit, Fix
from merge_runner.text import Span

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.merge.statement import Clause

_KIND = re.compile(r"when\s+(not\s+)?matched(\s+by\s+(source|target))?\b", re.IGNORECASE)


def guard(merge: LintedMerge, clause: Clause, conditions: Sequence[str]) -> Fix | None:
    """Return the fix that makes a clause ask for these conditions besides its own.

    None where the clause is not in the author's file as it is in the statement, as a macro or a builder writes it.
    """
    rendered, own = merge.file.rendered, clause.condition
    kind = _KIND.match(merge.statement.text, clause.span.start)
    if rendered is None or kind is None:
        return None
    end = own.span.end if own is not None else kind.end()
    if merge.written_at(Span(clause.span.start, end)) is None:
        return None
    joined = " and ".join(conditions)
    after = rendered.place(end, end)
    if own is None or re.search(r"\bor\b", own.text, re.IGNORECASE) is None:
        edits: tuple[Edit, ...] = (Edit(after, f" and {joined}"),)
    else:
        before = rendered.place(own.span.start, own.span.start)
        edits = (Edit(before, f"{joined} and ("), Edit(after, ")"))
    return Fix(f"add `{joined}` to the clause", edits)
