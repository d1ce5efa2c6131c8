"""The table of a model or seed as the project declares it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from merge_runner.errors import ProblemsError
from merge_runner.graph.graph import Node, RefNode, SourceNode
from merge_runner.graph.naming import table_location
from merge_runner.graph.table_catalog import catalog_problem
from merge_runner.plan.layout.declared_schema import folded
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.table import Column, Layout
from merge_runner.project.schema import properties
from merge_runner.project.schema import properties as declared
from merge_runner.relation import Relation


def table_layout(prepared: Prepared, node: RefNode) -> Layout:
    """The table of a model or seed as the project declares it.

    Raises ProblemsError `iceberg-catalog` for an Iceberg table that no catalog would take, and for a table of another
    format in a catalog of Iceberg's.
    """
    relation = own_relation(node)
    config = node.config
    files = prepared.files
    if (problem := catalog_problem(files.profile, node)) is not None:
        raise ProblemsError([problem])
    entry = files.models.get(node.name) or files.seeds.get(node.name)
    properties = entry.properties if entry is not None else None
    return Layout(
        relation,
        config.format,
        table_location(files.root, files.profile, relation, config.format),
        columns=table_columns(properties),
        checks=table_checks(properties),
        partition_by=config.partition_by,
        cluster_by=config.cluster_by,
        sort_by=config.sort_by,
        properties=dict(config.properties),
        on_schema_change=config.on_schema_change,
        comment=node.description.strip(),
    )


def declared_columns(prepared: Prepared, node: Node) -> tuple[properties.Column, ...]:
    """The columns that YAML declares of a model, seed or source."""
    files = prepared.files
    if isinstance(node, SourceNode):
        return node.config.columns
    entry = files.models.get(node.name) or files.seeds.get(node.name)
    return entry.properties.columns if entry is not None and entry.properties is not None else ()


def own_relation(node: Node) -> Relation:
    """The relation of a node that has one."""
    if node.relation is None:
        raise LookupError(f"{node.unique_id} has no relation")
    return node.relation


def table_columns(properties: declared.ModelProperties | None) -> tuple[Column, ...]:
    """The declared columns: NOT NULL by constraints of their own, or by one of the table that names them."""
    if properties is None:
        return ()
    keys = (constraint.columns for constraint in properties.constraints if constraint.type in _NOT_NULL)
    not_null = folded(name for names in keys for name in names)
    return tuple(_column(column, column.name.casefold() in not_null) for column in properties.columns)


def table_checks(properties: declared.ModelProperties | None) -> Mapping[str, str]:
    """The declared CHECK constraints, of columns and of the table: expressions by name."""
    return dict(_checks(properties)) if properties is not None else {}


_NOT_NULL = ("not_null", "primary_key")


def _column(column: declared.Column, not_null: bool) -> Column:
    not_null = not_null or any(constraint.type in _NOT_NULL for constraint in column.constraints)
    custom = [str(constraint.expression) for constraint in column.constraints if constraint.type == "custom"]
    return Column(column.name, column.data_type, not not_null, column.description, " ".join(custom) or None)


def _checks(properties: declared.ModelProperties) -> Iterator[tuple[str, str]]:
    owners = [(column.name, column.constraints) for column in properties.columns]
    for owner, constraints in (*owners, (properties.name, properties.constraints)):
        for number, constraint in enumerate(constraints):
            if constraint.type == "check" and constraint.expression:
                yield constraint.name or f"{owner}_check_{number}", constraint.expression
