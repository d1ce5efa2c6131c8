"""The table of a model or seed as the project declares it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from merge_runner.errors import Problem, ProblemsError
from merge_runner.formats.registry import capabilities
from merge_runner.graph.graph import Node, RefNode, SourceNode
from merge_runner.graph.naming import SESSION_CATALOG, table_location
from merge_runner.plan.layout.declared_schema import folded
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.table import Column, Layout
from merge_runner.project.schema import properties
from merge_runner.project.schema import properties as declared
from merge_runner.project.schema.profile import Profile
from merge_runner.relation import Relation


def table_layout(prepared: Prepared, node: RefNode) -> Layout:
    """The table of a model or seed as the project declares it.

    Raises ProblemsError `iceberg-catalog` for an Iceberg table that no catalog would take, and for a table of another
    format in a catalog of Iceberg's.
    """
    relation = own_relation(node)
    config = node.config
    files = prepared.files
    if not capabilities(config.format).needs_catalog:
        _check_own_catalog(files.profile, node, relation)
    elif relation.catalog is None:
        check_iceberg_catalog(files.profile, node)
    entry = files.models.get(node.name) or files.seeds.get(node.name)
    declared = entry.properties if entry is not None else None
    return Layout(
        relation,
        config.format,
        table_location(files.root, files.profile, relation, config.format),
        columns=table_columns(declared),
        checks=table_checks(declared),
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
    named = (constraint.columns for constraint in properties.constraints if constraint.type in _NOT_NULL)
    not_null = folded(name for names in named for name in names)
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


def _check_own_catalog(profile: Profile, node: RefNode, relation: Relation) -> None:
    """Raises ProblemsError where the catalog of a table takes Iceberg tables alone (`Unsupported format in USING`)."""
    catalog = relation.catalog
    is_table = node.config.materialized not in ("view", "ephemeral")
    if is_table and catalog in profile.iceberg_catalogs and catalog != SESSION_CATALOG:
        label = capabilities(node.config.format).label
        message = f"{node.name} is a {label} table, and its catalog `{catalog}` takes Iceberg tables alone"
        hint = f"write `format: iceberg` into its config, or give it a schema outside of `{catalog}`"
        raise ProblemsError([Problem("iceberg-catalog", message, node.place, hint)])


_DEFAULT = "spark.sql.defaultCatalog"
_SESSION = f"spark.sql.catalog.{SESSION_CATALOG}"


def check_iceberg_catalog(profile: Profile, node: Node) -> None:
    """Raises ProblemsError `iceberg-catalog` where the table would go to the embedded warehouse: it is Delta's.

    Without a warehouse the session's catalog is the cluster's own, of which nothing is known here; nor is it where the
    profile itself says which catalog that is.
    """
    check_some_iceberg_catalog(profile, node)
    catalogs = profile.iceberg_catalogs
    if catalogs and not _knows_catalog(profile):
        message = (
            f"{node.name} is an Iceberg table, and its schema does not say in which catalog: {', '.join(catalogs)}"
        )
        hint = f"write `schema: {catalogs[0]}.{profile.schema}` into {_output(profile)}"
        raise ProblemsError([Problem("iceberg-catalog", message, node.place, hint)])


def check_some_iceberg_catalog(profile: Profile, node: Node) -> None:
    """Raises ProblemsError `iceberg-catalog` where the profile has no Iceberg catalog at all, as above."""
    if not profile.iceberg_catalogs and not _knows_catalog(profile):
        message = f"{node.name} is an Iceberg table, and there is no Iceberg catalog"
        hint = f"write `catalogs: {{ice: {{type: embedded}}}}` into {_output(profile)}"
        raise ProblemsError([Problem("iceberg-catalog", message, node.place, hint)])


def _knows_catalog(profile: Profile) -> bool:
    """Whether the session knows by itself in which catalog a table is."""
    if profile.warehouse is None or SESSION_CATALOG in profile.catalogs:
        return True
    return not profile.conf.keys().isdisjoint((_DEFAULT, _SESSION))


def _output(profile: Profile) -> str:
    return f"the output {profile.target} of profile {profile.name} in profiles.yml"
