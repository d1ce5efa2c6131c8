"""The assets and asset checks of a project's tables, as Dagster declares them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import dagster as dg

from merge_runner.integrations.manifest import ProjectTables, Table

EXPECTATION = "expect_merge"
"""The name of the check of a model's `expect_merge`."""
_SECONDS = {"minute": 60, "hour": 3_600, "day": 86_400}


def asset_key(entry: Mapping[str, Any]) -> dg.AssetKey:
    """Return the key of a node's entry in the manifest, as dagster-dbt has it.

    `meta.dagster.asset_key`, else the source and the table, else the schema of the model's config, if any, and its
    name.
    """
    own = _meta(entry).get("dagster", {}).get("asset_key")
    if own:
        return dg.AssetKey(own)
    if entry["resource_type"] == "source":
        return dg.AssetKey([entry["source_name"], entry["name"]])
    schema = entry["config"].get("schema")
    return dg.AssetKey([*([schema] if schema else []), entry["name"]])


def asset_spec(table: Table, project: str, keys: Mapping[str, dg.AssetKey]) -> dg.AssetSpec:
    """Return the asset of a table. `keys` are those of all tables and sources by unique id."""
    entry, config, own = table.entry, table.config, table.meta.get("dagster", {})
    kind, format = config.get("materialized", "seed"), config.get("format")
    return dg.AssetSpec(
        keys[table.unique_id],
        deps=[keys[parent] for parent in table.parents if parent in keys],
        description=entry["description"] or None,
        group_name=own.get("group") or config.get("group") or _folder(entry),
        code_version=entry["checksum"]["checksum"],
        kinds={"spark", kind, *([format] if format and kind not in ("view", "seed") else [])},
        tags={_name(tag): "" for tag in entry["tags"]},
        owners=own.get("owners") or list(_owners(table.meta.get("owner"))),
        freshness_policy=_freshness(config.get("build_after")),
        metadata={
            **_table_metadata(entry),
            "merge_runner/unique_id": table.unique_id,
            "merge_runner/project": project,
            "merge_runner/file": entry["original_file_path"],
        },
    )


def source_spec(entry: Mapping[str, Any]) -> dg.AssetSpec:
    """Return the external asset of a source's table."""
    description = entry["description"] or None
    return dg.AssetSpec(
        asset_key(entry), description=description, group_name="sources", metadata=_table_metadata(entry)
    )


@dataclass(frozen=True)
class DeclaredCheck:
    """An asset check, the test or model whose result it is, and what selects the test; None for an expectation."""

    spec: dg.AssetCheckSpec
    unique_id: str
    selector: str | None
    severity: dg.AssetCheckSeverity


def declared_checks(tables: ProjectTables, keys: Mapping[str, dg.AssetKey]) -> Iterator[DeclaredCheck]:
    """Yield the checks of all tables: data tests, unit tests and `expect_merge`."""
    for table in tables.tables.values():
        names_used: set[str] = set()
        if table.config.get("expect_merge"):
            limits = ", ".join(f"{key}: {value}" for key, value in table.config["expect_merge"].items() if value)
            names_used.add(EXPECTATION)
            spec = dg.AssetCheckSpec(EXPECTATION, asset=keys[table.unique_id], description=limits)
            yield DeclaredCheck(spec, table.unique_id, None, dg.AssetCheckSeverity.ERROR)
        for check in table.checks:
            name = _name(check.name)
            while name in names_used:
                name += "_"
            names_used.add(name)
            spec = dg.AssetCheckSpec(
                name,
                asset=keys[table.unique_id],
                additional_deps=[keys[other] for other in check.also if other in keys],
                description=check.description or None,
                metadata={"merge_runner/unique_id": check.unique_id, "merge_runner/kind": check.kind},
            )
            severity = dg.AssetCheckSeverity.WARN if check.severity == "warn" else dg.AssetCheckSeverity.ERROR
            yield DeclaredCheck(spec, check.unique_id, check.selector, severity)


def _meta(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**(entry.get("meta") or {}), **(entry["config"].get("meta") or {})}


def _name(text: str) -> str:
    """Return a text as a name of Dagster: letters, digits, underscores."""
    return re.sub(r"[^A-Za-z0-9_]", "_", text)


def _folder(entry: Mapping[str, Any]) -> str | None:
    """Return the folder of the model, as a group."""
    return _name(entry["fqn"][1]) if len(entry["fqn"]) > 2 else None


def _owners(owner: object) -> Iterator[str]:
    for name in owner if isinstance(owner, Sequence) and not isinstance(owner, str) else [owner]:
        if isinstance(name, str) and name:
            yield name if "@" in name or name.startswith("team:") else f"team:{name}"


def _freshness(build_after: Mapping[str, Any] | None) -> dg.FreshnessPolicy | None:
    """Return the policy of `build_after`: late once the next build is due, and stale once that after it is."""
    if not build_after or not build_after["count"]:
        return None
    due = timedelta(seconds=build_after["count"] * _SECONDS[build_after["period"]])
    return dg.FreshnessPolicy.time_window(fail_window=2 * due, warn_window=due)


def _table_metadata(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the name and the columns of a table under Dagster's own keys."""
    columns = [
        dg.TableColumn(name, column.get("data_type") or "?", column.get("description") or None, _constraints(column))
        for name, column in entry["columns"].items()
    ]
    return {
        **({"dagster/table_name": entry["relation_name"]} if entry["relation_name"] else {}),
        **({"dagster/column_schema": dg.TableSchema(columns)} if columns else {}),
    }


def _constraints(column: Mapping[str, Any]) -> dg.TableColumnConstraints:
    kinds = {constraint["type"] for constraint in column.get("constraints") or ()}
    return dg.TableColumnConstraints(nullable=not kinds & {"not_null", "primary_key"}, unique="unique" in kinds)
