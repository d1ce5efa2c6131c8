"""Object stores in a profile: which a warehouse may lie in, and how one is reached."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from merge_runner.location import scheme
from merge_runner.project.schema.accepts import matching
from merge_runner.project.syntax.annotations import CLOSED, After, StrictBool

STORES = ("s3a", "abfss", "gs", "hdfs")
"""The schemes that a warehouse may have."""
_OVERWRITING = frozenset({"s3", "s3a", "s3n", "gs"})
"""The schemes of stores in which a file that is renamed takes the place of one that exists."""
_OTHERS = "give it the type rest, jdbc, hive or glue"
WAREHOUSE = rf"^(?:(?!.*://)|(?:{'|'.join(STORES)})://[^/])"
"""What a warehouse may be: a path, or a URI of one of these schemes."""


def warehouse_folder(value: str) -> str:
    """Return the folder of a warehouse as it is written. Raises ValueError."""
    if re.match(WAREHOUSE, value):
        return value
    if value.startswith("s3://"):
        raise ValueError("s3a://…: the scheme by which Spark reads and writes S3")
    schemes = ", ".join(f"{name}://…" for name in STORES)
    raise ValueError(f"a folder: a path, or a URI of one of {schemes}")


def check_catalog(name: str, settings: Mapping[str, str]) -> None:
    """Refuse an Iceberg catalog that decides commits by renaming files in a store that overwrites. Raises ValueError.

    Of 90 commits by two writers to such a catalog, 5 were lost without an error (Iceberg 1.11.0, s3a of Hadoop 3.4.2).
    """
    place = scheme(settings.get("warehouse", ""))
    if settings.get("type") == "hadoop" and place in _OVERWRITING:
        raise ValueError(f'catalog "{name}" of type hadoop loses commits of two writers in {place}://: {_OTHERS}')


def check_embedded(name: str, settings: Mapping[str, str], warehouse: str | None, *, has_warehouse: bool) -> None:
    """Refuse a catalog of type embedded that no warehouse can hold. Raises ValueError.

    `has_warehouse`: the output has a warehouse, its own or the default.
    """
    if not has_warehouse:
        raise ValueError(f'catalog "{name}" of type embedded lies in the warehouse: this output has no "warehouse"')
    if scheme(warehouse or "") is not None:
        raise ValueError(
            f'catalog "{name}" of type embedded is a SQLite file, and no object store holds one: {_OTHERS}'
        )
    if not re.match(r"\w+\Z", name):
        raise ValueError(f'catalog "{name}" of type embedded: letters, digits and _ make its name')
    if own_keys := settings.keys() & {"class", "uri", "warehouse"}:
        raise ValueError(
            f'catalog "{name}" of type embedded has its own "{min(own_keys)}": leave it out, or take another type'
        )


def _endpoint(value: str) -> str:
    if not re.match("https?://[^/]", value):
        raise ValueError("the address of a server, https://… or http://…")
    return value


@dataclass(frozen=True)
class Storage:
    """How an object store with S3's interface is reached."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    endpoint: Annotated[str, After(_endpoint), matching("^https?://[^/]")] | None = None
    """The address of the server. Default: Amazon's of the region. Example: `endpoint: "https://s3.example.com"`"""
    path_style: StrictBool = False
    """Whether the bucket is the first part of the path, as most servers other than Amazon's want it.
    Example: `path_style: true`"""
    region: str | None = None
    """The region of the bucket. Default: `AWS_REGION` of the environment. Example: `region: eu-central-1`"""
