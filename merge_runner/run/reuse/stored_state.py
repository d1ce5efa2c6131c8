"""What nodes read and write, as it is stored: a name for each, and a text that changes when it does.

Files, Delta logs and embedded Iceberg catalogs on a local disk are read without an engine. Spark is asked for tables of
other catalogs, and for what is in an object store, once it runs. What neither can say has no name, and its readers
always run.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.engine.spark.embedded_catalog import database
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.storage import files
from merge_runner.engine.table_format.commit_metadata import same_writer
from merge_runner.engine.table_format.registry import table_format
from merge_runner.engine.table_format.stored_metadata import StoredMetadata
from merge_runner.engine.table_format.stored_version import StoredVersion
from merge_runner.formats import DEFAULT, Format
from merge_runner.formats.registry import table_format_of
from merge_runner.graph.naming import SESSION_CATALOG
from merge_runner.location import Location, Uri, local_path
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.inputs import FileInput, Input, TableInput, ViewInput
from merge_runner.project.schema.profile import EMBEDDED_FORMAT
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RACY_SECONDS = 1.0
"""A file that was written so shortly before may be written again with the same time and size."""
_MOST_FILES = 100_000
_CHUNK = 1 << 20
_WILDCARDS = re.compile(r"[*?\[{\\]")


@dataclass(frozen=True)
class StoredState:
    """Where something is stored.

    `kind`: `folder`, `catalog` or `spark` for tables, else `files`, `contents`, `text` or `object`. `path` says where.
    Of `files` names, sizes and times count, of `contents` names and what is in them. An `object` is a text in an object
    store.

    The path of a table is JSON: its format, then its folder, where its embedded catalog has it, or its name in Spark.
    All is kept as text, so that a later invocation can ask for its state before it has planned anything.
    """

    kind: str
    path: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.path}"

    @classmethod
    def of(cls, text: str) -> StoredState:
        """Return what `str` has made a text of."""
        kind, _, path = text.partition(":")
        return cls(kind, path)

    @property
    def is_table(self) -> bool:
        """Whether it is a table, which has versions."""
        return self.kind in ("folder", "catalog", "spark")

    @property
    def needs_spark(self) -> bool:
        """Whether nothing is known of it without a session of Spark."""
        return self.kind in ("spark", "object")

    def state(self, session: SparkSession | None = None) -> str | None:
        """Return what it is now; None where there is nothing, or it cannot be read."""
        if self.is_table:
            version = self.version(session)
            return version.identity if version is not None else None
        if self.kind in ("files", "contents"):
            return _files(self.path, contents=self.kind == "contents")
        text = self._bytes(session)
        return hashlib.sha256(text).hexdigest()[:32] if text is not None else None

    def text(self, session: SparkSession | None = None) -> str | None:
        """Return the text of a view; None where it cannot be read."""
        contents = self._bytes(session)
        try:
            return contents.decode() if contents is not None else None
        except UnicodeDecodeError:
            return None

    def _bytes(self, session: SparkSession | None) -> bytes | None:
        try:
            if self.kind == "text":
                return Path(self.path).read_bytes()
            text = files.read_text(session, Uri(self.path)) if session is not None else None
            return text.encode() if text is not None else None
        except (OSError, EngineError):
            return None

    def version(self, session: SparkSession | None = None) -> StoredVersion | None:
        """Return the newest version of a table; None where there is none, or it cannot be read."""
        return next(self.versions(session), None)

    def changed_only_by(self, stamp: str, since: StoredVersion | None, session: SparkSession | None = None) -> bool:
        """Return whether only the writer of a stamp has changed a table since a version; None: it was not there."""
        for version in self.versions(session):
            if version == since or (since is None and version.version < 0):
                return True
            if not same_writer(version.stamp, stamp):
                return False
        return since is None

    def versions(self, session: SparkSession | None = None) -> Iterator[StoredVersion]:
        """Yield the commits of a table that may have changed it, newest first; none where it cannot be read."""
        if self.kind == "spark" and session is not None:
            format, *names = json.loads(self.path)
            return table_format(table_format_of(format)).versions(session, Relation(*names))
        location = self._table()
        return table_format(location[0]).stored_versions(location[1]) if location is not None else iter(())

    def metadata(self) -> StoredMetadata | None:
        """Return columns and sizes of a table; None where there is none, or its files do not say it."""
        location = self._table()
        return table_format(location[0]).stored_metadata(location[1]) if location is not None else None

    def _table(self) -> tuple[Format | None, Path] | None:
        """Return the format of a table that is read without an engine, and what `stored_versions` of it reads."""
        if self.kind not in ("folder", "catalog"):
            return None
        format, *where = json.loads(self.path)
        path = _metadata(*where) if self.kind == "catalog" else Path(*where)
        return (table_format_of(format), path) if path is not None else None


def stored_input(item: Input, prepared: Prepared) -> StoredState | None:
    """Return where an input is stored; None where that is not known, or cannot be read."""
    if isinstance(item, TableInput):
        return stored_table(item.relation, item.format, item.location, prepared)
    if isinstance(item, ViewInput):
        return stored_view(item.definition) if item.definition is not None else None
    if isinstance(item, FileInput) and "://" not in item.path:
        return StoredState("contents" if item.checksum else "files", item.path)
    return None


def stored_table(relation: Relation, format: str, location: Location | None, prepared: Prepared) -> StoredState | None:
    """Return the same of a table; `location` is its folder where no catalog keeps it."""
    profile, catalog, schema = prepared.files.profile, relation.catalog, relation.schema
    if isinstance(location, Path):
        return _state("folder", format, str(location.resolve()))  # one name, whatever links lead to it
    if location is None and catalog is not None and catalog in profile.embedded_catalogs:
        file = database(profile, prepared.files.root.absolute(), catalog)
        return _state("catalog", EMBEDDED_FORMAT, str(file), catalog, schema, relation.identifier)
    if profile.remote is not None:
        return None  # SQL says less than the log of a table
    if location is not None:
        return _state("spark", format, str(location), table_format_of(format) or DEFAULT)
    if catalog in profile.iceberg_catalogs:
        return _state("spark", EMBEDDED_FORMAT, relation.identifier, schema, catalog)
    if catalog in (None, SESSION_CATALOG) and schema is not None and table_format_of(format) is not None:
        return _state("spark", format, relation.identifier, schema, catalog)
    return None


def stored_view(definition: Location) -> StoredState:
    """Return where the query of a view is stored."""
    if isinstance(definition, Path):
        return StoredState("text", str(definition.absolute()))
    return StoredState("object", str(definition))


def _state(kind: str, *path: str | None) -> StoredState:
    return StoredState(kind, json.dumps(path))


def _metadata(file: str, catalog: str, schema: str, table: str) -> Path | None:
    """Return the metadata file of a table, as its embedded catalog has it."""
    query = (
        "SELECT metadata_location FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?"
    )
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            row = connection.execute(query, (catalog, schema, table)).fetchone()
    except sqlite3.Error:
        return None
    if row is None or row[0] is None:
        return None
    return local_path(str(row[0]))


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
            state = _content(file) if contents else f"{stat.st_size}\0{stat.st_mtime_ns}"
            digest.update(f"{file}\0{state}\0".encode())
    except OSError:
        return None
    return digest.hexdigest()[:32] if number else None


def _content(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _below(path: str) -> Iterator[Path]:
    """Yield the files at a path of Hadoop's, which may have wildcards, and those below: these or more."""
    for root in _matches(Path(path)):
        if root.is_dir():
            yield from _walk(root, frozenset())
        else:
            yield root


def _matches(path: Path) -> Iterator[Path]:
    """Yield what a path with Hadoop's wildcards may name, in a fixed order."""
    if not _WILDCARDS.search(str(path)):
        yield path
        return
    pattern = re.sub(r"[\[{\\].*", "*", path.name)  # sets and alternatives are not as in Python: anything may be meant
    for folder in _matches(path.parent):
        if not _WILDCARDS.search(path.name):
            yield from (candidate for candidate in (folder / path.name,) if candidate.exists())
        elif folder.is_dir():
            yield from sorted(entry for entry in folder.iterdir() if fnmatchcase(entry.name, pattern))


def _walk(folder: Path, above: frozenset[Path]) -> Iterator[Path]:
    """Yield the files below a folder, those of linked folders included, as Spark lists them."""
    real = folder.resolve()
    if real in above:
        raise OSError(f"{folder} is linked to a folder above it")
    for entry in sorted(folder.iterdir()):
        if entry.is_dir():
            yield from _walk(entry, above | {real})
        elif entry.is_file():
            yield entry


class States:
    """The states of what the nodes of one run read, each as it was when it was first looked at.

    Spark lists the files of a source once, and what several nodes share is computed once: a later state need not be
    what a node has read. An earlier one is at worst a reason to run the node again.
    """

    def __init__(self) -> None:
        self._seen: dict[StoredState, str | None] = {}

    def of(self, where: StoredState, session: SparkSession | None = None) -> str | None:
        """Return the state that counts for this run; None without the session that is needed."""
        if where.needs_spark and session is None:
            return None
        if where not in self._seen:
            self._seen[where] = where.state(session)
        return self._seen[where]

    def forget(self, where: StoredState) -> None:
        """A node of this run has written it: who reads it from now on reads the new one."""
        self._seen.pop(where, None)
