"""Clients of object stores, by scheme: obstore's, of the extra `stores`.

Their credentials come from the same variables of the environment as those of Hadoop's connectors.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from merge_runner.location import scheme

if TYPE_CHECKING:
    from obstore.store import AzureConfig, ClientConfig, RetryConfig, S3Config

    from merge_runner.project.schema.storage import Storage

AzureCredentials = Literal["key", "SAS token", "secret", "federated token"]
_AZURE_VARIABLES: Mapping[AzureCredentials, frozenset[str]] = MappingProxyType(
    {
        "key": frozenset({"AZURE_STORAGE_KEY"}),
        "SAS token": frozenset({"AZURE_STORAGE_SAS_TOKEN"}),
        "secret": frozenset({"AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"}),
        "federated token": frozenset({"AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE"}),
    }
)
"""The first of them counts whose variables there are."""
_TIMEOUT = timedelta(seconds=15)
_RETRY: RetryConfig = {"max_retries": 2, "retry_timeout": _TIMEOUT}
_AZURE = re.compile(r"(?P<container>[^@]+)@(?P<account>[^.]+)\.dfs\.core\.windows\.net\Z")


def client(store: str, storage: Storage) -> Any | None:
    """Return a client of a bucket or container by its URI; `storage` says how the profile reaches a store like S3.

    None where obstore is not installed or has no client for it, or where it refuses what the environment says.
    """
    kind = _KINDS.get(scheme(store) or "")
    if kind is None:
        return None
    try:
        from obstore.exceptions import BaseError
    except ImportError:
        return None
    try:
        return kind.client(store.partition("://")[2], storage)
    except (BaseError, ValueError):
        return None


def is_configured(store: str, conf: Mapping[str, str]) -> bool:
    """Return whether confs of Spark say how Hadoop's connector reaches a store, or with which credentials."""
    kind = _KINDS.get(scheme(store) or "")
    return kind is not None and any(key.startswith(kind.confs) for key in conf)


def azure_credentials(env: Mapping[str, str]) -> AzureCredentials | None:
    """Return which credentials of an Azure account the environment has, by the names of Azure's tools."""
    return next((kind for kind, names in _AZURE_VARIABLES.items() if names <= env.keys()), None)


def _s3(bucket: str, storage: Storage) -> Any:
    from obstore.store import S3Store

    config: S3Config = {"virtual_hosted_style_request": not storage.path_style}
    if storage.endpoint is not None:
        config["endpoint"] = storage.endpoint
    if storage.region is not None:
        config["region"] = storage.region
    return S3Store(bucket, config=config, client_options=_options(storage.endpoint), retry_config=_RETRY)


def _azure(place: str, _: Storage) -> Any | None:
    from obstore.store import AzureStore

    found = _AZURE.match(place)
    # Other clouds give tokens at other addresses. Without credentials obstore would ask the machine for them, and wait.
    if found is None or azure_credentials(os.environ) is None:
        return None
    config: AzureConfig = {"account_name": found["account"]}
    if key := os.environ.get("AZURE_STORAGE_KEY"):  # obstore has other names for it
        config["account_key"] = key
    options = _options(os.environ.get("AZURE_STORAGE_ENDPOINT"))
    return AzureStore(found["container"], config=config, client_options=options, retry_config=_RETRY)


def _gcs(bucket: str, _: Storage) -> Any:
    from obstore.store import GCSStore

    return GCSStore(bucket, client_options=_options(os.environ.get("GOOGLE_BASE_URL")), retry_config=_RETRY)


def _options(endpoint: str | None) -> ClientConfig:
    """Return the options of a client; without TLS where the address of another server begins with `http:`."""
    return {"allow_http": (endpoint or "").startswith("http://"), "timeout": _TIMEOUT}


@dataclass(frozen=True)
class _Kind:
    """A kind of object store. `confs` are the beginnings of the confs by which Hadoop's connector reaches it."""

    confs: tuple[str, ...]
    client: Callable[[str, Storage], Any | None]


_KINDS = MappingProxyType(
    {
        "s3a": _Kind(("spark.hadoop.fs.s3a.",), _s3),
        "abfss": _Kind(("spark.hadoop.fs.azure.",), _azure),
        "gs": _Kind(("spark.hadoop.fs.gs.", "spark.hadoop.google.cloud."), _gcs),
    }
)
