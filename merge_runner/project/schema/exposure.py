"""The type of exposures in YAML property files: what outside of the project reads its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from merge_runner.project.schema.config import Names
from merge_runner.project.schema.yaml_types import Mapped, Name, Text
from merge_runner.project.syntax.annotations import CLOSED, StrictBool

ExposureType = Literal["dashboard", "notebook", "analysis", "ml", "application"]


@dataclass(frozen=True)
class Owner:
    """Who answers for an exposure."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    name: str | None = None
    """Name of the owner. Example: `name: Sales analytics`"""
    email: str | None = None
    """Address of the owner. Example: `email: sales@example.com`"""


@dataclass(frozen=True)
class ExposureConfig:
    """dbt's place for what is set for an exposure."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    enabled: StrictBool = True
    """`false` removes the exposure from the project. Example: `enabled: false`"""
    tags: Names = ()
    """Added to the exposure's `tags`. Example: `tags: [weekly]`"""
    meta: Mapped = field(default_factory=dict)
    """Added to the exposure's `meta`. Example: `meta: {owner: ann}`"""


@dataclass(frozen=True)
class Exposure:
    """What reads tables of the project from outside: a dashboard, a notebook, an application."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    name: Name
    """The name, for selection (`-s +exposure:weekly_sales`). Example: `name: weekly_sales`"""
    type: ExposureType
    """What it is: `dashboard`, `notebook`, `analysis`, `ml` or `application`. Example: `type: dashboard`"""
    owner: Owner
    """Who answers for it. Example: `owner: {name: Sales analytics, email: sales@example.com}`"""
    depends_on: Names = ()
    """What it reads: `ref('model')` or `source('name', 'table')`. Example: `depends_on: [ref('fct_order')]`"""
    label: str | None = None
    """Its name for people. Example: `label: Sales of the week`"""
    description: Text = ""
    """What it shows. May call `doc('name')`. Example: `description: Sales by region, on the first page of the shop`"""
    url: str | None = None
    """Where it is. Example: `url: https://bi.example.com/sales`"""
    maturity: Literal["low", "medium", "high"] | None = None
    """How much it is relied on. Example: `maturity: high`"""
    tags: Names = ()
    """Labels for selection. Example: `tags: [weekly]`"""
    meta: Mapped = field(default_factory=dict)
    """Keys and values of your own; written to the manifest. Example: `meta: {team: sales}`"""
    config: ExposureConfig = field(default_factory=ExposureConfig)
    """`enabled`, `tags` and `meta`, where dbt also accepts them. Example: `config: {enabled: false}`"""

    @property
    def all_tags(self) -> tuple[str, ...]:
        """Its tags with those of its config, each once."""
        return tuple(dict.fromkeys((*self.tags, *self.config.tags)))

    @property
    def all_meta(self) -> Mapping[str, Any]:
        """Its meta with that of its config."""
        return {**self.meta, **self.config.meta}
