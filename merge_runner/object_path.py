"""Files of an object store, read without an engine: the part of `pathlib.Path` that readers of logs and views use.

The package obstore reads them (the extra `stores`). Only S3 is read: its credentials come from the same environment as
those of Hadoop's connector.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from merge_runner.location import Location, Uri

if TYPE_CHECKING:
    from obstore.store import S3Config

    from merge_runner.project.schema.storage import Storage

_SCHEMES = frozenset({"s3a"})
_TIMEOUT = timedelta(seconds=15)
_RETRIES = 2


class ObjectPath:
    """A file or folder of an object store. Whatever cannot be read is an OSError, as with a path."""

    __slots__ = ("_key", "_store")

    def __init__(self, store: _Store, key: PurePosixPath) -> None:
        self._store, self._key = store, key

    def __truediv__(self, name: str) -> ObjectPath:
        return ObjectPath(self._store, self._key / name)

    @property
    def stem(self) -> str:
        """The name without its last suffix."""
        return self._key.stem

    def with_suffix(self, suffix: str) -> ObjectPath:
        """Return the path with another last suffix."""
        return ObjectPath(self._store, self._key.with_suffix(suffix))

    def exists(self) -> bool:
        """Return whether there is a file at the path. Raises OSError where the store does not say it."""
        try:
            self._store.head(str(self._key))
        except FileNotFoundError:
            return False
        return True

    def read_bytes(self) -> bytes:
        """Return what is in the file. Raises OSError."""
        return self._store.read(str(self._key))

    def read_text(self, encoding: str = "utf-8") -> str:
        """Return the text in the file. Raises OSError and UnicodeDecodeError."""
        return self.read_bytes().decode(encoding)

    def glob(self, pattern: str) -> Iterator[ObjectPath]:
        """Yield the files in the folder whose names match a pattern. Raises OSError."""
        for found in self._store.files(str(self._key)):
            if fnmatchcase(found.name, pattern):
                yield ObjectPath(self._store, found)


StoredPath = Path | ObjectPath
"""Where something is that can be read without an engine."""


def stored_path(place: Location, storage: Storage) -> StoredPath | None:
    """Return where a place is read without an engine; None where that is not possible.

    `storage` says how the profile reaches its object store.
    """
    if isinstance(place, Path):
        return place
    store = _opened(place.store, storage.endpoint, storage.region, storage.path_style) if _is_read(place) else None
    return ObjectPath(store, PurePosixPath(place.text.removeprefix(place.store).lstrip("/"))) if store else None


def _is_read(place: Uri) -> bool:
    return place.scheme in _SCHEMES


class _Store:
    """A bucket. Once it has not answered it is not asked again: each request would wait for it."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._failure: str | None = None

    def head(self, key: str) -> None:
        self._asked("head", key)

    def read(self, key: str) -> bytes:
        return bytes(self._asked("get", key).bytes())

    def files(self, folder: str) -> list[PurePosixPath]:
        return [PurePosixPath(found["path"]) for found in self._asked("list_with_delimiter", folder)["objects"]]

    def _asked(self, what: str, key: str) -> Any:
        import obstore

        if self._failure is not None:
            raise OSError(self._failure)
        try:
            return getattr(obstore, what)(self._client, key)
        except OSError:
            raise
        except obstore.exceptions.BaseError as error:
            self._failure = str(error)
            raise OSError(self._failure) from error


@lru_cache(maxsize=16)
def _opened(bucket: str, endpoint: str | None, region: str | None, path_style: bool) -> _Store | None:
    """Return a bucket by its URI; None where obstore is not installed, or refuses what the environment says."""
    try:
        from obstore.exceptions import BaseError
        from obstore.store import S3Store
    except ImportError:
        return None
    config: S3Config = {"virtual_hosted_style_request": not path_style}
    if endpoint is not None:
        config["endpoint"] = endpoint
    if region is not None:
        config["region"] = region
    try:
        client = S3Store(
            bucket.partition("://")[2],
            config=config,
            client_options={"allow_http": (endpoint or "").startswith("http://"), "timeout": _TIMEOUT},
            retry_config={"max_retries": _RETRIES, "retry_timeout": _TIMEOUT},
        )
    except (BaseError, ValueError):
        return None
    return _Store(client)
