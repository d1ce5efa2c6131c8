"""A var is spliced into SQL as it is.

## What it does

Reports `{{ var(…) }}`, `{{ env_var(…) }}` and `{{ target.… }}` whose text goes into the SQL without the filter
`literal` (a value) or `identifier` (a name). `int` and `float` are as good. A name
that `{% set %}`, `{% with %}`, a loop or a namespace gives such a value is reported where its text goes into the SQL,
and so is a call of a macro of the project that returns one. What is only compared in Jinja or given to a macro is not
looked at.

A var that `[tool.merge-runner.vars]` declares as a number or a boolean (`days = 7`) takes only such values, `--vars`
included, and is not reported. One that is declared as a date (`since = 2024-01-01`) is not reported in quotes. Without
them SQL would read `2024-01-01` as 2024 - 1 - 1: `{{ var('since') | literal }}` is `DATE'2024-01-01'`.

## Why it matters

A value with a quote in it ends the string that it is in: at best Spark refuses the statement, at worst it runs
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
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated

from merge_runner.graph.graph import ModelNode, nodes_of
from merge_runner.lint.finding import Edit, Fix, Severity
from merge_runner.lint.rule import Hit, RuleOptions
from merge_runner.project.schema.config import Names
from merge_runner.project.schema.declared_vars import VarType, var_type
from merge_runner.project.syntax.annotations import Key
from merge_runner.text import SourceText

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedProject
    from merge_runner.template.raw_vars import RawVar

SEVERITY: Severity = "warning"


@dataclass(frozen=True)
class Options(RuleOptions):
    """Vars whose values are meant to be SQL."""

    sql_vars: Annotated[
        Names,
        Key(
            ("sql-vars",),
            description="Vars whose values are pieces of SQL that only the project's own authors set: names, or glob "
            "patterns of names.",
            examples=(["where_*"],),
        ),
    ] = ()

    def allows(self, name: str | None) -> bool:
        """Return whether the var is one of `sql_vars`."""
        return name is not None and any(fnmatchcase(name, pattern) for pattern in self.sql_vars)


def check_project(project: LintedProject, options: Options) -> Iterator[Hit]:
    """Raw values in the models that are looked at and in the project's macros."""
    from merge_runner.template.raw_vars import raw_vars, returning_macros  # loads Jinja: files of plain SQL have none

    vars_of_project = project.files.settings.vars
    types = {name: kind for name, value in vars_of_project.items() if (kind := var_type(value)) is not None}
    returning = frozenset().union(*map(returning_macros, project.files.macros))
    models = [node for node in nodes_of(project.graph.nodes, ModelNode) if node.unique_id in project.models]
    for source in [*(SourceText(node.path, node.raw_code) for node in models), *project.files.macros]:
        for raw in raw_vars(source, returning):
            if options.allows(raw.name):
                continue
            kind = types.get(raw.name) if raw.name is not None else None
            if kind is None:
                yield _hit(source, raw)
            elif not _is_safe(source, raw, kind):
                yield _typed_hit(source, raw, kind)


def _is_safe(source: SourceText, raw: RawVar, kind: VarType) -> bool:
    """Whether a value of the declared type means in SQL what it is: dates do in quotes, the others anywhere."""
    if kind in ("date", "timestamp"):
        return raw.in_string
    return raw.in_string or kind == "boolean" or not source.text.endswith("-", 0, raw.tag.start)


def _typed_hit(source: SourceText, raw: RawVar, kind: VarType) -> Hit:
    call = raw.span.of(source.text)
    with_literal = f"{{{{ {' '.join(call.split())} | literal }}}}"
    if kind == "number":
        message = f"{' '.join(call.split())} is spliced after a minus: a negative number would begin a comment"
        hint = f"write {with_literal}, which puts a negative number into parentheses"
    else:
        message = f"{' '.join(call.split())} is a {kind}, and SQL reads its text as a calculation (2013-01-31 is 1981)"
        hint = f"write {with_literal}, which is {kind}'…' in SQL"
    fix = None
    if raw.whole:
        end = source.place(raw.span.end, raw.span.end)
        fix = Fix("write it with literal", (Edit(end, " | literal"),))
    at = source.place(raw.span.start, raw.span.end)
    return Hit(at, message, hint, fix=fix, subject=raw.tag.of(source.text))


def _hit(source: SourceText, raw: RawVar) -> Hit:
    text = raw.span.of(source.text)
    if raw.of is not None:
        text += f" ({raw.of.of(source.text)})"
    fix = None
    if raw.replaces is not None:
        edit = Edit(source.place(raw.replaces.start, raw.replaces.end), raw.replacement)
        filter_name = "identifier" if raw.replacement.rstrip("}- \n").endswith("identifier") else "literal"
        fix = Fix(f"quote it with {filter_name}", (edit,))
    return Hit(
        source.place(raw.span.start, raw.span.end),
        f"{' '.join(text.split())} is spliced into SQL as it is",
        "add `| literal` for a value and drop the quotes around it, or `| identifier` for a name",
        fix=fix,
        subject=raw.tag.of(source.text),
    )
