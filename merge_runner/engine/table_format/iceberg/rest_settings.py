"""The settings of an Iceberg REST catalog, as Spark's client reads them: which of them ours can follow.

Iceberg 1.12.0 (RESTSessionCatalog, AuthManagers, HTTPClient). What none of these reads is a setting of files, caches or
table properties, and does not matter to which table a name means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from merge_runner.engine.spark.sql import run_statement

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.project.schema.profile import Profile

_CREDENTIALS = frozenset({"credential", "token"})
"""What says who asks, and not what: tokens last an hour."""
_SPARK_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
_REDACTED = "(redacted)"
"""What Spark shows in the place of what may be secret."""
_KINDS_OF_ACCESS = frozenset({"none", "basic", "oauth2"})
_OF_TRANSPORT = frozenset(
    {
        "rest.auth.basic.password",
        "rest.auth.basic.username",
        "rest.auth.type",
        "rest.client.connection-timeout-ms",
        "rest.client.connections-per-route",
        "rest.client.max-connections",
        "rest.client.max-retries",
        "rest.client.socket-timeout-ms",
        "rest.client.user-agent",
        "rest-catalog-purge",
        "rest-metrics-reporting-enabled",
        "rest-page-size",
        "rest-scan-planning.poll-timeout-ms",
        "rest-table-cache.expire-after-write-ms",
        "rest-table-cache.max-entries",
    }
)
"""Keys of the protocol that ours reads as well, or that change no answer. Others ask for signatures, proxies or TLS."""


def rest_settings(profile: Profile, name: str) -> dict[str, str] | None:
    """Return the settings of a catalog of a profile; None where it is no REST catalog, or may be another one in Spark.

    A Spark Connect server may be in another network, where the address is that of another catalog.
    """
    settings = dict(profile.catalogs.get(name, {}))
    if settings.pop("type", "").lower() != "rest" or settings.pop("class", _SPARK_CATALOG) != _SPARK_CATALOG:
        return None
    if profile.remote is not None or _of_catalog(profile.conf, name) or "uri" not in settings:
        return None
    # Spark's options are the same in any case: which of two it takes is not known here.
    if len({key.lower() for key in settings}) < len(settings) or not are_followed(settings):
        return None
    return settings


def is_set_otherwise(session: SparkSession, profile: Profile, name: str) -> bool:
    """Return whether a session has other settings of a catalog than the profile. Raises EngineError.

    The config of a node may have some, spark-defaults.conf, and the Spark of a notebook.
    """
    found = _of_catalog({row["key"]: row["value"] for row in run_statement(session, "SET")}, name)
    known = {"class": _SPARK_CATALOG, **profile.catalogs[name]}
    return found.keys() != known.keys() or any(
        found[key] != value and _REDACTED not in found[key] for key, value in known.items()
    )


def _of_catalog(confs: Mapping[str, str], name: str) -> dict[str, str]:
    """Return the settings of a catalog among confs of Spark."""
    prefix = f"spark.sql.catalog.{name}"
    settings = {"class": confs[prefix]} if prefix in confs else {}
    return settings | {key[len(prefix) + 1 :]: value for key, value in confs.items() if key.startswith(f"{prefix}.")}


def are_followed(settings: Mapping[str, str]) -> bool:
    """Return whether our client finds the same table by these settings as Spark's, and rows are what metadata says."""
    return all(_is_followed(key, value) for key, value in settings.items())


def plans_scans_itself(settings: Mapping[str, object]) -> bool:
    """Return whether the server says which files of a table are read: it may hide rows from some users."""
    return str(settings.get("scan-planning-mode", "client")).lower() != "client"


def without_credentials(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings by which two runs read the same: in a REST catalog a new token changes nothing."""
    if settings.get("type", "").lower() != "rest":
        return dict(settings)
    return {key: value for key, value in settings.items() if key not in _CREDENTIALS}


def _is_followed(key: str, value: str) -> bool:
    if key.startswith(("rest.", "rest-")) and key not in _OF_TRANSPORT:
        return False
    if key == "rest.auth.type" and value.lower() not in _KINDS_OF_ACCESS:
        return False
    # `env:NAME` is a variable that Spark's JVM looks up.
    return key != "catalog-impl" and not value.startswith("env:") and not plans_scans_itself({key: value})
