"""Files of an object store, read without an engine: the part of `pathlib.Path` that readers of logs and views use.

The package obstore reads them (the extra `stores`).
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Protocol

from merge_runner.location import Location
from merge_runner.object_clients import client

if TYPE_CHECKING:
    from merge_runner.project.schema.storage import Storage


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


class StoredText(Protocol):
    """A text that can be read without an engine, whatever has it: a file, or the answer of a server."""

    def read_text(self, encoding: str) -> str:
        """Return the text as it is now. Raises OSError and UnicodeDecodeError."""


def stored_path(place: Location, storage: Storage) -> StoredPath | None:
    """Return where a place is read without an engine; None where that is not possible.

    `storage` says how the profile reaches its object store.
    """
    if isinstance(place, Path):
        return place
    store = _opened(place.store, storage)
    return ObjectPath(store, PurePosixPath(place.text.removeprefix(place.store).lstrip("/"))) if store else None


class _Store:
    """A bucket or container. Once it has not answered it is not asked again: each request would wait for it."""

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
def _opened(store: str, storage: Storage) -> _Store | None:
    """Return a bucket or container by its URI; None where it cannot be read."""
    found = client(store, storage)
    return _Store(found) if found is not None else None
