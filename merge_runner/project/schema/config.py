"""The config keys of models and seeds: their types, defaults and meanings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, ClassVar, Literal

from merge_runner.formats import DEFAULT, Format
from merge_runner.plain_json import plain
from merge_runner.project.schema.accepts import NULL, TEXT, Exactly, also
from merge_runner.project.schema.batches import BatchSize, ConcurrentBatches, TimeText
from merge_runner.project.schema.expect_merge import ExpectMerge
from merge_runner.project.schema.freshness import BuildAfter
from merge_runner.project.schema.quantities import Seconds
from merge_runner.project.syntax.annotations import CLOSED, Before, Limits, StrictBool, StrictInt


def as_list(value: Any) -> Any:
    """One entry counts as a list of one, nothing as an empty list."""
    if value is None:
        return ()
    return value if isinstance(value, list | tuple | Mapping) else (value,)


def _off(value: Any) -> Any:
    # YAML 1.1 editors and people write off as false; a Jinja config() may as well.
    return "off" if value is False else value


Names = Annotated[tuple[str, ...], Before(as_list), also(TEXT, NULL)]
"""A list of texts, or one text."""


def hook_texts(value: Any) -> Any:
    """Return the SQL texts of hooks, which may be texts or dbt's mappings `{sql: …, transaction: …}`.

    `transaction` changes nothing: Spark has no transactions, and hooks run in their order. Other shapes stay as they
    are, for the types to refuse.
    """
    return tuple(_hook_text(hook) for hook in ((value,) if isinstance(value, Mapping) else as_list(value)))


def _hook_text(value: Any) -> Any:
    has_sql = isinstance(value, Mapping) and isinstance(value.get("sql"), str)
    return value["sql"] if has_sql and value.keys() <= {"sql", "transaction"} else value


_HOOK: tuple[Mapping[str, Any], ...] = (
    TEXT,
    {
        "type": "object",
        "properties": {"sql": {"type": "string"}, "transaction": {}},
        "required": ["sql"],
        "additionalProperties": False,
    },
)
Hooks = Annotated[
    tuple[str, ...],
    Before(hook_texts),
    Exactly({"anyOf": [*_HOOK, NULL, {"type": "array", "items": {"anyOf": _HOOK}}]}),
]
"""SQL texts, each alone or in a mapping of dbt."""
Count = Annotated[StrictInt, Limits(ge=0)]
Texts = Mapping[str, str]


@dataclass(frozen=True)
class Optimize:
    """How a table is compacted."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    zorder_by: Names = ()
    """Columns by which the rows are ordered along a Z-order curve, so that a filter on any of them skips files.
    Applies to: Delta tables without `cluster_by`, Iceberg tables
    Example: `zorder_by: [customer_id, product_id]`"""
    where: str | None = None
    """A condition that limits compaction to part of the table; on Delta it may name partition columns only.
    Example: `where: "flight_date >= current_date() - interval 7 days"`"""
    after: Annotated[StrictInt, Limits(ge=1)] | None = None
    """Also compact in `build`, after the model's MERGE, with every N-th MERGE that was committed to the table.

    Without it only `merge-runner optimize` compacts.
    Applies to: merge models
    Example: `after: 10`"""


@dataclass(frozen=True)
class Contract:
    """Whether the declared columns are enforced."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    enforced: StrictBool = False
    """Fail the model before it writes where its columns differ from those that YAML declares.

    Every column needs a `data_type`.
    Applies to: merge, table and view models
    Example: `enforced: true`"""
    alias_types: StrictBool = True
    """Accepted for dbt projects, without effect: Spark reads all type names. Example: `alias_types: true`"""


Materialized = Literal["merge", "table", "view", "ephemeral"]

OnSchemaChange = Literal["ignore", "append_new_columns", "fail"]
"""What happens where an existing table lacks declared columns: a warning, they are added, or the model stops."""


@dataclass(frozen=True)
class ModelConfig:
    """The resolved config of a model or seed; a key that is not set has its default.

    The docstring of a field is its entry in docs/reference/configuration.md: the meaning, then `Applies to:` (all
    models and seeds where it is missing) and an `Example:` in YAML.
    """

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    materialized: Materialized | None = None
    """How the model is built: `merge` runs its MERGE statement, `table` replaces a table with the result of its query,
    `view` creates a view, `ephemeral` inlines its query as a subquery where another model reads it. Default: `merge`
    where the file contains a MERGE, else `view`.
    Applies to: models
    Example: `materialized: table`"""
    format: Format = DEFAULT
    """The table format. An Iceberg table belongs to the catalog that the schema names, else to the only Iceberg catalog
    of the profile's output.
    Applies to: merge and table models, seeds
    Example: `format: iceberg`"""
    schema: str | None = None
    """A custom schema. As in dbt it is appended to the schema of the profile (`shop` and `marts` give `shop_marts`),
    unless the project has a macro `generate_schema_name`.
    Applies to: merge, table and view models, seeds
    Example: `schema: marts`"""
    alias: str | None = None
    """The name of the table or view, where it is not the name of the file.
    Applies to: merge, table and view models, seeds
    Example: `alias: flight_history`"""
    partition_by: Names = ()
    """The partition columns; for Iceberg also transforms, as in DDL (hidden partitioning). Without it the table is
    created unpartitioned. Partition pruning needs a filter on these columns in ON. An existing table is not
    repartitioned: a difference is a warning.
    Applies to: merge and table models, seeds
    Example: `partition_by: ["days(ordered_at)", "bucket(16, customer_id)"]`"""
    cluster_by: Names = ()
    """The columns of liquid clustering (`CLUSTER BY`). Excludes `partition_by`.
    Applies to: merge and table models, seeds; Delta
    Example: `cluster_by: [customer_id, ordered_at]`"""
    sort_by: Names = ()
    """The write order of the table: the rows of each data file are sorted by these columns or transforms, ascending
    with NULLs first unless an item specifies otherwise.
    Applies to: merge models; Iceberg
    Example: `sort_by: [customer_id, "ordered_at desc nulls last"]`"""
    unique_key: Names = ()
    """Columns whose values occur once in the table. Lint relies on it (rule C003: is the source unique on the join
    keys), and results of tests identify rows by it. It does not write the MERGE: ON does.
    Applies to: models and seeds
    Example: `unique_key: [flight_date, carrier, flight]`"""
    bounds: Annotated[Literal["auto", "off"] | tuple[str, ...], Before(_off), also({"const": False})] = "auto"
    """The runtime filter: which columns of the target are restricted in ON to the values that the source has when the
    MERGE runs. `auto`: partition and clustering columns, the first column of `sort_by` and those of `zorder_by`, where
    ON joins them by equality, no other condition prunes and the target has at least 32 MiB. A list of columns: always
    these. `off`: never.
    Applies to: merge models
    Example: `bounds: [flight_date]`"""
    event_time: str | None = None
    """The column, or an expression, with the time of each row: `--sample` reads the rows of a window of it, and
    batches are windows of it.
    Example: `event_time: ordered_at`"""
    batch_size: BatchSize | None = None
    """Run the MERGE once for each window of this length (a batch). The text names the window: `batch.start`,
    `batch.end`. Needs `event_time` and `begin`. Default: one MERGE, without windows.
    Applies to: merge models
    Example: `batch_size: day`"""
    begin: TimeText | None = None
    """The time at which the first batch begins.
    Applies to: merge models with `batch_size`
    Example: `begin: 2026-01-01`"""
    lookback: Count | None = None
    """By how many batches a row may come too late: a batch runs again until it has run after that time. Default: 1.
    Applies to: merge models with `batch_size`
    Example: `lookback: 3`"""
    concurrent_batches: ConcurrentBatches | None = None
    """Whether batches run at the same time. `auto`: where lint proves that each batch reads and writes its own
    partitions of the table. `on`: always. `off`: one after another, in their order. Default: `auto`.
    Applies to: merge models with `batch_size`
    Example: `concurrent_batches: off`"""
    batches_at_once: Annotated[StrictInt, Limits(ge=1)] | None = None
    """How many adjacent batches that are due run as one MERGE at most. Default: 1.
    Applies to: merge models with `batch_size`
    Example: `batches_at_once: 30`"""
    late_rows: Literal["warn", "ignore"] | None = None
    """Whether to count, after the batches, rows that came to an input after the last run and are older than the first
    batch that ran: no batch merges them. The inputs need `event_time`; files that they had before are not read.
    Default: `ignore`.
    Applies to: merge models with `batch_size`
    Example: `late_rows: warn`"""
    scan: Literal["bounded", "full"] = "bounded"
    """`full` declares that a full scan of the target is intended, so that lint does not report it (P001 and related
    rules).
    Applies to: merge models
    Example: `scan: full`"""
    properties: Texts = field(default_factory=dict)
    """Table properties (TBLPROPERTIES). They are set when the table is created, and altered where they differ later.
    Rule E001 reports a property that the format does not have.
    Applies to: merge and table models, seeds
    Example: `properties: {delta.enableChangeDataFeed: "true"}`"""
    conf: Texts = field(default_factory=dict)
    """Spark configuration of the session in which the model runs. Overrides `conf` of the profile.
    Applies to: models and seeds
    Example: `conf: {spark.sql.shuffle.partitions: "64"}`"""
    tags: Names = ()
    """Labels for selection (`--select tag:daily`). Tags of all levels (folder, YAML, file) add up.
    Example: `tags: [daily, finance]`"""
    meta: Mapping[str, Any] = field(default_factory=dict)
    """Any keys and values of your own: written to the manifest, selectable (`config.meta.owner:ann`), readable by
    macros. Levels merge key by key.
    Example: `meta: {owner: ann}`"""
    enabled: StrictBool = True
    """`false` removes the node from the project: it is neither built nor tested, and a `ref` of it is an error.
    Example: `enabled: false`"""
    pre_hook: Hooks = ()
    """SQL statements that run before the model, in its session. A hook may use Jinja. Hooks of all levels add up.
    Applies to: merge, table and view models, seeds
    Example: `pre_hook: ["set spark.sql.ansi.enabled = false"]`"""
    post_hook: Hooks = ()
    """SQL statements that run after the model has been committed. Hooks of all levels add up.
    Applies to: merge, table and view models, seeds
    Example: `post_hook: ["analyze table {{ this }} compute statistics"]`"""
    on_error: Literal["skip_children", "continue"] = "skip_children"
    """What happens to the nodes downstream of this one where it fails: they are skipped, or `continue`: they run
    anyway.
    Example: `on_error: continue`"""
    full_refresh: StrictBool | None = None
    """Whether `--full-refresh` replaces the table. `false`: it does not. `true`: it does, also where the MERGE reads
    rows of the table itself (SCD2), which are then lost. Default: it does, except where such rows would be lost,
    which is an error.
    Applies to: merge models
    Example: `full_refresh: false`"""
    low_shuffle: StrictBool | None = None
    """Whether a MERGE rewrites only changed rows (merge-on-read) instead of whole files (copy-on-write). It sets
    deletion vectors on Delta, `write.merge.mode` on Iceberg, the platform's own setting on Databricks and Fabric.
    Default: the table's properties decide.
    Applies to: merge models
    Example: `low_shuffle: true`"""
    storage_join: StrictBool | None = None
    """Whether to set the Spark configuration and table properties of a storage-partitioned join: two Iceberg tables
    that are partitioned alike are joined without a shuffle. Default: `storage_join` of the profile.
    Applies to: merge models; Iceberg
    Example: `storage_join: true`"""
    optimize: StrictBool | Optimize | None = None
    """How the table is compacted. `true`: plain compaction. `false`: never. A mapping: with the keys below. Default:
    plain compaction, by `merge-runner optimize` only.
    Applies to: merge and table models, seeds
    Example: `optimize: {zorder_by: [customer_id], after: 10}`"""
    expect_merge: ExpectMerge | None = None
    """Limits of what one run of the MERGE may change (merge guardrails). A MERGE that would exceed them is not
    committed. The keys are below.
    Applies to: merge models
    Example: `expect_merge: {min_source_rows: 1, max_percent_deleted: 1}`"""
    priority: StrictInt = 0
    """Where several nodes are ready to run, those with a higher priority start first, and so do the nodes that they
    depend on; among equals, the longest remaining path.
    Example: `priority: 10`"""
    retries: Count | None = None
    """How often a statement is run again after a conflict with another writer or a transient failure. `0`: one attempt.
    Default: 3.
    Example: `retries: 5`"""
    timeout: Seconds | None = None
    """The longest time that the node may run; then its Spark jobs are cancelled and it fails. Default: no limit.
    Example: `timeout: 30 minutes`"""
    reuse: Annotated[Literal["auto", "off"], Before(_off), also({"const": False})] = "auto"
    """Whether the node is left out of a build where nothing that it reads has changed since it ran, and the engine has
    said after that run that another one would change nothing. `off`: it always runs.
    Example: `reuse: off`"""
    build_after: BuildAfter | None = None
    """How long new data may wait: the node is built only where that much time has passed since it was built, and there
    is new data. Another text or config, and another writer of its table, do not wait. The keys are below.
    Example: `build_after: {count: 4, period: hour}`"""
    concurrent: StrictBool = False
    """Allow another model that writes the same table to run at the same time, where partition literals in ON provably
    keep the two apart. All models that write the table need it. Enables row-level concurrency on Databricks.
    Applies to: merge models
    Example: `concurrent: true`"""
    on_schema_change: OnSchemaChange = "ignore"
    """What happens where an existing table lacks a declared column (schema drift): `ignore` warns, `append_new_columns`
    adds it by ALTER TABLE, `fail` stops the model before it writes.
    Applies to: merge models
    Example: `on_schema_change: append_new_columns`"""
    contract: Contract | None = None
    """Whether the columns declared in YAML are enforced. The keys are below.
    Applies to: merge, table and view models
    Example: `contract: {enforced: true}`"""
    docs: Mapping[str, Any] = field(default_factory=dict)
    """dbt's settings of its documentation site; written to the manifest, without other effect.
    Example: `docs: {show: false}`"""
    group: str | None = None
    """The group of the model, one that YAML declares below `groups:`. `-s group:finance` selects its models.
    Example: `group: finance`"""
    access: Literal["private", "protected", "public"] | None = None
    """Who may refer to the model: `private`, the models of its group alone; `protected` (the default) and `public`: all
    models.
    Applies to: models
    Example: `access: protected`"""
    column_types: Texts = field(default_factory=dict)
    """The Spark types of columns of the CSV file. Columns that are not listed have the `data_type` that YAML declares,
    else the type that Spark infers from all rows.
    Applies to: seeds
    Example: `column_types: {zip: string, price: "decimal(10, 2)"}`"""
    delimiter: Annotated[str, Limits(min_length=1)] = ","
    """What separates the values of the CSV file.
    Applies to: seeds
    Example: `delimiter: ";"`"""

    def as_json(self) -> dict[str, Any]:
        """The config as plain JSON values, by key."""
        values: dict[str, Any] = plain(self)
        return values


SEED_KEYS = frozenset({"column_types", "delimiter"})
MODEL_KEYS = frozenset(config_field.name for config_field in fields(ModelConfig)) - SEED_KEYS
ALL_KEYS = MODEL_KEYS | SEED_KEYS
TABLE_KEYS = frozenset(
    {
        "properties",
        "conf",
        "meta",
        "optimize",
        "expect_merge",
        "build_after",
        "column_types",
        "contract",
        "pre_hook",
        "post_hook",
    }
)
"""Keys whose value may be a mapping: in a tree of folders they are config all the same."""
