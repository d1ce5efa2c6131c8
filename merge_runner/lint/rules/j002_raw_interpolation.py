"""A var is spliced into SQL as it is.

## What it does

Reports `{{ var(…) }}`, `{{ env_var(…) }}` and `{{ target.… }}` whose text goes into the SQL without the filter
`literal` (a value) or `identifier` (a name). `int` and `float` are as good. What is only compared in Jinja, given to a
macro or set to another name is not looked at.

## Why it matters

A value with a quote in it ends the string that it stands in: at best Spark refuses the statement, at worst it runs
another one. `literal` also writes the type: a date is a date, a text a text, a list what IN wants.

## Bad

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt and t.region = '{{ var("region", "EMEA") }}'
when matched then update set *
```

## Good

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt and t.region = {{ var("region", "EMEA") | literal }}
when matched then update set *
```

## When to ignore it

Where the var is meant to hold a piece of SQL, such as a whole condition, and only the project's own authors set it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Edit, Fix, Severity
from merge_runner.lint.rule import Hit
from merge_runner.template.raw_vars import RawVar, raw_vars

if TYPE_CHECKING:
    from merge_runner.lint.subject import LintedProject
    from merge_runner.text import SourceText

SEVERITY: Severity = "warning"


def check_project(project: LintedProject) -> Iterator[Hit]:
    """Raw values in the models of the graph and in the project's macros."""
    models = (node for node in project.graph.nodes.values() if node.resource_type == "model")
    for source in [*(project.files.models[node.name].source for node in models), *project.files.macros]:
        for raw in raw_vars(source):
            yield _hit(source, raw)


def _hit(source: SourceText, raw: RawVar) -> Hit:
    text = raw.span.of(source.text)
    fix = None
    if raw.replaces is not None:
        edit = Edit(source.place(raw.replaces.start, raw.replaces.end), raw.replacement)
        what = "identifier" if raw.replacement.rstrip("}- \n").endswith("identifier") else "literal"
        fix = Fix(f"quote it with {what}", (edit,))
    return Hit(
        source.place(raw.span.start, raw.span.end),
        f"{' '.join(text.split())} is spliced into SQL as it is",
        "add `| literal` for a value and drop the quotes around it, or `| identifier` for a name",
        fix=fix,
        subject=raw.tag.of(source.text),
    )
