"""Types of values in YAML files, where a key without a value counts as an empty one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from merge_runner.project.schema.accepts import NULL, also
from merge_runner.project.syntax.annotations import Before, Key, Limits

T = TypeVar("T")


def _or_list(value: Any) -> Any:
    return () if value is None else value


def _or_mapping(value: Any) -> Any:
    return {} if value is None else value


def _or_text(value: Any) -> Any:
    return "" if value is None else value


Many = Annotated[tuple[T, ...], Before(_or_list), also(NULL)]
"""A list; a key without a value counts as an empty one, here and below."""
Text = Annotated[str, Before(_or_text), also(NULL)]
Name = Annotated[str, Limits(min_length=1)]
Mapped = Annotated[Mapping[str, Any], Before(_or_mapping), also(NULL)]
Texts = Annotated[Mapping[str, str], Before(_or_mapping), also(NULL)]
Catalog = Annotated[str | None, Key(("catalog", "database"))]
