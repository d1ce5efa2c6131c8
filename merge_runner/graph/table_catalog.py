"""Whether the catalog of a table takes its format, as far as the profile says."""

from __future__ import annotations

from merge_runner.errors import Problem
from merge_runner.formats.registry import capabilities
from merge_runner.graph.graph import Node, RefNode
from merge_runner.graph.naming import SESSION_CATALOG
from merge_runner.project.schema.profile import Profile

_DEFAULT = "spark.sql.defaultCatalog"
_SESSION = f"spark.sql.catalog.{SESSION_CATALOG}"


def catalog_problem(profile: Profile, node: RefNode) -> Problem | None:
    """Return the problem `iceberg-catalog` of an Iceberg table that no catalog would take, or of another in Iceberg's.

    Without a catalog in its name an Iceberg table would go to the embedded warehouse, which is Delta's. Without a
    warehouse the session's catalog is the cluster's own, of which nothing is known here; nor is it where the profile
    itself says which catalog that is.
    """
    relation = node.relation
    if relation is None or node.materialized in ("view", "ephemeral"):
        return None
    if not capabilities(node.config.format).needs_catalog:
        return _other_format(profile, node, relation.catalog)
    if relation.catalog is not None:
        return None
    catalogs = profile.iceberg_catalogs
    if not catalogs or _knows_catalog(profile):
        return no_catalog_problem(profile, node)
    message = f"{node.name} is an Iceberg table, and its schema does not say in which catalog: {', '.join(catalogs)}"
    hint = f"write `schema: {catalogs[0]}.{profile.schema}` into {_output(profile)}"
    return Problem("iceberg-catalog", message, node.place, hint)


def no_catalog_problem(profile: Profile, node: Node) -> Problem | None:
    """Return the problem `iceberg-catalog` of an Iceberg table where the profile has no Iceberg catalog at all."""
    if profile.iceberg_catalogs or _knows_catalog(profile):
        return None
    message = f"{node.name} is an Iceberg table, and there is no Iceberg catalog"
    hint = f"write `catalogs: {{ice: {{type: embedded}}}}` into {_output(profile)}"
    return Problem("iceberg-catalog", message, node.place, hint)


def _other_format(profile: Profile, node: RefNode, catalog: str | None) -> Problem | None:
    """The problem of a table whose catalog takes Iceberg tables alone (`Unsupported format in USING`)."""
    if catalog not in profile.iceberg_catalogs or catalog == SESSION_CATALOG:
        return None
    label = capabilities(node.config.format).label
    message = f"{node.name} is a {label} table, and its catalog `{catalog}` takes Iceberg tables alone"
    hint = f"write `format: iceberg` into its config, or give it a schema outside of `{catalog}`"
    return Problem("iceberg-catalog", message, node.place, hint)


def _knows_catalog(profile: Profile) -> bool:
    """Whether the session knows by itself in which catalog a table is."""
    if profile.warehouse is None or SESSION_CATALOG in profile.catalogs:
        return True
    return not profile.conf.keys().isdisjoint((_DEFAULT, _SESSION))


def _output(profile: Profile) -> str:
    return f"the output {profile.target} of profile {profile.name} in profiles.yml"
