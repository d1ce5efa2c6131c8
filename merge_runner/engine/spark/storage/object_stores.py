"""The object stores that a warehouse may lie in: the jars and confs of each, and how it keeps two commits apart.

A commit of Delta must fail where another process has written the version. HDFS and Azure rename without overwriting,
Google's store takes a precondition; for S3 Delta 4.4.0 has a log store that is safe within one JVM alone, and ours is
taken instead (`S3ConditionalLogStore.java`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from merge_runner.formats.lines import LINES, Line, installed_line
from merge_runner.location import scheme
from merge_runner.project.schema.warehouse import DIR

if TYPE_CHECKING:
    from merge_runner.project.schema.profile import Profile

AzureCredentials = Literal["key", "SAS token", "secret", "federated token"]
_AZURE_VARIABLES: Mapping[AzureCredentials, frozenset[str]] = MappingProxyType(
    {
        "key": frozenset({"AZURE_STORAGE_KEY"}),
        "SAS token": frozenset({"AZURE_STORAGE_SAS_TOKEN"}),
        "secret": frozenset({"AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"}),
        "federated token": frozenset({"AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE"}),
    }
)
"""The variables of each kind of credentials of an Azure account, by the names of Azure's tools: the first counts."""
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
            {"spark.delta.logStore.s3a.impl": LOG_STORE},
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
    yield from (name for place in _places(profile) if (name := scheme(place)) is not None)


def _places(profile: Profile) -> Iterator[str]:
    catalogs = (settings.get("warehouse") for settings in profile.catalogs.values())
    yield from (place for place in (profile.warehouse, profile.conf.get(DIR), *catalogs) if place is not None)


def store_confs(profile: Profile, env: Mapping[str, str] = os.environ, line: Line | None = None) -> dict[str, str]:
    """Return the confs by which a line of Spark, else the installed one, reaches the object stores of a profile.

    `env` says which kind of credentials there is. Their values are in no conf: Hadoop reads them from the environment.
    """
    line = line or installed_line()
    confs: dict[str, str] = {}
    for store in stores(profile):
        confs |= store.confs
        if store.scheme == "s3a":
            confs |= _s3(profile, line)
    for place in _places(profile):
        if scheme(place) == "abfss":
            confs |= _azure(place.partition("://")[2].partition("/")[0].rpartition("@")[2], env, line)
    return confs


_KEYS_IN_CONFS = (
    "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider",
    "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
)
_FIRST_SDK = "com.amazonaws.auth.DefaultAWSCredentialsProviderChain"
_SECOND_SDK = "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider"
"""Environment, web identity, profile, container and instance: the SDK's own order."""


def _s3(profile: Profile, line: Line) -> dict[str, str]:
    storage, prefix = profile.storage, "spark.hadoop.fs.s3a"
    default = _FIRST_SDK if line == LINES["3.5"] else _SECOND_SDK
    confs = {f"{prefix}.aws.credentials.provider": ",".join((*_KEYS_IN_CONFS, default))}
    if storage.path_style:
        confs[f"{prefix}.path.style.access"] = "true"
    if storage.endpoint is not None:
        confs[f"{prefix}.endpoint"] = storage.endpoint
        if storage.endpoint.startswith("http://"):
            confs[f"{prefix}.connection.ssl.enabled"] = "false"
    if storage.region is not None:
        confs[f"{prefix}.endpoint.region"] = storage.region
    return confs


_ACCOUNT = "spark.hadoop.fs.azure.account"
_OAUTH = f"{_ACCOUNT}.oauth"
_PROVIDERS = "org.apache.hadoop.fs.azurebfs.oauth2"


def _azure(host: str, env: Mapping[str, str], line: Line) -> dict[str, str]:
    """The confs of an account by variables of Azure's tools: for a key, a SAS token, a secret or a federated token.

    Hadoop 3.3, that of Spark 3.5, has no provider for a federated token.
    """
    credentials = next((kind for kind, names in _AZURE_VARIABLES.items() if names <= env.keys()), None)
    if credentials == "key":
        kind, account_confs = "SharedKey", {f"{_ACCOUNT}.key": _of_environment("AZURE_STORAGE_KEY")}
    elif credentials == "SAS token":
        kind, account_confs = (
            "SAS",
            {"spark.hadoop.fs.azure.sas.fixed.token": _of_environment("AZURE_STORAGE_SAS_TOKEN")},
        )
    elif credentials == "secret":
        kind = "OAuth"
        account_confs = {
            f"{_OAUTH}.provider.type": f"{_PROVIDERS}.ClientCredsTokenProvider",
            f"{_OAUTH}2.client.endpoint": (
                f"https://login.microsoftonline.com/{_of_environment('AZURE_TENANT_ID')}/oauth2/token"
            ),
            f"{_OAUTH}2.client.id": _of_environment("AZURE_CLIENT_ID"),
            f"{_OAUTH}2.client.secret": _of_environment("AZURE_CLIENT_SECRET"),
        }
    elif credentials == "federated token" and line != LINES["3.5"]:
        kind = "OAuth"
        account_confs = {
            f"{_OAUTH}.provider.type": f"{_PROVIDERS}.WorkloadIdentityTokenProvider",
            f"{_OAUTH}2.msi.tenant": _of_environment("AZURE_TENANT_ID"),
            f"{_OAUTH}2.client.id": _of_environment("AZURE_CLIENT_ID"),
            f"{_OAUTH}2.token.file": _of_environment("AZURE_FEDERATED_TOKEN_FILE"),
        }
    else:
        return {}
    return {f"{key}.{host}": value for key, value in {f"{_ACCOUNT}.auth.type": kind, **account_confs}.items()}


def _of_environment(name: str) -> str:
    """What Hadoop's Configuration replaces by a variable of the environment of its process."""
    return f"${{env.{name}}}"
