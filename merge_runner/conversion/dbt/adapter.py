"""What depends on dbt's adapter where it is not known, is only assumed, or is none of Spark's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import get_args

from merge_runner.conversion.dbt.connection import Connection
from merge_runner.conversion.dbt.merge_model import merges_by_adapter
from merge_runner.conversion.dbt.project import DbtModelFile
from merge_runner.conversion.dbt.todo import Todo
from merge_runner.errors import Problem, ProblemsError
from merge_runner.project.schema.profile import Adapter
from merge_runner.text import SourceText

_BRANCH = re.compile(r"\btarget\.type\b|\badapter\.type\(\)")


def check_adapter(connection: Connection, models: Iterable[DbtModelFile]) -> None:
    """Raise ProblemsError where only dbt's adapter decides whether rows are appended or merged, and is unknown."""
    unclear = [model for model in models if merges_by_adapter(model)]
    if connection.adapter is not None or not unclear:
        return
    names = ", ".join(model.name for model in unclear[:3]) + (", …" if len(unclear) > 3 else "")
    message = (
        f"dbt's adapter is not known, and it decides what {names} "
        f"{'does' if len(unclear) == 1 else 'do'}: there is a unique_key and no incremental_strategy, "
        "for which dbt-databricks merges and dbt-spark appends"
    )
    hint = "name it: --adapter databricks, or --adapter spark"
    raise ProblemsError([Problem("unknown-adapter", message, unclear[0].place_of("materialized"), hint)])


def adapter_decisions(connection: Connection, templates: Sequence[SourceText], *, has_merges: bool) -> list[Todo]:
    """Return what is left to decide about the adapter; `templates` are those of the project."""
    if connection.assumed_at is not None:
        message, hint = "dbt's adapter is taken to be databricks, which alone has this", "else: --adapter spark"
        return [Todo("decide", message, connection.assumed_at, hint, warns=True)]
    if connection.adapter in get_args(Adapter):
        return []
    adapter_message = f"dbt's adapter is {connection.adapter}" if connection.adapter else "dbt's adapter is not known"
    hint = "the SQL of models is taken as it is, the MERGEs are those of dbt-spark (--adapter names another)"
    of_branch = "it is spark here: keep the branch that is meant"
    branches = [
        Todo("decide", f"`{branch[0]}` decides about the text", source.place(branch.start()), of_branch, warns=True)
        for source in dict.fromkeys(templates)
        for branch in _BRANCH.finditer(source.text)
    ]
    return [Todo("decide", adapter_message, None, hint, warns=has_merges), *branches]
