"""Whether there is a catalog for an Iceberg table whose schema names none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merge_runner.errors import Problem, ProblemsError
from merge_runner.graph.naming import SESSION_CATALOG

if TYPE_CHECKING:
    from merge_runner.graph.graph import Node
    from merge_runner.project.profile import Profile

_DEFAULT = "spark.sql.defaultCatalog"
_SESSION = f"spark.sql.catalog.{SESSION_CATALOG}"


def check_iceberg_catalog(profile: Profile, node: Node) -> None:
    """Raises ProblemsError `iceberg-catalog` where the table would go to the embedded warehouse: it is Delta's.

    Without a warehouse the session's catalog is the cluster's own, of which nothing is known here; nor is it where the
    profile itself says which catalog that is.
    """
    if profile.warehouse is None or SESSION_CATALOG in profile.catalogs or {_DEFAULT, _SESSION} & profile.conf.keys():
        return
    catalogs = profile.iceberg_catalogs
    output = f"the output {profile.target} of profile {profile.name} in profiles.yml"
    if catalogs:
        message = (
            f"{node.name} is an Iceberg table, and its schema does not say in which catalog: {', '.join(catalogs)}"
        )
        hint = f"write `schema: {catalogs[0]}.{profile.schema}` into {output}"
    else:
        message = f"{node.name} is an Iceberg table, and there is no Iceberg catalog"
        hint = f"write `catalogs: {{ice: {{type: embedded}}}}` into {output}"
    raise ProblemsError([Problem("iceberg-catalog", message, node.place, hint)])
