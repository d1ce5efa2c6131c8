"""What nodes read and write, as it is stored: a name for each, and a text that changes when it does.

Nothing here needs an engine. What is neither on a local disk nor in a store that object_path.py reads, nor in a
catalog that rest_catalog.py asks, has no name, and its readers always run.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from merge_runner.engine.spark.embedded_catalog import database
from merge_runner.engine.table_format.iceberg.rest_catalog import RestCatalog, RestTable, rest_catalog
from merge_runner.engine.table_format.iceberg.rest_settings import rest_settings
from merge_runner.engine.table_format.protocol import TableFormat
from merge_runner.engine.table_format.registry import table_format
from merge_runner.engine.table_format.stored_metadata import StoredMetadata
from merge_runner.engine.table_format.stored_version import StoredVersion
from merge_runner.formats.registry import table_format_of
from merge_runner.location import Location, Uri, local_path
from merge_runner.object_clients import is_configured
from merge_runner.object_path import StoredPath, stored_path
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.inputs import FileInput, Input, TableInput, ViewInput
from merge_runner.project.schema.profile import EMBEDDED_FORMAT
from merge_runner.project.schema.storage import Storage
from merge_runner.relation import Relation

_RACY_SECONDS = 1.0
"""A file that was written so shortly before may be written again with the same time and size."""
_MOST_FILES = 100_000
_REQUESTS = 16
_CHUNK = 1 << 20
_REST = "rest"
_WILDCARDS = re.compile(r"[*?\[{\\]")


@dataclass(frozen=True)
class StoredState:
    """Where something is stored.

    `kind`: `folder`, `store`, `catalog` or `rest` for tables, else `files`, `contents`, `text` or `object`. `path` says
    where. Of `files` names, sizes and times count, of `contents` names and what is in them. A `store` is a folder of an
    object store, an `object` a text there.

    The path of a table is JSON: its format, then its folder, or where its embedded catalog has it. What is in an object
    store has how that is reached at the end of it. All is kept as text, so that a later invocation can ask for its
    state before it has planned anything. Of a table in a REST catalog (`rest`) the text has the names alone, since how
    the `catalog` is reached may be secret.
    """

    kind: str
    path: str
    catalog: RestCatalog | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.kind}:{self.path}"

    @classmethod
    def of(cls, text: str, prepared: Prepared) -> StoredState:
        """Return what `str` has made a text of."""
        kind, _, path = text.partition(":")
        return cls(kind, path, _rest_catalog(json.loads(path)[1], prepared) if kind == _REST else None)

    def state(self) -> str | None:
        """Return what it is now; None where there is nothing, or it cannot be read."""
        if self.is_table:
            found = self.version()
            return found.identity if found is not None else None
        if self.kind in ("files", "contents"):
            return _files(self.path, contents=self.kind == "contents")
        text = self._bytes()
        return hashlib.sha256(text).hexdigest()[:32] if text is not None else None

    def text(self) -> str | None:
        """Return the text of a view; None where it cannot be read."""
        found = self._bytes()
        try:
            return found.decode() if found is not None else None
        except UnicodeDecodeError:
            return None

    def _bytes(self) -> bytes | None:
        try:
            place = Path(self.path) if self.kind == "text" else _place(*json.loads(self.path))
            return place.read_bytes() if place is not None else None
        except OSError:
            return None

    @property
    def is_table(self) -> bool:
        """Whether it is a table, which has versions."""
        return self.kind in ("folder", "store", "catalog", _REST)

    @property
    def is_remote(self) -> bool:
        """Whether it is in an object store or a REST catalog."""
        return self.kind in ("store", "object", _REST)

    @property
    def rest_catalog(self) -> str | None:
        """The name of the REST catalog that a table is in; None for what is elsewhere."""
        return str(json.loads(self.path)[1]) if self.kind == _REST else None

    @property
    def failure(self) -> str | None:
        """Why it cannot be read, where its catalog as a whole cannot be asked."""
        return self.catalog.failure if self.catalog is not None else None

    def version(self) -> StoredVersion | None:
        """Return the newest version of a table; None where there is none, or it cannot be read."""
        return next(self._versions(), None)

    def changed_only_by(self, stamp: str, since: StoredVersion | None) -> bool:
        """Return whether only commits with a stamp have changed a table since a version; None: it was not there."""
        for version in self._versions():
            if version == since or (since is None and version.version < 0):
                return True
            if version.stamp != stamp:
                return False
        return since is None

    def _versions(self) -> Iterator[StoredVersion]:
        found = self._table() if self.is_table else None
        return found[0].stored_versions(found[1]) if found is not None else iter(())

    def metadata(self) -> StoredMetadata | None:
        """Return columns and sizes of a table; None where there is none, or its files do not say it."""
        found = self._table() if self.is_table else None
        return found[0].stored_metadata(found[1]) if found is not None else None

    def _table(self) -> tuple[TableFormat, StoredPath] | None:
        format, *where = json.loads(self.path)
        if self.kind == _REST:
            table = RestTable(self.catalog, *where[1:]) if self.catalog is not None else None
            path = cast("StoredPath | None", table)  # its format reads the text of it
        else:
            path = _metadata(*where) if self.kind == "catalog" else _place(*where)
        return (table_format(table_format_of(format)), path) if path is not None else None


def stored_input(item: Input, prepared: Prepared) -> StoredState | None:
    """Return where an input is stored; None where that cannot be read without an engine, or is not known."""
    if isinstance(item, TableInput):
        return stored_table(item.relation, item.format, item.location, prepared)
    if isinstance(item, ViewInput):
        return stored_view(item.definition, prepared) if item.definition is not None else None
    if isinstance(item, FileInput) and "://" not in item.path:
        return StoredState("contents" if item.checksum else "files", item.path)
    return None


def stored_table(relation: Relation, format: str, location: Location | None, prepared: Prepared) -> StoredState | None:
    """Return the same of a table; `location` is its folder where no catalog keeps it."""
    if isinstance(location, Path):
        return StoredState(
            "folder", json.dumps([format, str(location.resolve())])
        )  # one name, whatever links lead to it
    if location is not None:
        return _of_store("store", [format], location, prepared)
    profile, catalog, schema = prepared.files.profile, relation.catalog, relation.schema
    if catalog is None or schema is None:
        return None
    if catalog in profile.embedded_catalogs:
        file = database(profile, prepared.files.root.absolute(), catalog)
        return StoredState("catalog", json.dumps([EMBEDDED_FORMAT, str(file), catalog, schema, relation.identifier]))
    rest = _rest_catalog(catalog, prepared)
    path = json.dumps([EMBEDDED_FORMAT, catalog, schema, relation.identifier])
    return StoredState(_REST, path, rest) if rest is not None else None


def stored_view(definition: Location, prepared: Prepared) -> StoredState | None:
    """Return where the query of a view is stored; None where that cannot be read without an engine."""
    if isinstance(definition, Path):
        return StoredState("text", str(definition.absolute()))
    return _of_store("object", [], definition, prepared)


def _of_store(kind: str, first: list[str], place: Uri, prepared: Prepared) -> StoredState | None:
    profile = prepared.files.profile
    if is_configured(place.store, profile.conf) or stored_path(place, profile.storage) is None:
        return None
    return StoredState(kind, json.dumps([*first, str(place), asdict(profile.storage)]))


def _place(place: str, storage: dict[str, Any] | None = None) -> StoredPath | None:
    """Return a path; with `storage`, the keys of the profile's, that of a URI in an object store."""
    return Path(place) if storage is None else stored_path(Uri(place), Storage(**storage))


def _rest_catalog(name: str, prepared: Prepared) -> RestCatalog | None:
    settings = rest_settings(prepared.files.profile, name)
    return rest_catalog(settings) if settings is not None else None


def _metadata(file: str, catalog: str, schema: str, table: str) -> Path | None:
    """Return the metadata file of a table, as its embedded catalog has it."""
    query = (
        "SELECT metadata_location FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?"
    )
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            found = connection.execute(query, (catalog, schema, table)).fetchone()
    except sqlite3.Error:
        return None
    if found is None or found[0] is None:
        return None
    return local_path(str(found[0]))


def _files(path: str, *, contents: bool) -> str | None:
    """Return the state of the files at a path, which may have wildcards; None where there is none, or one is too new.

    That is their names, sizes and times, or names and `contents`.
    """
    digest, number, now = hashlib.sha256(), 0, time.time()
    try:
        for file in _below(path):
            stat = file.stat()
            number += 1
            if number > _MOST_FILES or (not contents and now - stat.st_mtime < _RACY_SECONDS):
                return None
            known = _content(file) if contents else f"{stat.st_size}\0{stat.st_mtime_ns}"
            digest.update(f"{file}\0{known}\0".encode())
    except OSError:
        return None
    return digest.hexdigest()[:32] if number else None


def _content(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _below(path: str) -> Iterator[Path]:
    """Yield the files at a path of Hadoop's, which may have wildcards, and those below: these or more."""
    for root in _matching(Path(path)):
        if root.is_dir():
            yield from _walked(root, frozenset())
        else:
            yield root


def _matching(path: Path) -> Iterator[Path]:
    """Yield what a path with Hadoop's wildcards may name, in a fixed order."""
    if not _WILDCARDS.search(str(path)):
        yield path
        return
    pattern = re.sub(r"[\[{\\].*", "*", path.name)  # sets and alternatives are not as in Python: anything may be meant
    for folder in _matching(path.parent):
        if not _WILDCARDS.search(path.name):
            yield from (each for each in (folder / path.name,) if each.exists())
        elif folder.is_dir():
            yield from sorted(each for each in folder.iterdir() if fnmatchcase(each.name, pattern))


def _walked(folder: Path, above: frozenset[Path]) -> Iterator[Path]:
    """Yield the files below a folder, those of linked folders included, as Spark lists them."""
    real = folder.resolve()
    if real in above:
        raise OSError(f"{folder} is linked to a folder above it")
    for entry in sorted(folder.iterdir()):
        if entry.is_dir():
            yield from _walked(entry, above | {real})
        elif entry.is_file():
            yield entry


class States:
    """The states of what the nodes of one run read, each as it was when it was first looked at.

    Spark lists the files of a source once, and what several nodes share is computed once: a later state need not be
    what a node has read. An earlier one is at worst a reason to run the node again.
    """

    def __init__(self) -> None:
        self._seen: dict[StoredState, str | None] = {}

    def of(self, stored: StoredState) -> str | None:
        """Return the state that counts for this run."""
        if stored not in self._seen:
            self._seen[stored] = stored.state()
        return self._seen[stored]

    def look_at(self, places: Iterable[StoredState]) -> None:
        """Look at places of object stores and REST catalogs, many at a time: each takes requests."""
        remote = [place for place in places if place.is_remote]
        if remote:
            with ThreadPoolExecutor(_REQUESTS) as pool:
                self._seen.update(zip(remote, pool.map(StoredState.state, remote), strict=True))

    def written(self, stored: StoredState) -> None:
        """A node of this run has written it: who reads it from now on reads the new one."""
        self._seen.pop(stored, None)
