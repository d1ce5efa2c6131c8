"""Where a table of the session's catalog lies, and whether it is the one that is meant.

A driver that several projects or targets share has one catalog in memory: a name there may be that of a table in
another warehouse, which must be neither read nor written in its place.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import unquote

from merge_runner.engine.spark.errors import EngineError, engine_errors
from merge_runner.location import Location, Uri

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.relation import Relation


def check_location(session: SparkSession, relation: Relation, location: Location) -> None:
    """Raise EngineError `other-location` where the table of a name lies elsewhere than at the location."""
    there = _table_location(session, relation)
    if there is not None and not are_same(there, location):
        raise EngineError(
            "other-location",
            f"{relation.name} is meant in {location}, and the catalog of this Spark driver has a table of this name in "
            f"{there}",
            hint="give each warehouse a driver of its own, or each target another `schema`",
        )


def _table_location(session: SparkSession, relation: Relation) -> str | None:
    """The URI of the folder of a table of the session catalog; None for a view, and without a JVM to ask."""
    own = getattr(session, "_jsparkSession", None)
    if own is None:
        return None
    with engine_errors():
        state = own.sessionState()
        name = state.sqlParser().parseTableIdentifier(str(relation))
        place = state.catalog().getTempViewOrPermanentTableMetadata(name).storage().locationUri()
        return str(place.get().toString()) if place.isDefined() else None


def are_same(uri: str, location: Location) -> bool:
    """Return whether a URI of Spark is a location: links are followed."""
    if isinstance(location, Uri):
        return uri.rstrip("/") == str(location)
    path = unquote(uri.removeprefix("file:"))
    return os.path.realpath(path) == os.path.realpath(location.absolute())
