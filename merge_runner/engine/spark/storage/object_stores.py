"""The object stores that a warehouse may lie in: the jars and confs of each, and how it keeps two commits apart.

A commit of Delta must fail where another process has written the version. HDFS and Azure rename without overwriting,
Google's store takes a precondition; for S3 Delta 4.4.0 has a log store that is safe within one JVM alone, and ours is
taken instead (`S3ConditionalLogStore.java`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.location import scheme
from merge_runner.project.schema.warehouse import DIR

if TYPE_CHECKING:
    from merge_runner.project.schema.profile import Profile

LOG_STORE = "mergerunner.S3ConditionalLogStore"


@dataclass(frozen=True)
class ObjectStore:
    """A kind of object store: `jars` is its group of jars, `ours` that of what merge-runner itself adds to it."""

    scheme: str
    jars: str
    confs: Mapping[str, str]
    ours: str | None = None

    @property
    def groups(self) -> tuple[str, ...]:
        """Both groups."""
        return (self.jars,) if self.ours is None else (self.jars, self.ours)


_STORES = {
    store.scheme: store
    for store in (
        ObjectStore(
            "s3a",
            "s3",
            {
                "spark.delta.logStore.s3a.impl": LOG_STORE,
                # Environment, web identity, profile, container and instance: the SDK's own order.
                "spark.hadoop.fs.s3a.aws.credentials.provider": (
                    "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider,"
                    "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider,"
                    "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider"
                ),
            },
            ours="log-store",
        ),
        ObjectStore("abfss", "azure", {}),
        ObjectStore(
            "gs",
            "gcs",
            {
                "spark.hadoop.fs.gs.impl": "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem",
                "spark.hadoop.fs.AbstractFileSystem.gs.impl": "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFS",
            },
        ),
    )
}


def stores(profile: Profile) -> tuple[ObjectStore, ...]:
    """Return the object stores in which tables of the profile lie: by the warehouse, its conf, and catalogs."""
    return tuple(_STORES[name] for name in dict.fromkeys(_schemes(profile)) if name in _STORES)


def _schemes(profile: Profile) -> Iterator[str]:
    places = [
        profile.warehouse,
        profile.conf.get(DIR),
        *(settings.get("warehouse") for settings in profile.catalogs.values()),
    ]
    for place in places:
        found = scheme(place) if place is not None else None
        if found is not None:
            yield found


def store_confs(profile: Profile) -> dict[str, str]:
    """Return the confs by which Spark reaches the object stores of a profile."""
    confs: dict[str, str] = {}
    for store in stores(profile):
        confs |= store.confs
        if store.scheme == "s3a":
            confs |= _s3(profile)
    return confs


def _s3(profile: Profile) -> dict[str, str]:
    storage, prefix = profile.storage, "spark.hadoop.fs.s3a"
    confs = {f"{prefix}.path.style.access": "true"} if storage.path_style else {}
    if storage.endpoint is not None:
        confs[f"{prefix}.endpoint"] = storage.endpoint
        if storage.endpoint.startswith("http://"):
            confs[f"{prefix}.connection.ssl.enabled"] = "false"
    if storage.region is not None:
        confs[f"{prefix}.endpoint.region"] = storage.region
    return confs
