"""How fresh a source is to be, and how often a model is built: dbt's `freshness` and `build_after`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from merge_runner.project.syntax.annotations import CLOSED, Limits, StrictInt
from merge_runner.project.syntax.duration import in_words

_SECONDS = {"minute": 60, "hour": 3600, "day": 86_400}


@dataclass(frozen=True)
class Threshold:
    """An age: so many minutes, hours or days."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    count: Annotated[StrictInt, Limits(ge=1)]
    """The number of periods. Example: `count: 12`"""
    period: Literal["minute", "hour", "day"]
    """The unit. Example: `period: hour`"""

    def __str__(self) -> str:
        return in_words(self.seconds)

    @property
    def seconds(self) -> int:
        """The age in seconds."""
        return self.count * _SECONDS[self.period]


@dataclass(frozen=True)
class BuildAfter:
    """How long a node waits after it was built, and for which new data."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    count: Annotated[StrictInt, Limits(ge=0)]
    """The number of periods that pass at least between two builds. Example: `count: 4`"""
    period: Literal["minute", "hour", "day"]
    """The unit. Example: `period: hour`"""
    updates_on: Literal["any", "all"] = "any"
    """Whether `any` new data is enough, or `all` that it refers to directly must have new data.
    Example: `updates_on: all`"""

    @property
    def seconds(self) -> int:
        """The time that passes at least."""
        return self.count * _SECONDS[self.period]


@dataclass(frozen=True)
class Freshness:
    """From which age on a source is a warning, or an error. `filter` is a condition on the rows that are looked at."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    warn_after: Threshold | None = None
    """The age from which on the table is a warning. Example: `warn_after: {count: 12, period: hour}`"""
    error_after: Threshold | None = None
    """The age from which on the table is an error. Example: `error_after: {count: 1, period: day}`"""
    filter: str | None = None
    """A condition on the rows whose age is measured. Example: `filter: "load_date >= current_date() - 7"`"""

    def __str__(self) -> str:
        ages = (("warn after", self.warn_after), ("error after", self.error_after))
        return ", ".join(f"{label} {age}" for label, age in ages if age is not None)


UNSET = Freshness()
"""The value of a missing key. `freshness: null` says that a source is not checked."""


def resolve_freshness(*levels: Freshness | None) -> Freshness | None:
    """What levels say together, the most specific first; None where the source is not to be looked at.

    As in dbt a level takes over what it does not say itself, and null switches off what was said above it.
    """
    freshness: Freshness | None = UNSET
    for own in reversed(levels):
        if own is None or freshness is None:
            freshness = own if own != UNSET else freshness
        else:
            freshness = Freshness(
                own.warn_after or freshness.warn_after,
                own.error_after or freshness.error_after,
                own.filter or freshness.filter,
            )
    return freshness if freshness is not None and (freshness.warn_after or freshness.error_after) else None
