"""The statements under accept/, refuse/ and lenient/, as pytest parameters.

What is lenient, Spark refuses and our parser takes. `since` and `until` of an entry are lines of Spark that are
otherwise: the first that takes it, and the first that does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.yaml_data import read_yaml

HERE = Path(__file__).parent

TEMPLATES = {
    "condition": "MERGE INTO t USING s ON {} WHEN MATCHED THEN DELETE",
    "clauses": "MERGE INTO t USING s ON t.id = s.id {}",
    "query": "MERGE INTO t USING ({}) s ON true WHEN MATCHED THEN DELETE",
}
"""What the shorter forms of an entry stand for."""


def statement(entry: dict[str, Any]) -> str:
    if "sql" in entry:
        return entry["sql"]
    form = "query" if "query" in entry else "condition" if "condition" in entry else "clauses"
    return TEMPLATES[form].format(entry[form])


def entries(folder: str) -> Iterator[dict[str, Any]]:
    for path in sorted((HERE / folder).iterdir()):
        if path.suffix == ".sql":
            yield {"sql": path.read_text(encoding="utf-8"), "file": path.name}
        else:
            for number, entry in enumerate(read_yaml(path), 1):
                yield {**entry, "file": f"{path.name}-{number}"}


def parameters(folder: str) -> list[Any]:
    return [pytest.param(entry, id=entry["file"]) for entry in entries(folder)]
