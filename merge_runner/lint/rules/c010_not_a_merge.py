"""The model holds no MERGE that Spark can read.

## What it does

Reports a merge model whose text Spark's parser refuses, that holds no statement, another statement than a MERGE or
several of them, and a MERGE that writes another table than the model's own. A model that
is materialized as `view`, `table` or `ephemeral`, by a folder's default too, and holds a MERGE is reported as well, and
so is a model that is an INSERT, UPDATE, DELETE, CREATE or the like. Of plain files only what does not parse.

## Why it matters

Many tools read SQL more generously than Spark does, so such a text looks right until it runs. A MERGE into another
table than the model's leaves the model's own table as it is, and the DAG is wrong about who writes what.

## Bad

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when not matched then insert *
when matched then update set *
```

## Good

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set *
when not matched then insert *
```

## When to ignore it

Never: such a model cannot be built.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit
from merge_runner.merge.syntax.lexer import scan

if TYPE_CHECKING:
    from merge_runner.graph.graph import ModelNode
    from merge_runner.lint.context import LintedFile

SEVERITY: Severity = "error"
_TRIMS = re.compile(r"\{[{%]-|-[}%]\}")


def check_file(file: LintedFile) -> Iterator[Hit]:
    """A merge model that is none, and one that writes another table."""
    if file.error is not None and file.error.kind == "syntax":
        yield Hit(file.error.span, file.error.message, _glued_word(file) or file.error.hint)
    if file.statement is None or file.node is None or file.node.relation is None:
        return
    parts, relation = file.statement.target.parts, file.node.relation
    if parts and not relation.is_named_by(parts, default=_may_be_default(file.node)):
        yield Hit(
            file.statement.target.relation,
            f"the MERGE writes {'.'.join(parts)}, and this model is {relation.name}",
            "write `merge into {{ this }}`; the config keys `alias` and `schema` name the table",
        )


def _may_be_default(node: ModelNode) -> bool:
    """Whether the model's schema may be the one of the session, judged by the project."""
    named_by_macro = any(macro.endswith(".generate_schema_name") for macro in node.macros)
    return named_by_macro or node.config.schema is None


def _glued_word(file: LintedFile) -> str | None:
    """The word next to an error that a tag of Jinja has joined, by taking the blanks around it away."""
    template, error = file.rendered, file.error
    if template is None or error is None or _TRIMS.search(template.source.text) is None:
        return None
    near = [token for token in scan(template.text) if token.kind in ("word", "name")]
    after = next((i for i, token in enumerate(near) if token.end > error.span.start), len(near))
    for token in near[max(after - 1, 0) : after + 3]:
        if any(token.start < start < token.end for start in template.map.starts):
            word = token.span.of(template.text)
            return f"`{word}` is one word: `-` in a tag takes the blanks around it away, write the tag without it"
    return None
