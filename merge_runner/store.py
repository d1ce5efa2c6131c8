"""The store of a project: results of earlier runs, each under a key of all that was known before it was made.

An entry is plain JSON. What it depends on is of two kinds: what is known before it is made is part of its key, and what
is looked up by name while it is made (a var, a macro, a table that SQL names) is a question. The entry has the
questions, and one hash of their answers; it is taken where the answers are the same now. Table names are why the
questions are recorded: which tables a text names is known once it is rendered, and not from its inputs.

All of a project are in one SQLite file in the user's cache folder, which can be deleted at any time. Whatever is wrong
with it (another process writes it, a disk is full, its bytes have changed) costs time alone: what cannot be read is
made again. No file of a check-out is ever read for it: such a file could forge a verdict.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import os
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from merge_runner.atomic import keep_newest
from merge_runner.cache_folder import check_private, make_private_folder, project_store
from merge_runner.reads import NEVER, Question
from merge_runner.version import package_version, pyspark_version

Answer = Callable[[str, str], str | None]
"""Returns what a question is answered with now; None: there is no such thing."""


def _no_answer(_kind: str, _name: str) -> None:
    """Answer the questions of an entry that has none."""


_MOST_UNWRITTEN = 8_000_000
"""Characters that wait to be written: all of a usual project, and a small part of the memory of a large one."""
_MOST_PROJECTS = 200
"""Files that stay in the cache folder: a machine for CI sees many folders, each once."""
_LOCKED_SECONDS = 0.5
"""How long another process is waited for: it writes for some 50 ms."""
_LIBRARIES = ("sqlglot", "jinja2", "PyYAML", "pydantic")
_SCHEMA = "CREATE TABLE IF NOT EXISTS kept (id INTEGER PRIMARY KEY, key BLOB UNIQUE, content TEXT, checksum BLOB)"
_LOG = logging.getLogger("merge_runner.store")


class Store:
    """The entries of one project; new ones are written by `write`, or once they are many."""

    @classmethod
    def of_project(cls, root: Path, env: Mapping[str, str]) -> Store | None:
        """Return the store of the project at `root`; None where the environment names no cache folder."""
        file = project_store(root, env)
        return None if file is None else cls(file)

    def __init__(self, file: Path) -> None:
        self._file = file
        self._new: dict[bytes, str] = {}
        self._unwritten = 0
        """Characters that are new."""
        self._has_written = False
        """Whether some were written, and none were left out since."""
        self._reader: sqlite3.Connection | None = None
        self._readable = True

    def get(self, key: bytes, answer: Answer = _no_answer) -> tuple[list[Question], Any] | None:
        """Return the questions and the value of an entry; None: there is none, or a question has another answer now.

        A question that another answer was given to may not be asked any longer: `answer` should record none of them.
        """
        content = self._new.get(key) or self._content(key)
        if content is None:
            return None
        questions, answers, value = json.loads(content)
        return (
            ([(kind, name) for kind, name in questions], value) if _answers(key, questions, answer) == answers else None
        )

    def put(self, key: bytes, value: Any, questions: Iterable[Question] = (), answer: Answer = _no_answer) -> None:
        """Add an entry with the questions that were asked while its value was made, if JSON can hold it."""
        with suppress(TypeError):
            self.put_text(key, answered(key, questions, answer), json.dumps(value))

    def put_text(self, key: bytes, answers: str | None, text: str) -> None:
        """Add an entry: the JSON text of its value, and what `answered` returned; None: it cannot be kept."""
        if answers is not None:
            self._new[key] = content = f"[{answers}, {text}]"
            self._unwritten += len(content)
            if self._unwritten > _MOST_UNWRITTEN:
                self._write()

    def write(self, most: int | None = None) -> None:
        """Write what is new, and leave the `most` entries that were written last; None: leave all."""
        if self._new or self._has_written:
            self._write(most)
        self.close()

    def _write(self, most: int | None = None) -> None:
        self.close()
        rows = ((key, content, _checksum(key, content)) for key, content in self._new.items())
        try:
            make_private_folder(self._file.parent)
            with closing(self._connect()) as connection:
                connection.execute("PRAGMA synchronous = OFF")  # a checksum finds what a crash has left half written
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(_SCHEMA)
                connection.executemany("INSERT OR REPLACE INTO kept (key, content, checksum) VALUES (?, ?, ?)", rows)
                if most is not None:
                    connection.execute("DELETE FROM kept WHERE id <= (SELECT max(id) FROM kept) - ?", (most,))
                connection.execute("COMMIT")
            self._readable = True
            keep_newest(self._file.parent, f"*{self._file.suffix}", _MOST_PROJECTS)
        except (OSError, sqlite3.Error) as error:
            self._failed(error)
        self._new, self._unwritten, self._has_written = {}, 0, most is None

    def close(self) -> None:
        """Close the file; it is opened again when it is needed. A connection must not outlive a fork."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _content(self, key: bytes) -> str | None:
        if not self._readable:
            return None
        try:
            if self._reader is None:
                self._readable = self._file.is_file()
                if not self._readable:
                    return None
                check_private(self._file.parent)
                self._reader = self._connect()
            row = self._reader.execute("SELECT content, checksum FROM kept WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            content, checksum = row
            if isinstance(content, str) and _checksum(key, content) == checksum:
                return content
            raise sqlite3.DatabaseError("a row has another checksum")
        except (OSError, sqlite3.Error) as error:
            self._readable = False
            self._failed(error)
        return None

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._file, timeout=_LOCKED_SECONDS, isolation_level=None)

    def _failed(self, error: Exception) -> None:
        self.close()
        _LOG.debug("%s: %s; what it has is made again", self._file, error)
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            with suppress(OSError):  # it is broken, and not only locked or unreachable
                self._file.unlink()


def most_of(files: int) -> int:
    """Return how many entries stay of a project with so many files: each has some, for some targets and vars."""
    return 12 * files + 1000


def key(*parts: Any) -> bytes:
    """Return the key of what depends on the parts, plain data whose `repr` says all of it."""
    return _hash(repr(parts).encode("utf-8", "surrogatepass"))


def toolchain() -> list[Any]:
    """Return what makes entries: the versions of Python and the libraries, the files of this package."""
    libraries = [*map(package_version, _LIBRARIES), pyspark_version()]  # lint judges for a line of Spark
    package = Path(__file__).parent
    archive = package.parent  # where it is imported from a wheel, as with `spark-submit --py-files`
    return [sys.version, libraries, list(package_files(package if package.is_dir() else archive))]


@functools.cache
def toolchain_hash() -> str:
    """Return one hash of `toolchain`."""
    return _hash(repr(toolchain()).encode("utf-8", "surrogatepass")).hex()


def package_files(package: Path) -> Iterator[list[Any]]:
    """Yield name, size and time of each file of a package, or of a single module."""
    if package.is_file():
        yield [str(package), package.stat().st_size, package.stat().st_mtime_ns]
    elif package.is_dir():
        yield from _files(os.fspath(package))


def _files(folder: str) -> Iterator[list[Any]]:
    with os.scandir(folder) as entries:  # of hundreds of files: without a second question whether one is a folder
        sorted_entries = sorted(entries, key=lambda entry: entry.name)
    for entry in sorted_entries:
        if not entry.is_dir():
            stat = entry.stat()
            yield [entry.path, stat.st_size, stat.st_mtime_ns]
        elif entry.name != "__pycache__":
            yield from _files(entry.path)


def answered(key: bytes, questions: Iterable[Question], answer: Answer) -> str | None:
    """Return the questions and the hash of their answers as JSON; None: the entry cannot be kept."""
    ordered = sorted(questions)
    return None if NEVER in ordered else f'{json.dumps(ordered)}, "{_answers(key, ordered, answer)}"'


def _answers(key: bytes, questions: Iterable[Question], answer: Answer) -> str:
    """One hash of all answers: some are secrets, and a hash of a short one alone would give it away."""
    answers = [(kind, name, answer(kind, name)) for kind, name in questions]
    return _hash(key + repr(answers).encode("utf-8", "surrogatepass")).hex()


def _checksum(key: bytes, content: str) -> bytes:
    return _hash(key + content.encode())


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=20).digest()
