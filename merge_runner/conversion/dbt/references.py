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

    def replaced(found: re.Match[str]) -> str:
        table = sources(found["name"])
        return found[0] if table is None else f"source('{SOURCE}', '{table}')"

    return _REF.sub(replaced, text)
