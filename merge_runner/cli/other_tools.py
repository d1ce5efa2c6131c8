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
}
"""Options that other commands have, and what to do without."""
