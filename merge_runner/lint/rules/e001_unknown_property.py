"""A table property that the format refuses.

## What it does

Reports a table property of a model that Delta or Iceberg will not take: a `delta.` name that open-source Delta does not
have, a value that a property does not accept, a name that Spark keeps for itself. It knows all properties of
Delta 4.4.0 and Iceberg 1.12.0, and those that Delta 3.3.3 on [Spark 3.5](../../guides/spark-versions.md) does not have.
With `platform: databricks` or `platform: fabric` in the profile it says nothing, since
those have properties of their own.

## Why it matters

The table cannot be created: the first run fails with `DELTA_UNKNOWN_CONFIGURATION` or with a conversion error that
names neither the model nor the property. A wrong value of Iceberg's is worse, since the table is created and every
MERGE into it fails. Names such as `delta.targetFileSize` or `delta.enableRowLevelConcurrency` appear in many guides,
and exist on other platforms only.

## Bad

```sql
{{ config(properties={'delta.targetFileSize': '128mb', 'delta.isolationLevel': 'WriteSerializable'}) }}

merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.dt = s.dt and t.id = s.id
when matched then update set amount = s.amount
```

## Good

```sql
{{ config(properties={'delta.enableDeletionVectors': 'true'}) }}

merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.dt = s.dt and t.id = s.id
when matched then update set amount = s.amount
```

## When to ignore it

When the table is made elsewhere. A conf `spark.databricks.delta.allowArbitraryProperties.enabled` ends it for names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.formats.rules import rules
from merge_runner.graph.graph import ModelNode, nodes_of
from merge_runner.lint.config_place import entry_place
from merge_runner.lint.rule import Hit

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedProject
    from merge_runner.lint.finding import Severity

SEVERITY: Severity = "error"

_ANY_NAME = "spark.databricks.delta.allowArbitraryProperties.enabled"


def check_project(project: LintedProject) -> Iterator[Hit]:
    """The properties of each model that becomes a table."""
    profile = project.files.profile
    if profile.platform != "oss":
        return
    for node in nodes_of(project.graph.nodes, ModelNode):
        if node.materialized not in ("merge", "table"):
            continue
        # Without declared columns the source says what the table has.
        columns = tuple(node.columns) or None
        conf = {**profile.conf, **node.config.conf}
        any_name = conf.get(_ANY_NAME, "").lower() == "true"
        for key, value in node.config.properties.items():
            fault = rules(node.config.format).property_fault(key, value, columns, profile.line)
            if fault is not None and fault.kind == "refused" and not (fault.unknown and any_name):
                yield Hit(
                    entry_place(project, node, "properties", key),
                    fault.message,
                    fault.hint,
                    subject=key,
                    model=node.name,
                )
