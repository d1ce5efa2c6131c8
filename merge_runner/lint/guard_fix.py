"""The fix that adds conditions to a WHEN clause."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Edit, Fix
from merge_runner.text import Span

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.merge.statement import Clause, Expr


def authors_words(merge: LintedMerge, condition: Expr) -> str | None:
    """Return a condition as its author wrote it, for use in another place: what Jinja gives may differ in each run."""
    text = merge.source_text(condition.span)
    return " ".join(text.split()) if text is not None else None


_KIND = re.compile(r"when\s+(not\s+)?matched(\s+by\s+(source|target))?\b", re.IGNORECASE)


def guard(merge: LintedMerge, clause: Clause, conditions: Sequence[str | None]) -> Fix | None:
    """Return the fix that makes a clause ask for these conditions besides its own.

    None where one of them is not known, or the clause is not in the author's file as it is in the statement, as a macro
    or a builder writes it.
    """
    rendered, own = merge.file.rendered, clause.condition
    kind = _KIND.match(merge.statement.text, clause.span.start)
    if rendered is None or kind is None or None in conditions:
        return None
    end = own.span.end if own is not None else kind.end()
    if merge.written_at(Span(clause.span.start, end)) is None:
        return None
    joined = " and ".join(filter(None, conditions))
    after = rendered.place(end, end)
    if own is None or re.search(r"\bor\b", own.text, re.IGNORECASE) is None:
        edits: tuple[Edit, ...] = (Edit(after, f" and {joined}"),)
    else:
        before = rendered.place(own.span.start, own.span.start)
        edits = (Edit(before, f"{joined} and ("), Edit(after, ")"))
    return Fix(f"add `{joined}` to the clause", edits)
