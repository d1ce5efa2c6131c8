"""What users of dbt write in a config or a property file and merge-runner has otherwise: by key, what to do instead."""

from __future__ import annotations

from collections.abc import Mapping

_READ_BY_DBT = dict.fromkeys(
    ("columns", "constraints", "data_tests", "description", "tests"),
    'it is written next to "config", not in it',
)
_ON = "write it in the ON of the MERGE"
_CLAUSE = "write the WHEN clause in the MERGE: any clause and any condition is yours"
_SNAPSHOT = "there are no snapshots: write the history as a MERGE model (SCD2)"
_PYTHON = "it configures Python models, which merge-runner does not run"
_CATALOG = "the catalog is part of the profile's `schema`, as in `schema: lake.sales`"
_GRANTS = "open-source Spark has no grants; where your catalog has them, write GRANT in `post_hook`"
_DATABRICKS = (
    "it is for Databricks alone, and merge-runner does not set it: where you need it, write ALTER TABLE in `post_hook`"
)
_PLACED = 'tables are placed by the "warehouse" of the profile, or by the schema of your catalog'
_ALTERED = "leave it out: an existing table is altered to what is declared where no row is rewritten"
_BUCKETS = (
    "Delta has no bucketing, and `cluster_by` (liquid clustering) is something else; on Iceberg: "
    "`partition_by=['bucket(8, id)']`"
)

CONFIG: Mapping[str, str] = {
    **_READ_BY_DBT,
    # dbt-core
    "database": _CATALOG,
    "catalog": _CATALOG,
    "persist_docs": "leave it out: descriptions in YAML always become comments",
    "quoting": "leave it out: names are quoted wherever Spark needs it",
    "quote_columns": "leave it out: names are quoted wherever Spark needs it",
    "grants": _GRANTS,
    "sql_header": "write it as a `pre_hook`, which runs in the model's own session; for Spark settings there is `conf`",
    "packages": _PYTHON,
    "on_configuration_change": _ALTERED,
    "freshness": "its `build_after` is a key of its own here: `build_after: {count: 4, period: hour}`",
    "incremental_strategy": "leave it out: the MERGE that you write is the strategy",
    "incremental_predicates": "write them in the ON of the MERGE",
    "predicates": "write them in the ON of the MERGE",
    "merge_update_columns": "write them in the SET of the MERGE",
    "merge_exclude_columns": "write the columns to update in the SET of the MERGE",
    "static_analysis": "leave it out: every MERGE is analysed by `merge-runner lint`",
    "severity": "it belongs to a data test: write it below that test",
    "store_failures": "it belongs to a data test: write it below that test",
    "strategy": _SNAPSHOT,
    "updated_at": _SNAPSHOT,
    "check_cols": _SNAPSHOT,
    "target_schema": _SNAPSHOT,
    "target_database": _SNAPSHOT,
    "invalidate_hard_deletes": _SNAPSHOT,
    "hard_deletes": _SNAPSHOT,
    # dbt-spark
    "file_format": 'the key is "format" (delta or iceberg)',
    "table_format": 'the key is "format" (delta or iceberg)',
    "tblproperties": 'the key is "properties"',
    "location_root": _PLACED,
    "location": _PLACED,
    "clustered_by": _BUCKETS,
    "buckets": _BUCKETS,
    "options": 'options of a Delta or Iceberg table are its "properties"; those of Spark are "conf"',
    "sorted_by": 'Delta keeps no sort order; on Iceberg the key is "sort_by"',
    "submission_method": _PYTHON,
    "create_notebook": _PYTHON,
    "cluster_id": _PYTHON,
    "job_cluster_config": _PYTHON,
    "spark_encryption": "Spark settings of a model are written in `conf`",
    # dbt-databricks
    "liquid_clustered_by": 'the key is "cluster_by"',
    "auto_liquid_cluster": "CLUSTER BY AUTO is for Databricks alone: name the columns in `cluster_by`",
    "zorder": "write `optimize={'zorder_by': [columns]}`: `merge-runner optimize` does it, or a build with `after`",
    "skip_optimize": "leave it out: a build compacts nothing unless `optimize={'after': N}` asks for it",
    "compression": "write it as a property: `parquet.compression.codec` of Delta, `write.parquet.compression-codec` of "
    "Iceberg",
    "include_full_name_in_path": _PLACED,
    "unique_tmp_table_suffix": "leave it out: there is no temporary table, the query is in USING",
    "matched_condition": _CLAUSE,
    "not_matched_condition": _CLAUSE,
    "not_matched_by_source_action": _CLAUSE,
    "not_matched_by_source_condition": _CLAUSE,
    "skip_matched_step": _CLAUSE,
    "skip_not_matched_step": _CLAUSE,
    "merge_actions_explicit": _CLAUSE,
    "source_alias": "choose the aliases in the MERGE: `merge into {{ this }} as t using (…) as s`",
    "target_alias": "choose the aliases in the MERGE: `merge into {{ this }} as t using (…) as s`",
    "merge_with_schema_evolution": "write `merge with schema evolution into {{ this }}`",
    "incremental_apply_config_changes": _ALTERED,
    "databricks_tags": _DATABRICKS,
    "databricks_compute": "a run has one Spark: `master` or `remote` of the profile's output",
    "query_tags": _DATABRICKS,
    "row_filter": _DATABRICKS,
    "column_tags": _DATABRICKS,
    "view_update_via_alter": "leave it out: a view is replaced by CREATE OR REPLACE VIEW",
    "use_safer_relation_operations": "leave it out: a table is replaced in one commit",
}
"""Config keys of dbt-core, dbt-spark and dbt-databricks, and keys that are written elsewhere."""

_INCREMENTAL = 'leave it out, or write "merge": the file holds the MERGE that dbt would generate'

VALUES: Mapping[tuple[str, str], str] = {
    ("materialized", "incremental"): _INCREMENTAL,
    ("materialized", "snapshot"): _SNAPSHOT,
    (
        "materialized",
        "materialized_view",
    ): "Spark has none for Delta and Iceberg: write a table or a merge",
    ("materialized", "streaming_table"): "read the source as a stream (`stream:` in YAML) and write a merge",
    ("materialized", "seed"): "a CSV file in `seed-paths` is a seed by itself",
    (
        "on_schema_change",
        "sync_all_columns",
    ): "append_new_columns adds declared columns; a column is never dropped "
    "unasked, since its data go with it: write ALTER TABLE … DROP COLUMN yourself",
    ("format", "parquet"): "MERGE needs Delta or Iceberg: files of other formats are read as sources",
    ("format", "hudi"): "MERGE is run on Delta and Iceberg",
}
"""Values of config keys that dbt has and merge-runner does not, by key and value."""

_VERSIONS = "models have no versions: give each one a file and a name, as fct_order_v2.sql, and `ref` that name"
_TESTS = "write them below their model or column; a test in a separate file has its `config(…)` there"
_MASK = "merge-runner sets no column mask and no row filter: write ALTER TABLE in a `post_hook`"

PROPERTIES: Mapping[str, str] = {
    "versions": _VERSIONS,
    "latest_version": _VERSIONS,
    "defined_in": _VERSIONS,
    "data_tests": _TESTS,
    "tests": _TESTS,
    "database": _CATALOG,
    "overrides": "packages have macros alone: declare the source here",
    "external": 'write "path", "format" and "options" next to the table\'s name',
    "loaded_at_query": 'write the column or an expression as "loaded_at_field"',
    "column_mask": _MASK,
    "row_filter": _MASK,
    "freshness": 'a model has "build_after" below "config:", as in build_after: {count: 1, period: day}',
    "primary_key": "there is no semantic layer; a merge model has the config `unique_key`",
    "agg_time_dimension": "there is no semantic layer: leave it out",
    "time_spine": "there is no semantic layer: leave it out",
    "granularity": "there is no semantic layer: leave it out",
    "semantic_model": "there is no semantic layer: leave it out",
    "entity": "there is no semantic layer: leave it out",
    "dimension": "there is no semantic layer: leave it out",
    "policy_tags": 'leave it out; what your own macros read goes below "meta"',
    "databricks_tags": _DATABRICKS,
}
"""Keys of dbt's property files that are an error: they would change what a model does or who may read it."""

_OF_TESTS = "write it at the test: `config: {severity: warn}` in YAML, or `config(…)` in its file"

SETTINGS: Mapping[str, str] = {
    "version": "leave it out: the version of a package is in [project]",
    "config-version": "leave it out: there is one version",
    "snapshots": _SNAPSHOT,
    "snapshot-paths": _SNAPSHOT,
    "asset-paths": "leave it out",
    "docs-paths": "leave it out",
    "packages-install-path": "leave it out: `merge-runner deps` installs packages into dbt_packages",
    "clean-targets": 'leave it out: `merge-runner clean` removes the "target-path"',
    "dispatch": "leave it out: a macro of the project goes before that of a package",
    "query-comment": "leave it out: each commit has the node and the invocation in its metadata",
    "quoting": "leave it out: names are quoted wherever Spark needs it",
    "require-dbt-version": "leave it out",
    "flags": "give them on the command line",
    "tests": _OF_TESTS,
    "data_tests": _OF_TESTS,
    "unit_tests": _OF_TESTS,
    "sources": "write it in the YAML of the source",
    "source-paths": 'the key is "model-paths"',
    "data-paths": 'the key is "seed-paths"',
}
"""Keys of dbt_project.yml that the settings of a project do not have."""
