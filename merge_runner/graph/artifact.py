"""What dbt's artifacts have in common: their schema, who wrote them, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Literal

Schema = Literal["manifest/v12", "run-results/v6", "catalog/v1", "sources/v3"]

DBT_VERSION = "1.10.0"
"""The dbt release with these shapes, by which readers choose their parser; our own version is in env."""


@dataclass(frozen=True)
class Metadata:
    """Who made an artifact, and when (times with a zone). `version` is merge-runner's own."""

    generated_at: datetime
    invocation_id: str
    version: str
    invocation_started_at: datetime | None = None
    env: Mapping[str, str] = field(default_factory=dict)

    def as_json(self, schema: Schema) -> dict[str, Any]:
        """Return the `metadata` of an artifact of this schema."""
        started = self.invocation_started_at
        return {
            "dbt_schema_version": f"https://schemas.getdbt.com/dbt/{schema}.json",
            "dbt_version": DBT_VERSION,
            "generated_at": utc(self.generated_at),
            "invocation_id": self.invocation_id,
            "invocation_started_at": utc(started) if started else None,
            "env": {**self.env, "MERGE_RUNNER_VERSION": self.version},
        }


def utc(time: datetime) -> str:
    """Return a time as dbt writes it: to the microsecond, with Z. Some readers accept no other form."""
    return time.astimezone(timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")
