"""A table that no catalog of the profile takes.

## What it does
It looks, for each model that is a table, at the catalogs of the output that is linted for. It reports an Iceberg table
where there is no Iceberg catalog, or where there are several and `schema` does not say which one is meant, and a table
of another format in a catalog of Iceberg's. Where the session may know the catalog by itself (an output without
`warehouse`, `spark.sql.defaultCatalog` or `spark.sql.catalog.spark_catalog` in its conf) nothing is reported.

## Why it matters
`build`, `test` and `explain` refuse the model (`iceberg-catalog`).

## Bad
```yaml
config: {format: iceberg}
files:
  profiles.yml: |
    shop: {outputs: {dev: {master: local, schema: shop}}}
```

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id
when matched then update set name = s.name
```

## Good
```yaml
config: {format: iceberg}
files:
  profiles.yml: |
    shop: {outputs: {dev: {master: local, schema: shop, catalogs: {ice: {type: embedded}}}}}
```

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id
when matched then update set name = s.name
```

## When to ignore it
Where the profile that is linted with is not the one that the models are built with; `lint -t` names another output.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.graph.table_catalog import catalog_problem
from merge_runner.lint.rule import Hit

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedFile
    from merge_runner.lint.finding import Severity

SEVERITY: Severity = "error"


def check_file(file: LintedFile) -> Iterator[Hit]:
    """One hit for a model whose catalog does not take its table, where its config says the format."""
    if file.node is None or file.profile is None:
        return
    problem = catalog_problem(file.profile, file.node)
    if problem is not None:
        yield Hit(file.config_place("format"), problem.message, problem.hint, subject=file.node.name)
