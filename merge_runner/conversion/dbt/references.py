"""The refs of a dbt project: those of models that are not imported become sources."""

from __future__ import annotations

import re
from collections.abc import Callable

SOURCE = "dbt"
"""The name of the source with the tables of models that dbt goes on to build."""
_REF = re.compile(
    r"\bref\(\s*(?:(?P<package_quote>['\"])\w+(?P=package_quote)\s*,\s*)?(?P<quote>['\"])(?P<name>\w+)(?P=quote)\s*\)"
)


def with_sources(text: str, sources: Callable[[str], str | None]) -> str:
    """Return a template with `source('dbt', …)` for each ref of a model that `sources` has a table for."""

    def replace_ref(ref: re.Match[str]) -> str:
        table = sources(ref["name"])
        return ref[0] if table is None else f"source('{SOURCE}', '{table}')"

    return _REF.sub(replace_ref, text)
