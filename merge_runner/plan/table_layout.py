"""The table of a model or seed as the project declares it."""

from __future__ import annotations

from merge_runner.graph.graph import Node
from merge_runner.graph.naming import table_location
from merge_runner.plan.iceberg_catalog import check_iceberg_catalog
from merge_runner.plan.prepare import Prepared
from merge_runner.plan.steps import Layout
from merge_runner.plan.table_columns import table_checks, table_columns
from merge_runner.project import properties
from merge_runner.relation import Relation


def table_layout(prepared: Prepared, node: Node) -> Layout:
    """The table of a model or seed as the project declares it.

    Raises ProblemsError `iceberg-catalog` for an Iceberg table that no catalog would take.
    """
    relation = own_relation(node)
    config = node.config
    files = prepared.files
    if config["format"] == "iceberg" and relation.catalog is None:
        check_iceberg_catalog(files.profile, node)
    entry = files.models.get(node.name) or files.seeds.get(node.name)
    declared = entry.properties if entry is not None else None
    return Layout(
        relation,
        config["format"],
        table_location(files.root, files.profile, relation, config),
        columns=table_columns(declared),
        checks=table_checks(declared),
        partition_by=tuple(config["partition_by"]),
        cluster_by=tuple(config["cluster_by"]),
        sort_by=tuple(config["sort_by"]),
        properties=dict(config["properties"]),
        on_schema_change=config["on_schema_change"],
        comment=node.description.strip(),
    )


def declared_columns(prepared: Prepared, node: Node) -> tuple[properties.Column, ...]:
    """The columns that YAML declares of a model, seed or source."""
    files = prepared.files
    if node.resource_type == "source":
        return files.sources[(str(node.source_name), node.name)].table.columns
    entry = files.models.get(node.name) or files.seeds.get(node.name)
    return entry.properties.columns if entry is not None and entry.properties is not None else ()


def own_relation(node: Node) -> Relation:
    """The relation of a node that has one."""
    if node.relation is None:
        raise LookupError(f"{node.unique_id} has no relation")
    return node.relation
