"""The names that templates have, with their signatures, as an editor shows them (docs/guides/jinja.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class BuiltIn(NamedTuple):
    """A name of templates: how it is written, and what it does."""

    signature: str
    text: str


BUILT_INS: Mapping[str, BuiltIn] = {
    "ref": BuiltIn("ref('model')", "The table or view of a model or seed; adds an edge to the DAG."),
    "source": BuiltIn("source('source', 'table')", "A table of a source; adds an edge to the DAG."),
    "changes": BuiltIn(
        "changes('model')", "The rows of the model's Change Data Feed that this MERGE has not consumed."
    ),
    "this": BuiltIn("this", "The model's own table."),
    "batch": BuiltIn(
        "batch.start", "The window of the batch: `batch.start` to before `batch.end`, as literals; `batch.id`."
    ),
    "config": BuiltIn("config(key=value, …)", "Sets config keys of the model; `config.get('key')` reads them."),
    "var": BuiltIn("var('name', default)", "A var of the project. Without a default, one that is not set is an error."),
    "env_var": BuiltIn("env_var('NAME', default)", "A variable of the environment."),
    "is_incremental": BuiltIn("is_incremental()", "Whether the run merges into a table that was built before."),
    "is_full_refresh": BuiltIn("is_full_refresh()", "Whether the run rebuilds tables."),
    "target": BuiltIn("target", "The output of the profile: `target.schema`, `target.name`, …"),
    "model_name": BuiltIn("model_name", "The name of the model."),
    "log": BuiltIn("log('text', info=true)", "Writes a message; without `info=true` with `--debug` only."),
    "return": BuiltIn("return(value)", "Ends a macro with a value that need not be text."),
    "exceptions": BuiltIn(
        "exceptions.raise_compiler_error('text')",
        "Ends the rendering with an error; `exceptions.warn('text')` logs a warning.",
    ),
}

PACKAGE_TEXTS: Mapping[str, BuiltIn] = {
    "merge_patterns": BuiltIn(
        "merge_patterns.upsert(source, keys, columns)",
        "Macros that write whole MERGEs; `merge-runner eject MODEL` writes one out into the model.",
    )
}
"""The packages of macros that are installed with merge-runner."""
