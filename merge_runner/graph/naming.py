"""Names the tables of models and seeds as dbt does, and places them in the embedded warehouse."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.formats.registry import capabilities, table_format_of
from merge_runner.location import Location, location
from merge_runner.project.schema.config import ModelConfig
from merge_runner.project.schema.profile import Profile
from merge_runner.relation import Relation
from merge_runner.template.context import Context

if TYPE_CHECKING:
    from merge_runner.template.templates import Templates

SESSION_CATALOG = "spark_catalog"
_NO_FOLDER = re.compile(r"[/\\\x00-\x1f\x7f]")
_SCHEMA = "generate_schema_name"
_ALIAS = "generate_alias_name"


@dataclass(frozen=True)
class Naming:
    """Relations of one target of the profile. `schema` of the profile may hold a catalog: `catalog.schema`."""

    profile: Profile
    templates: Templates

    def relation(self, name: str, config: ModelConfig, context: Context) -> Relation:
        """The relation of a model or seed: `<profile schema>_<schema>`, or what the project's macro says.

        The project's macros `generate_schema_name(custom_schema_name, node)` and
        `generate_alias_name(custom_alias_name, node)` are called as in dbt. An Iceberg table whose schema names no
        catalog belongs to the profile's Iceberg catalog, where there is one and no other.
        """
        catalog, schema = _default(self.profile)
        alias = config.alias or name
        if self.macros:
            node = {
                **context.model,
                "name": name,
                "config": config.as_json(),
                "tags": list(config.tags),
            }
            if _SCHEMA in self.macros:
                schema = str(self.templates.call_macro(_SCHEMA, context, config.schema, node)).strip()
            if _ALIAS in self.macros:
                alias = str(self.templates.call_macro(_ALIAS, context, config.alias, node)).strip()
        if config.schema is not None and _SCHEMA not in self.macros:
            schema = f"{schema}_{config.schema}"
        is_table = config.materialized not in ("view", "ephemeral")
        if catalog is None and is_table and capabilities(config.format).needs_catalog:
            catalog = _own_catalog(self.profile)
        return Relation(alias, schema, catalog)

    @property
    def macros(self) -> frozenset[str]:
        """The project's macros that have a say in every name."""
        return frozenset(name for name in (_SCHEMA, _ALIAS) if self.templates.has_macro(name))


def no_folder(relation: Relation) -> str | None:
    """The part of a name that could lead out of the warehouse, where tables are folders by their names; else None."""
    parts = (part for part in (relation.catalog, relation.schema, relation.identifier) if part is not None)
    return next((part for part in parts if part in ("", ".", "..") or _NO_FOLDER.search(part)), None)


def audit_table(profile: Profile) -> Relation | None:
    """The table that `audit` of the profile names; a bare name is a table of the profile's schema."""
    if profile.audit is None:
        return None
    qualifier, _, identifier = profile.audit.rpartition(".")
    if not qualifier:
        catalog, schema = _default(profile)
        return Relation(identifier, schema, catalog)
    own_catalog, _, schema = qualifier.rpartition(".")
    return Relation(identifier, schema, own_catalog or None)


def failures_table(profile: Profile, test: str) -> Relation:
    """The table that keeps the failing rows of a test: in the schema that dbt has for them."""
    catalog, schema = _default(profile)
    return Relation(test, f"{schema}_dbt_test__audit", catalog)


def _own_catalog(profile: Profile) -> str | None:
    """The only Iceberg catalog of a profile; None where there are others, or it is the session's own."""
    catalogs = profile.iceberg_catalogs
    return catalogs[0] if len(catalogs) == 1 and catalogs[0] != SESSION_CATALOG else None


def _default(profile: Profile) -> tuple[str | None, str]:
    catalog, _, schema = profile.schema.rpartition(".")
    return catalog or None, schema


def table_location(root: Path, profile: Profile, relation: Relation, format: str | None) -> Location | None:
    """The folder of a table in the embedded warehouse; None where a catalog keeps it."""
    if profile.warehouse is None or relation.catalog is not None:
        return None
    table_format = table_format_of(format)
    if table_format is not None and capabilities(table_format).needs_catalog:
        return None
    return location(root, profile.warehouse) / (relation.schema or "default") / relation.identifier


def view_definition(root: Path, profile: Profile, relation: Relation) -> Location | None:
    """The file that keeps the query of a view in the embedded warehouse; None where a catalog keeps it."""
    if profile.warehouse is None or relation.catalog is not None:
        return None
    return location(root, profile.warehouse) / (relation.schema or "default") / f"{relation.identifier}.view.sql"
