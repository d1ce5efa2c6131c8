"""What a validator accepts where the type alone says something else: notes for the JSON Schemas of files.

`tools.docgen.json_schema` reads them. It refuses a validator without such a note, so that no schema can fall
behind the loader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NULL: Mapping[str, Any] = {"type": "null"}
TEXT: Mapping[str, Any] = {"type": ["string", "number", "boolean"]}
"""A scalar: where text is wanted, a number or boolean counts as what its author wrote."""


@dataclass(frozen=True, eq=False)
class Also:
    """The annotation of a type whose validator accepts what one of `schemas` describes, in addition to the type."""

    schemas: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, eq=False)
class Exactly:
    """The annotation of a type whose validator accepts what `schema` describes, whatever the type is."""

    schema: Mapping[str, Any]


def also(*schemas: Mapping[str, Any]) -> Also:
    """Return the annotation `Also`."""
    return Also(schemas)


def matching(pattern: str) -> Exactly:
    """Return the annotation of a text that matches a regular expression, which no number and no boolean does."""
    return Exactly({"type": "string", "pattern": pattern})


def exclusive(*keys: str) -> dict[str, Any]:
    """Return the schema of mappings that have no more than one of two keys; one that is null does not count."""
    return {"not": _present(*keys)}


def one_of(*keys: str) -> dict[str, Any]:
    """Return the schema of mappings that have at least one of some keys; one that is null does not count."""
    return {"anyOf": [_present(key) for key in keys]}


def _present(*keys: str) -> dict[str, Any]:
    return {"required": list(keys), "properties": {key: {"not": NULL} for key in keys}}
