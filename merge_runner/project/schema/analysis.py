"""The type of analyses in YAML property files: queries that are compiled and never built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from merge_runner.project.schema.config import Names
from merge_runner.project.schema.yaml_types import Many, Mapped, Name, Text
from merge_runner.project.syntax.annotations import CLOSED, StrictBool


@dataclass(frozen=True)
class AnalysisConfig:
    """The config of an analysis, in YAML or by `config(…)` in its file."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    enabled: StrictBool = True
    """`false` removes the analysis from the project. Example: `enabled: false`"""
    tags: Names = ()
    """Labels for selection. Example: `tags: [ad_hoc]`"""
    meta: Mapped = field(default_factory=dict)
    """Keys and values of your own; written to the manifest. Example: `meta: {owner: ann}`"""
    docs: Mapped = field(default_factory=dict)
    """dbt's settings of its documentation site; written to the manifest. Example: `docs: {show: false}`"""


@dataclass(frozen=True)
class AnalysisProperties:
    """What YAML says about an analysis."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    name: Name
    """The name of its file without `.sql`. Example: `name: best_customers`"""
    description: Text = ""
    """What it answers. May call `doc('name')`. Example: `description: Customers by revenue`"""
    columns: Many[Mapping[str, Any]] = ()
    """The columns of its result, as dbt documents them; written to the manifest.
    Example: `columns: [{name: customer_id, description: The customer}]`"""
    config: AnalysisConfig = field(default_factory=AnalysisConfig)
    """`enabled`, `tags`, `meta` and `docs`. What the file sets itself wins. Example: `config: {enabled: false}`"""
    tags: Names = ()
    """Labels for selection. Example: `tags: [ad_hoc]`"""
    meta: Mapped = field(default_factory=dict)
    """Keys and values of your own; written to the manifest. Example: `meta: {owner: ann}`"""
    docs: Mapped = field(default_factory=dict)
    """dbt's settings of its documentation site; written to the manifest. Example: `docs: {show: false}`"""
