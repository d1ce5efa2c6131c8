"""The types of YAML property files: sources, models, seeds, columns, tests. Their fields are the keys of the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field, StrictBool

from merge_runner.project.config import Contract, Names
from merge_runner.project.freshness import UNSAID, Freshness
from merge_runner.project.stream import OptionalStream
from merge_runner.text import Place

T = TypeVar("T")


def _or_list(value: Any) -> Any:
    return () if value is None else value


def _or_mapping(value: Any) -> Any:
    return {} if value is None else value


def _or_text(value: Any) -> Any:
    return "" if value is None else value


_CLOSED = ConfigDict(extra="forbid")

Many = Annotated[tuple[T, ...], BeforeValidator(_or_list)]
"""A list; a key without a value counts as an empty one, here and below."""
Text = Annotated[str, BeforeValidator(_or_text)]
Name = Annotated[str, Field(min_length=1)]
Mapped = Annotated[Mapping[str, Any], BeforeValidator(_or_mapping)]
Texts = Annotated[Mapping[str, str], BeforeValidator(_or_mapping)]
Catalog = Annotated[str | None, Field(validation_alias=AliasChoices("catalog", "database"))]


@dataclass(frozen=True)
class Constraint:
    """What a column or table promises; `custom` is written into the column's DDL as it stands."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    type: Literal["not_null", "unique", "primary_key", "foreign_key", "check", "custom"]
    expression: str | None = None
    name: str | None = None
    columns: Names = ()

    def __post_init__(self) -> None:
        if self.type in {"check", "custom"} and not self.expression:
            raise ValueError(f'a constraint of type "{self.type}" needs an "expression"')


@dataclass(frozen=True)
class DataTest:
    """A data test: `name` is its kind (`not_null`, `accepted_values`, that of a macro), `arguments` are the kind's own.

    `label` is the name that its author gave to this one test. `error_if` and `warn_if` are conditions on the number
    of failures, `fail_calc` how it is counted; None: any failure counts. `since` "bounds": only what the MERGE touched.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    label: str | None = None
    description: str = ""
    severity: Literal["error", "warn"] = "error"
    where: str | None = None
    limit: int | None = None
    since: Literal["bounds"] | None = None
    store_failures: bool | None = None
    error_if: str | None = None
    warn_if: str | None = None
    fail_calc: str | None = None
    enabled: bool = True
    tags: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    place: Place | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class ColumnConfig:
    """What dbt has in the config of a column: it adds to the column's own tags and meta."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    tags: Names = ()
    meta: Mapped = field(default_factory=dict)


@dataclass(frozen=True)
class Column:
    """A column as it is declared."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    name: Name
    data_type: str | None = None
    description: Text = ""
    constraints: Many[Constraint] = ()
    data_tests: tuple[DataTest, ...] = ()
    tags: Names = ()
    meta: Mapped = field(default_factory=dict)
    quote: StrictBool | None = None
    config: ColumnConfig = ColumnConfig()


@dataclass(frozen=True)
class ModelProperties:
    """What YAML says about a model or seed. `config` is read as a layer of the model's config, and so are the keys that
    dbt has next to it: `contract tags meta docs group access`."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    name: Name
    description: Text = ""
    config: Mapped = field(default_factory=dict)
    columns: Many[Column] = ()
    constraints: Many[Constraint] = ()
    contract: Contract | None = None
    data_tests: tuple[DataTest, ...] = ()
    tags: Names = ()
    meta: Mapped = field(default_factory=dict)
    docs: Mapped = field(default_factory=dict)
    group: str | None = None
    access: Literal["private", "protected", "public"] | None = None
    deprecation_date: date | datetime | str | None = None


@dataclass(frozen=True)
class SourceConfig:
    """The config of a source or of one of its tables."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    enabled: StrictBool = True
    tags: Names = ()
    meta: Mapped = field(default_factory=dict)
    freshness: Freshness | None = UNSAID
    loaded_at_field: str | None = None


@dataclass(frozen=True)
class SourceTable:
    """A table of a source: files at `path` in a `format`, or an existing table.

    `partition_by` and `cluster_by` None: its layout is unknown; () says that it has none. `freshness` None says that it
    is not looked at.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    name: Name
    description: Text = ""
    path: str | None = None
    format: str | None = None
    identifier: str | None = None
    schema: str | None = None
    catalog: Catalog = None
    options: Texts = field(default_factory=dict)
    partition_by: Names | None = None
    cluster_by: Names | None = None
    columns: Many[Column] = ()
    properties: Texts = field(default_factory=dict)
    constraints: Many[Constraint] = ()
    data_tests: tuple[DataTest, ...] = ()
    tags: Names = ()
    meta: Mapped = field(default_factory=dict)
    config: SourceConfig = SourceConfig()
    freshness: Freshness | None = UNSAID
    loaded_at_field: str | None = None
    loader: str | None = None
    quoting: Mapped = field(default_factory=dict)
    stream: OptionalStream = None


@dataclass(frozen=True)
class Source:
    """A source: tables that this project does not write, and what they have in common.

    `loader` and `quoting` are dbt's, and change nothing: names are quoted wherever Spark needs it.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    name: Name
    description: Text = ""
    path: str | None = None
    format: str | None = None
    schema: str | None = None
    catalog: Catalog = None
    options: Texts = field(default_factory=dict)
    tables: Many[SourceTable] = ()
    tags: Names = ()
    meta: Mapped = field(default_factory=dict)
    config: SourceConfig = SourceConfig()
    freshness: Freshness | None = UNSAID
    loaded_at_field: str | None = None
    loader: str | None = None
    quoting: Mapped = field(default_factory=dict)


Row = Mapping[str, Any]
RowFormat = Literal["dict", "csv", "sql"]


@dataclass(frozen=True)
class Given:
    """Rows of one input of a unit test: `input` is `this`, `ref('…')` or `source('…', '…')`.

    `rows` are mappings in the format dict, else CSV or SQL text; `fixture` names a file that holds that text.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    input: Name
    rows: tuple[Row, ...] | str | None = None
    format: RowFormat = "dict"
    fixture: str | None = None

    def __post_init__(self) -> None:
        _check_rows(self.rows, self.format, self.fixture)


@dataclass(frozen=True)
class Expect:
    """What a unit test expects: the `rows` of the final target, its `changes`, or an `error` with this text."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    rows: tuple[Row, ...] | str | None = None
    changes: tuple[Row, ...] | None = None
    error: str | None = None
    format: RowFormat = "dict"
    fixture: str | None = None

    def __post_init__(self) -> None:
        _check_rows(self.rows, self.format, self.fixture)
        if self.rows is None and self.fixture is None and self.changes is None and self.error is None:
            raise ValueError('"expect" needs "rows", "changes" or "error"')


@dataclass(frozen=True)
class Overrides:
    """What a unit test puts in place of the project's own: vars, the results of macros, environment and clock."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    vars: Mapped = field(default_factory=dict)
    macros: Mapped = field(default_factory=dict)
    env_vars: Texts = field(default_factory=dict)
    current_date: date | None = None
    current_timestamp: datetime | None = None


@dataclass(frozen=True)
class UnitTestConfig:
    """The config of a unit test."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    enabled: StrictBool = True
    tags: Names = ()
    meta: Mapped = field(default_factory=dict)


@dataclass(frozen=True)
class UnitTest:
    """A unit test of a model's MERGE."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    name: Name
    model: Name
    expect: Expect
    given: Many[Given] = ()
    description: Text = ""
    overrides: Overrides = Overrides()
    config: UnitTestConfig = UnitTestConfig()
    tags: Names = ()


@dataclass(frozen=True)
class MacroProperties:
    """What YAML says about a macro."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    name: Name
    description: Text = ""
    arguments: Many[Mapping[str, Any]] = ()
    meta: Mapped = field(default_factory=dict)
    docs: Mapped = field(default_factory=dict)


@dataclass(frozen=True)
class PropertyFile:
    """A whole property file."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    version: Literal[2] = 2
    sources: Many[Source] = ()
    models: Many[ModelProperties] = ()
    seeds: Many[ModelProperties] = ()
    unit_tests: Many[UnitTest] = ()
    macros: Many[MacroProperties] = ()


def _check_rows(rows: tuple[Row, ...] | str | None, format: RowFormat, fixture: str | None) -> None:
    if rows is not None and fixture is not None:
        raise ValueError('"rows" and "fixture" exclude each other')
    if format == "dict" and fixture is not None:
        raise ValueError('a "fixture" needs "format: csv" or "format: sql"')
    if isinstance(rows, str) and format == "dict":
        raise ValueError('"rows" must be a list of mappings, unless "format" is csv or sql')
    if rows is not None and not isinstance(rows, str) and format != "dict":
        raise ValueError(f'"rows" must be text in the format {format}')
