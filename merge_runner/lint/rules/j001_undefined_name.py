"""Jinja uses a name that does not exist.

## What it does

Reports everything that keeps a model's Jinja from being rendered: a name, macro, filter, var, environment variable,
model or source that does not exist, and Jinja that is not well formed. It warns where the value that a tag writes is
None: SQL reads a column of that name, and in quotes the word.

## Why it matters

In plain Jinja an undefined name becomes nothing, and the MERGE runs without the condition that it should have held.
Here it is an error, before anything runs.

## Bad

```sql
merge into {{ this }} as t
using {{ source('raw', 'sales') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set *
```

## Good

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set *
```

## When to ignore it

Never: the model cannot be rendered. A name that may be missing is tested with `is defined`, a var takes a default:
`var('region', 'EMEA')`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit
from merge_runner.merge.syntax.lexer import scan
from merge_runner.text import Place, Span

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedFile
    from merge_runner.template.rendered_text import RenderedText

SEVERITY: Severity = "error"


def check_file(file: LintedFile) -> Iterator[Hit]:
    """What rendering the file ran into."""
    for problem in file.problems:
        yield Hit(problem.place or Place(file.path, 1, 1), problem.message, problem.advice)
    if file.rendered is not None and "None" in file.rendered.text:
        for span in _nones(file.rendered):
            yield Hit(
                span,
                "the value is None, and SQL reads the word",
                "write `| literal` for NULL, or leave the condition out where there is no value",
                severity="warning",
            )


def _nones(rendered: RenderedText) -> Iterator[Span]:
    """The words None that a tag of Jinja writes, also in quotes."""
    for token in scan(rendered.text):
        inside = Span(token.start + 1, token.end - 1) if token.kind == "string" else token.span
        if inside.of(rendered.text) == "None" and not rendered.map.is_authored(inside.start, inside.end):
            yield inside
