"""What a model's file asks for that its materialization cannot do: an incremental model without a MERGE is a view."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from merge_runner.errors import Problem
from merge_runner.merge.find import find_merge, find_statement
from merge_runner.project.schema.config_layers import Layer
from merge_runner.template.static.tags import STRING
from merge_runner.text import SourceText

_TAG = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_CALL = re.compile(rf"{STRING}|(?P<call>\bis_incremental\b)", re.DOTALL)
_LAYOUT = ("partition_by", "cluster_by")
_HINT = (
    "an incremental model is a MERGE: `merge into {{ this }} as t using (SELECT …) as s on t.KEY = s.KEY …` "
    "(docs/guides/incremental-models.md, docs/getting-started/from-dbt.md)"
)
_ARTICLES = {"ephemeral": "an ephemeral model"}


def no_effect(source: SourceText, materialized: str, own: Sequence[Layer]) -> Iterator[Problem]:
    """Yield a warning for a model that is no MERGE and whose own file or YAML says that it is incremental.

    That is a call of `is_incremental()` in its text; in a view or an ephemeral model also a layout of a table.
    `own` are the layers of config that are about this model alone, the most specific last. A text that cannot be
    built with this materialization is left to the error about it.
    """
    if materialized == "merge" or find_merge(source.text) or find_statement(source.text):
        return
    kind = _ARTICLES.get(materialized, f"a {materialized}")
    if (call := _is_incremental(source.text)) is not None:
        message = f"is_incremental() is always false in {kind}: this file has no MERGE"
        yield Problem("never-incremental", message, source.place(*call), _HINT)
    elif materialized != "table":
        for key in _LAYOUT:
            written = next((layer for layer in reversed(own) if key in layer.values), None)
            if written is not None and written.values[key]:
                message = f"{key} has no effect: this file has no MERGE, and {kind} has no data files"
                hint = f"remove {key}, or write config(materialized='table'); {_HINT}"
                yield Problem("no-effect", message, written.places.get(key), hint)
                return


def _is_incremental(text: str) -> tuple[int, int] | None:
    """Return where a Jinja tag first names the built-in; comments of Jinja and texts in quotes do not count."""
    if "is_incremental" not in text:
        return None
    for tag in _TAG.finditer(text):
        for found in _CALL.finditer(text, tag.start(), tag.end()) if text[tag.start() + 1] != "#" else ():
            if found["call"]:
                return found.span()
    return None
