"""Commands that a user of dbt or SQLMesh types and that are called otherwise here: what to use."""

from __future__ import annotations

from collections.abc import Mapping

ELSEWHERE: Mapping[str, str] = {
    "dbt": "write the command alone, as in `merge-runner run`; `import dbt DIR --to NEW` imports a project of dbt",
    "freshness": "use `merge-runner source freshness`",
    "source-freshness": "use `merge-runner source freshness`",
    "snapshot-freshness": "use `merge-runner source freshness`",
    "plan": "use `merge-runner explain`",
    "render": "use `merge-runner compile`",
    "snapshot": "a history of rows (SCD 2) is a MERGE model (docs/guides/patterns.md): `merge-runner run -s MODEL`",
    "version": "use `merge-runner --version`",
}
"""Each of these words, and what its user may want."""

OPTIONS_ELSEWHERE: Mapping[str, str] = {
    "--no-lint": "only `build` lints first, so only `build` has this option: leave it out",
    "--warn-error-options": "use --warn-error: each warning is an error",
    "--single-threaded": "write --threads 1",
    "--event-time-start": "use --sample, or vars of a window (docs/guides/incremental-models.md)",
    "--event-time-end": "use --sample, or vars of a window (docs/guides/incremental-models.md)",
    "--favor-state": "use --defer: it reads what is neither selected nor built from --state",
    "--resource-type": "write -s resource_type:model",
    "--resource-types": "write -s resource_type:model",
    "--exclude-resource-type": "write --exclude resource_type:test",
    "--exclude-resource-types": "write --exclude resource_type:test",
    "--inline": "use `merge-runner show --inline`",
    "--no-compile": "leave it out: the page has the texts as they are now",
    "--empty-catalog": "leave it out: catalog.json has the tables that can be read without Spark",
    "--show": "use `merge-runner show -s SEED`",
    "--lock": "leave it out: `deps --packages` writes packages.lock",
}
"""Options that other commands or dbt have, and what to do without."""
