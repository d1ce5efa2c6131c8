"""A setting that this platform ignores.

## What it does

Reports a Spark conf, of the profile or of a model, that open-source Spark 4.1, Delta 4.4.0 and Iceberg 1.12.0 do not
read: a misspelt `spark.sql.` or `spark.databricks.` key, or one that only another platform knows. It also reports a
conf of a model that a running session cannot change, and a table property that the format takes and never looks at.
Keys with other prefixes are not looked at, nor those of catalogs. With `platform: databricks` or `platform: fabric` in
the profile it says nothing.

## Why it matters

Spark takes any key in silence. The setting does nothing, and a reader of the project believes that it does. A conf
that belongs to the start of Spark is worse: setting it for one model makes that model fail.

## Bad

```sql
{{ config(
    conf={'spark.microsoft.delta.merge.lowShuffle.enabled': 'true'},
    properties={'write.merge.mode': 'merge-on-read'}
) }}

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

When the same project also runs on a platform that reads the setting.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.formats.confs import INSTEAD, replacement_for, status
from merge_runner.formats.rules import rules
from merge_runner.graph.graph import ModelNode, nodes_of
from merge_runner.lint.config_place import entry_place
from merge_runner.lint.rule import Hit
from merge_runner.text import Place

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedProject
    from merge_runner.lint.finding import Severity
    from merge_runner.project.schema.profile import Profile

SEVERITY: Severity = "warning"

_PROFILES = Place("profiles.yml", 1, 1)
_OWN_EXTENSIONS = ("io.delta.", "org.apache.iceberg.")
_FIXED = {
    "static": "is a static conf: Spark refuses to set it in a running session",
    "launch": "belongs to the start of Spark, which refuses to set it in a running session",
}


def check_project(project: LintedProject) -> Iterator[Hit]:
    """The confs of the profile, then the confs and the properties of each model."""
    profile = project.files.profile
    if profile.platform != "oss":
        return
    sure = _only_ours(profile)
    for key in profile.conf:
        if message := _dead(key, sure):
            yield Hit(_PROFILES, message, _hint(key), subject=key)
    for node in nodes_of(project.graph.nodes, ModelNode):
        for key in node.config.conf:
            reason = _FIXED.get(status(key))
            if message := f'"{key}" {reason}' if reason else _dead(key, sure):
                hint = "set it in the profile, for all models" if reason else _hint(key)
                yield Hit(entry_place(project, node, "conf", key), message, hint, subject=key, model=node.name)
        if node.materialized not in ("merge", "table"):
            continue
        for key, value in node.config.properties.items():
            useless = rules(node.config.format).property_fault(key, value, None, profile.line)
            # A location provider of the author's own may read what Iceberg does not.
            if useless is None or useless.kind != "dead" or "write.location-provider.impl" in node.config.properties:
                continue
            yield Hit(
                entry_place(project, node, "properties", key),
                useless.message,
                useless.hint,
                subject=key,
                model=node.name,
            )


def _only_ours(profile: Profile) -> bool:
    """Whether all that may read a conf is known: no extension or plugin of others, no server with another Spark."""
    if profile.remote is not None or "spark.plugins" in profile.conf:
        return False
    extensions = [name.strip() for name in profile.conf.get("spark.sql.extensions", "").split(",")]
    return all(not name or name.startswith(_OWN_EXTENSIONS) for name in extensions)


def _dead(key: str, sure: bool) -> str | None:
    conf_status = status(key)
    if conf_status == "removed":
        return f'"{key}" is of an older Spark: this one does not read it'
    if conf_status != "unknown" or not (sure or key in INSTEAD):
        return None
    if key in INSTEAD:
        return f'"{key}" is of another platform: open-source Spark and its formats do not read it'
    return f'nothing reads the conf "{key}"'


def _hint(key: str) -> str:
    return replacement_for(key) or "leave it out, or say in the profile which platform this is"
