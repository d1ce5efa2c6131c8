"""The types of YAML property files: sources, models, seeds, columns, tests. Their fields are the keys of the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, ClassVar, Literal

from merge_runner.project.schema.accepts import one_of
from merge_runner.project.schema.analysis import AnalysisProperties
from merge_runner.project.schema.config import Contract, Names
from merge_runner.project.schema.exposure import Exposure, Owner
from merge_runner.project.schema.freshness import UNSET, Freshness
from merge_runner.project.schema.stream import OptionalStream
from merge_runner.project.schema.unit_test import UnitTest
from merge_runner.project.schema.yaml_types import Catalog, Many, Mapped, Name, Text, Texts
from merge_runner.project.syntax.annotations import CLOSED, Keyed, StrictBool
from merge_runner.text import Place


@dataclass(frozen=True)
class Constraint:
    """What a column or table promises; `custom` is written into the column's DDL unchanged."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED
    ACCEPTS: ClassVar[Mapping[str, Any]] = {
        "if": {"properties": {"type": {"enum": ["check", "custom"]}}, "required": ["type"]},
        "then": one_of("expression"),
    }

    type: Literal["not_null", "unique", "primary_key", "foreign_key", "check", "custom"]
    """`not_null` and `primary_key` make the columns NOT NULL; `check` adds a CHECK constraint (Delta); `custom` appends
    `expression` to the column's DDL. `unique`, `primary_key` and `foreign_key` are not enforced; lint relies on
    them.
    Example: `type: check`"""
    expression: str | None = None
    """The condition of a `check`, or the DDL text of `custom` (`generated always as (…)`, `default 0`). Required for
    these two.
    Example: `expression: "amount >= 0"`"""
    name: str | None = None
    """The name of a CHECK constraint. Example: `name: positive_amount`"""
    columns: Names = ()
    """The columns of a constraint of the table. Not used on a column. Example: `columns: [order_id, line]`"""

    def __post_init__(self) -> None:
        if self.type in {"check", "custom"} and not self.expression:
            raise ValueError(f'a constraint of type "{self.type}" needs an "expression"')


@dataclass(frozen=True)
class DataTest:
    """A data test: `name` is its kind (`not_null`, `accepted_values`, that of a macro), `arguments` are the kind's own.

    `label` is the name that its author gave to this one test. `error_if` and `warn_if` are conditions on the number
    of failures, `fail_calc` how it is counted; None: any failure counts.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    label: str | None = None
    description: str = ""
    severity: Literal["error", "warn"] = "error"
    where: str | None = None
    limit: int | None = None
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

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    tags: Names = ()
    """Added to the column's `tags`. Example: `tags: [pii]`"""
    meta: Mapped = field(default_factory=dict)
    """Added to the column's `meta`. Example: `meta: {owner: ann}`"""


@dataclass(frozen=True)
class Column:
    """A column as it is declared."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    name: Name
    """The name of the column. Case makes no difference. Example: `name: order_id`"""
    data_type: str | None = None
    """The Spark type. Used to create the table, to check contracts and rows of unit tests, and by lint.
    Example: `data_type: decimal(10, 2)`"""
    description: Text = ""
    """What the column means; written to the table as the column comment.
    Example: `description: The shop's order number`"""
    constraints: Many[Constraint] = ()
    """Constraints of this column. Example: `constraints: [{type: not_null}]`"""
    data_tests: tuple[DataTest, ...] = ()
    """Data tests of this column. dbt's old key `tests` is accepted. Example: `data_tests: [not_null, unique]`"""
    tags: Names = ()
    """Labels of the column; written to the manifest. Example: `tags: [pii]`"""
    meta: Mapped = field(default_factory=dict)
    """Keys and values of your own; written to the manifest. Example: `meta: {owner: ann}`"""
    quote: StrictBool | None = None
    """Accepted for dbt projects, without effect: names are quoted where Spark needs it. Example: `quote: true`"""
    config: ColumnConfig = field(default_factory=ColumnConfig)
    """dbt's place for `tags` and `meta` of a column. Example: `config: {tags: [pii]}`"""


@dataclass(frozen=True)
class ModelProperties:
    """What YAML says about a model or seed. `config` is read as a layer of the model's config, and so are the keys that
    dbt has next to it: `contract tags meta docs group access`."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    name: Name
    """The name of the model (its file without `.sql`) or seed (without `.csv`). Example: `name: fct_order`"""
    description: Text = ""
    """What the model is; written to the table as its comment. May call `doc('name')`.
    Example: `description: One row for each order`"""
    config: Mapped = field(default_factory=dict)
    """The config keys of the model, [as listed](configuration.md). Example: `config: {format: iceberg}`"""
    columns: Many[Column] = ()
    """The columns, by which the table is created. Example: `columns: [{name: order_id, data_type: bigint}]`"""
    constraints: Many[Constraint] = ()
    """Constraints of the table. Example: `constraints: [{type: primary_key, columns: [order_id]}]`"""
    contract: Contract | None = None
    """The config key `contract`, where dbt also accepts it. Example: `contract: {enforced: true}`"""
    data_tests: tuple[DataTest, ...] = ()
    """Data tests of the model. dbt's old key `tests` is accepted.
    Example: `data_tests: [{row_count_between: {min_value: 1}}]`"""
    tags: Names = ()
    """The config key `tags`, where dbt also accepts it. Example: `tags: [daily]`"""
    meta: Mapped = field(default_factory=dict)
    """The config key `meta`, where dbt also accepts it. Example: `meta: {owner: ann}`"""
    docs: Mapped = field(default_factory=dict)
    """The config key `docs`, where dbt also accepts it. Example: `docs: {show: false}`"""
    group: str | None = None
    """The config key `group`, where dbt also accepts it. Example: `group: finance`"""
    access: Literal["private", "protected", "public"] | None = None
    """The config key `access`, where dbt also accepts it. Example: `access: public`"""
    deprecation_date: date | datetime | str | None = None
    """Accepted for dbt projects, without effect. Example: `deprecation_date: 2030-01-01`"""


@dataclass(frozen=True)
class SourceConfig:
    """The config of a source or of one of its tables."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    enabled: StrictBool = True
    """`false` removes the source or table from the project. Example: `enabled: false`"""
    tags: Names = ()
    """Labels for selection. Example: `tags: [raw]`"""
    meta: Mapped = field(default_factory=dict)
    """Keys and values of your own. Example: `meta: {owner: ann}`"""
    freshness: Freshness | None = UNSET
    """`freshness`, where dbt also accepts it. Example: `freshness: {warn_after: {count: 1, period: day}}`"""
    loaded_at_field: str | None = None
    """`loaded_at_field`, where dbt also accepts it. Example: `loaded_at_field: loaded_at`"""
    event_time: str | None = None
    """The column, or an expression, with the time of each row: `--sample` reads the rows of a window of it.
    Example: `event_time: ordered_at`"""


@dataclass(frozen=True)
class SourceTable(Keyed):
    """A table of a source: files at `path` in a `format`, or an existing table.

    `partition_by` and `cluster_by` None: its layout is unknown; () says that it has none. `freshness` None says that it
    is not looked at.
    """

    name: Name
    """The name of the table: the second argument of `source('shop', 'orders')`. Example: `name: orders`"""
    description: Text = ""
    """What it is. May call `doc('name')`. Example: `description: Orders as the shop exports them`"""
    path: str | None = None
    """Files or a folder that Spark reads, relative to the project, or in an object store. Without it the table is one
    of the catalog.
    Example: `path: data/orders.csv`"""
    format: str | None = None
    """The format of the files at `path`: any that Spark reads. Default: derived from the suffix (csv, tsv, json, jsonl,
    parquet, orc).
    Example: `format: csv`"""
    checksum: StrictBool = False
    """Whether a build knows the files at `path` by their content, which it reads for that. Default: by their sizes and
    modification times, which a fresh checkout changes.
    Example: `checksum: true`"""
    identifier: str | None = None
    """The name of the table in the catalog, where it is not `name`. Example: `identifier: orders_v2`"""
    schema: str | None = None
    """The schema of the table in the catalog. Default: that of the source, else the name of the source.
    Example: `schema: raw`"""
    catalog: Catalog = None
    """The catalog of the table. Example: `catalog: lake`"""
    options: Texts = field(default_factory=dict)
    """Options of Spark's reader for files at `path`. Those of a source apply to its tables.
    Example: `options: {header: "true", delimiter: ";"}`"""
    partition_by: Names | None = None
    """How the table is partitioned, so that lint can analyze filters on it. Not set: unknown; `[]`: not partitioned.
    Example: `partition_by: [order_date]`"""
    cluster_by: Names | None = None
    """The clustering columns of the table. Not set: unknown; `[]`: not clustered.
    Example: `cluster_by: [customer_id]`"""
    columns: Many[Column] = ()
    """The columns of the table, with their types: Spark reads files with them, lint checks names and types by them.
    Example: `columns: [{name: order_id, data_type: bigint}]`"""
    properties: Texts = field(default_factory=dict)
    """Table properties that the table has, for lint. Example: `properties: {delta.enableChangeDataFeed: "true"}`"""
    constraints: Many[Constraint] = ()
    """Constraints that the table has, for lint. Example: `constraints: [{type: unique, columns: [order_id]}]`"""
    data_tests: tuple[DataTest, ...] = ()
    """Data tests of the table. dbt's old key `tests` is accepted.
    Example: `data_tests: [{row_count_between: {min_value: 1}}]`"""
    tags: Names = ()
    """Labels for selection (`--select tag:raw`). Example: `tags: [raw]`"""
    meta: Mapped = field(default_factory=dict)
    """Keys and values of your own; written to the manifest. Example: `meta: {owner: ann}`"""
    config: SourceConfig = field(default_factory=SourceConfig)
    """`enabled`, `tags`, `meta` and freshness, where dbt also accepts them. Example: `config: {enabled: false}`"""
    freshness: Freshness | None = UNSET
    """From which age of the newest row on the table is a warning or an error of `merge-runner source freshness`.
    `null`: not checked. A table inherits from its source what it does not set itself.
    Example: `freshness: {warn_after: {count: 12, period: hour}, error_after: {count: 1, period: day}}`"""
    loaded_at_field: str | None = None
    """The column, or an expression, that says when a row was loaded. Needed for `freshness`.
    Example: `loaded_at_field: "cast(loaded_at as timestamp)"`"""
    loader: str | None = None
    """Accepted for dbt projects, without effect. Example: `loader: airbyte`"""
    quoting: Mapped = field(default_factory=dict)
    """Accepted for dbt projects, without effect: names are quoted where Spark needs it.
    Example: `quoting: {identifier: true}`"""
    stream: OptionalStream = None
    """Read the table as a stream, in micro-batches, by `merge-runner stream`. `true`, or a mapping with the keys below.
    Example: `stream: true`"""


@dataclass(frozen=True)
class Source(Keyed):
    """A source: tables that this project does not write, and what they have in common.

    `loader` and `quoting` are dbt's, and change nothing: names are quoted wherever Spark needs it.
    """

    name: Name
    """The name of the source: the first argument of `source('shop', 'orders')`. Example: `name: shop`"""
    description: Text = ""
    """What it is. May call `doc('name')`. Example: `description: Orders as the shop exports them`"""
    path: str | None = None
    """The folder of the source's files. `path` of a table is relative to it; without one it is the table's `identifier`
    or name.
    Example: `path: data`"""
    format: str | None = None
    """The format of the files, for tables that do not set one. Example: `format: parquet`"""
    schema: str | None = None
    """The schema of the tables in the catalog. Default: the name of the source. Example: `schema: raw`"""
    catalog: Catalog = None
    """The catalog of the tables. Example: `catalog: lake`"""
    options: Texts = field(default_factory=dict)
    """Options of Spark's reader for files at `path`. Those of a source apply to its tables.
    Example: `options: {header: "true", delimiter: ";"}`"""
    tables: Many[SourceTable] = ()
    """The tables of the source. Example: `tables: [{name: orders}]`"""
    tags: Names = ()
    """Labels for selection (`--select tag:raw`). Example: `tags: [raw]`"""
    meta: Mapped = field(default_factory=dict)
    """Keys and values of your own; written to the manifest. Example: `meta: {owner: ann}`"""
    config: SourceConfig = field(default_factory=SourceConfig)
    """`enabled`, `tags`, `meta` and freshness, where dbt also accepts them. Example: `config: {enabled: false}`"""
    freshness: Freshness | None = UNSET
    """From which age of the newest row on the table is a warning or an error of `merge-runner source freshness`.
    `null`: not checked. A table inherits from its source what it does not set itself.
    Example: `freshness: {warn_after: {count: 12, period: hour}, error_after: {count: 1, period: day}}`"""
    loaded_at_field: str | None = None
    """The column, or an expression, that says when a row was loaded. Needed for `freshness`.
    Example: `loaded_at_field: "cast(loaded_at as timestamp)"`"""
    loader: str | None = None
    """Accepted for dbt projects, without effect. Example: `loader: airbyte`"""
    quoting: Mapped = field(default_factory=dict)
    """Accepted for dbt projects, without effect: names are quoted where Spark needs it.
    Example: `quoting: {identifier: true}`"""


@dataclass(frozen=True)
class Group:
    """A group of models. A model that is `private` to it is referred to by its models alone."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    name: Name
    """The name, which models have as `group`. Example: `name: finance`"""
    owner: Owner
    """Who answers for its models. Example: `owner: {name: Finance, email: finance@example.com}`"""
    description: Text = ""
    """What its models are about; written to the manifest. Example: `description: Revenue and its corrections`"""
    config: Mapped = field(default_factory=dict)
    """dbt's place for `meta`; written to the manifest. Example: `config: {meta: {slack: finance}}`"""


@dataclass(frozen=True)
class MacroProperties:
    """What YAML says about a macro."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    name: Name
    """The name of the macro. Example: `name: in_window`"""
    description: Text = ""
    """What it does; written to the manifest. Example: `description: A condition on the window of the run`"""
    arguments: Many[Mapping[str, Any]] = ()
    """Its arguments, as dbt documents them; written to the manifest.
    Example: `arguments: [{name: column, type: string}]`"""
    meta: Mapped = field(default_factory=dict)
    """Keys and values of your own; written to the manifest. Example: `meta: {owner: ann}`"""
    docs: Mapped = field(default_factory=dict)
    """dbt's settings of its documentation site; written to the manifest. Example: `docs: {show: false}`"""


@dataclass(frozen=True)
class PropertyFile:
    """A whole property file."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    version: Literal[2] = 2
    """The version of the file format; may be left out. Example: `version: 2`"""
    sources: Many[Source] = ()
    """Tables that the project reads and does not write. Example: `sources: [{name: shop, tables: [{name: orders}]}]`"""
    models: Many[ModelProperties] = ()
    """Properties of models. Example: `models: [{name: fct_order}]`"""
    seeds: Many[ModelProperties] = ()
    """Properties of seeds; the keys are those of models. Example: `seeds: [{name: price}]`"""
    unit_tests: Many[UnitTest] = ()
    """Unit tests of models. Example: `unit_tests: [{name: empty_source, model: fct_order, expect: {rows: []}}]`"""
    exposures: Many[Exposure] = ()
    """What outside of the project reads its tables.
    Example: `exposures: [{name: sales, type: dashboard, owner: {name: ann}, depends_on: [ref('fct_order')]}]`"""
    groups: Many[Group] = ()
    """Groups of models. Example: `groups: [{name: finance, owner: {name: Finance}}]`"""
    macros: Many[MacroProperties] = ()
    """Descriptions of macros. Example: `macros: [{name: in_window}]`"""
    analyses: Many[AnalysisProperties] = ()
    """Descriptions of analyses. Example: `analyses: [{name: best_customers}]`"""
