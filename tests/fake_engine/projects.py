"""Projects of models that the fake engine runs, written from data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_MERGE = """\
merge into {{ this }} as t
using (select 1L as id, 1L as times) as s on t.id = s.id
when matched then update set times = t.times + s.times
when not matched then insert *
"""
_QUERY = "select 1L as id, 1L as times"


def model_files(models: Mapping[str, Mapping[str, Any] | None]) -> dict[str, str]:
    """Return the files of models by path.

    The keys of a model: `parents`, `tests` (of its column id), `config` (its text, without `materialized`) and
    `materialized`, which is `merge` by default.
    """
    files = {}
    for name, given in models.items():
        model = given or {}
        kind, config = model.get("materialized", "merge"), model.get("config", "")
        head = ", ".join(([f"materialized='{kind}'"] if kind != "merge" else []) + ([config] if config else []))
        parents = [f"-- depends_on: {{{{ ref('{parent}') }}}}" for parent in model.get("parents", ())]
        body = _MERGE if kind == "merge" else f"{_QUERY}\n"
        files[f"models/{name}.sql"] = "\n".join([f"{{{{ config({head}) }}}}", *parents, body])
        columns = [
            {"name": column, **({"data_type": "bigint"} if kind == "merge" else {})} for column in ("id", "times")
        ]
        columns[0] |= {"tests": model.get("tests", [])}
        files[f"models/{name}.yml"] = json.dumps({"models": [{"name": name, "columns": columns}]})
    return files
