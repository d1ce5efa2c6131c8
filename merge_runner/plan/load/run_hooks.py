"""The hooks of a run, `on-run-start` and `on-run-end`: their texts, and what they can name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Literal

from merge_runner.errors import Problems
from merge_runner.text import Place, PlacedText

if TYPE_CHECKING:
    from merge_runner.plan.load.project_context import Prepared

Moment = Literal["on-run-start", "on-run-end"]
MOMENTS: tuple[Moment, ...] = ("on-run-start", "on-run-end")


def run_hooks(prepared: Prepared, moment: Moment) -> tuple[PlacedText, ...]:
    """Return the texts of the hooks in their order."""
    settings = prepared.files.settings
    texts = settings.on_run_start if moment == "on-run-start" else settings.on_run_end
    tree = settings.places
    return tuple(
        PlacedText(
            f"{moment} {number}", text, Place(moment, 1, 1) if tree is None else tree.place((moment, number - 1))
        )
        for number, text in enumerate(texts, 1)
    )


def hook_name(prepared: Prepared, moment: Moment, number: int) -> str:
    """Return the name that dbt gives to the hook of a 1-based number."""
    return f"{prepared.graph.project}-{moment}-{number - 1}"


def hook_values(
    prepared: Prepared,
    command: str = "build",
    invocation_id: str = "",
    started_at: datetime | None = None,
    results: Sequence[Mapping[str, Any]] = (),
    database_schemas: Sequence[tuple[str | None, str]] = (),
) -> dict[str, Any]:
    """Return what hooks of a run can name, as in dbt: of a run that has not begun, nothing is in the lists."""
    return {
        "flags": {"FULL_REFRESH": prepared.invocation.full_refresh, "WHICH": command},
        "invocation_id": invocation_id,
        "run_started_at": started_at or datetime.now(timezone.utc),
        "results": list(results),
        "schemas": list(dict.fromkeys(schema for _, schema in database_schemas)),
        "database_schemas": list(database_schemas),
    }


def check_run_hooks(prepared: Prepared) -> None:
    """Render each hook as dbt parses it: `execute` is false, queries return no rows, the run has no results.

    Raises ProblemsError.
    """
    problems = Problems()
    values = {**hook_values(prepared), "execute": False}
    for moment in MOMENTS:
        for number, hook in enumerate(run_hooks(prepared, moment), 1):
            name = hook_name(prepared, moment, number)
            with problems.collecting():
                prepared.compiler.run_hook(hook, name, values, lambda _unique_id: None)
    problems.check()
