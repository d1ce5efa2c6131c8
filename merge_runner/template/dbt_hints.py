"""What to write in place of a name that dbt has and a template here has not."""

from __future__ import annotations

ENGINE_HINT = "write run_query('describe …') or run_query('show …'), or load_relation(ref('…')) for whether it exists"
_PACKAGE = "declare the package in packages.yml (`git` and `revision`), and run `merge-runner deps`"
_NO_METRICS = "there is no semantic layer: write the query"
_SET = "a set has no order, and the text would differ from run to run: write `list | unique | list`"
_CLOCK = "a rendered model does not depend on the clock: pass a var, or write current_timestamp() outside of the braces"

CLOCK = frozenset({"now", "today", "utcnow", "fromtimestamp"})
"""What dates and times have in Python that depends on the clock or on where the machine is."""

HINTS = {
    "batch": "a model with batches has it: `batch_size`, `event_time` and `begin` in its config, and a MERGE",
    "store_result": "`statement` and `run_query` keep their rows for load_result",
    "get_columns_in_query": ENGINE_HINT,
    "api": "write the name of the table as text, or declare it as a source",
    "graph": "a template cannot see the project's graph: `ls --output json` and target/manifest.json show it",
    "selected_resources": "a model renders alike whatever is selected",
    "invocation_id": "a rendered model does not depend on the run: the commit of its table carries the invocation's id",
    "thread_id": "a rendered model does not depend on the run",
    "run_started_at": _CLOCK,
    "dbt_version": "a rendered model does not depend on the version: `merge-runner --version` shows it",
    "dbt_metadata_envs": "write env_var('NAME', 'default')",
    "invocation_args_dict": "a rendered model does not depend on the command: pass a var",
    "should_full_refresh": "write is_full_refresh",
    "doc": "a docs block is for descriptions in YAML: `description: \"{{ doc('name') }}\"`",
    "metric": _NO_METRICS,
    "semantic_model": _NO_METRICS,
    "function": "write the name of the function",
    "context": "name the value itself, as in {{ target }}",
    "render": "a macro's result is rendered already: call the macro alone",
    "schema": "write {{ this.schema }} or {{ target.schema }}",
    "database": "write the table itself, as {{ this }}",
    "dispatch": "write adapter.dispatch('name')(…)",
    "get_where_subquery": "write the condition in the query, or `where` at the test in YAML",
    "generate_schema_name": "write {{ this.schema }}, or the project's own macro of this name",
    "generate_alias_name": "write {{ this.identifier }}",
    "set": _SET,
    "set_strict": _SET,
    **dict.fromkeys(
        ("dbt_utils", "dbt_expectations", "dbt_date", "dbt_audit_helper", "audit_helper", "codegen", "spark_utils"),
        _PACKAGE,
    ),
}
"""By a name of dbt's Jinja what to write instead."""

RELATION_HINTS = {
    "database": "the table is in the session's catalog, which has no name here: write the table itself, as {{ this }}",
    "name": "write identifier",
    **dict.fromkeys(("include", "quote", "without_identifier"), "write {{ this.schema }}.{{ this.identifier }}"),
    **dict.fromkeys(("type", "is_table", "is_view", "is_delta", "is_iceberg"), "config.get('materialized') knows"),
}
"""By an attribute of dbt's relations what to write instead."""

TARGET_HINTS = {
    **dict.fromkeys(
        ("database", "catalog"),
        "a name of two parts is in the session's catalog: write {{ target.schema }} alone, or a var",
    ),
    **dict.fromkeys(("host", "user", "cluster", "method", "token", "http_path"), "write env_var('NAME')"),
}
"""By a key of dbt's target what to write instead."""

ATTRIBUTE_HINTS = {
    **dict.fromkeys(
        (
            *("raise_not_implemented", "raise_fail_fast_error", "raise_contract_error", "raise_dependency_error"),
            *("raise_parsing_error", "raise_database_error", "missing_relation", "relation_wrong_type"),
            *("CompilationError", "DbtRuntimeError", "NotImplementedError"),
        ),
        "write exceptions.raise_compiler_error('…')",
    ),
    "has_var": "write var('NAME', none) is not none",
    "set_sql_header": "write the statements as pre_hook",
    "persist_relation_docs": "leave it out: descriptions become comments",
    **dict.fromkeys(("get_relation", "get_missing_columns", "execute", "load_relation"), ENGINE_HINT),
}
"""By an attribute of another of dbt's values what to write instead."""
