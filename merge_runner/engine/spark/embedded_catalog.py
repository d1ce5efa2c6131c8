"""The embedded Iceberg catalog (`type: embedded`): Iceberg's JDBC catalog on a SQLite file in the warehouse, no server.

The file is `<warehouse>/<name>.db`, the tables lie below `<warehouse>/<name>`. Processes may use it concurrently: a
commit is one UPDATE that names the metadata it replaces, SQLite lets one process write at a time, and the others wait.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.engine.spark.locks import writing
from merge_runner.errors import Problem, ProblemsError

if TYPE_CHECKING:
    from merge_runner.project.schema.profile import Profile

_BUSY_SECONDS = 60
"""How long a statement waits for another process's: its own default is 3 s, and each takes milliseconds."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS iceberg_tables (catalog_name VARCHAR(255) NOT NULL,"
    " table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000),"
    " previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5),"
    " PRIMARY KEY (catalog_name, table_namespace, table_name))",
    "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL,"
    " namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255), property_value VARCHAR(1000),"
    " PRIMARY KEY (catalog_name, namespace, property_key))",
)
"""The tables of a catalog of schema version V1, as JdbcUtil of Iceberg 1.12.0 makes them in two steps."""


def embedded_catalog(profile: Profile, root: Path, name: str) -> dict[str, str]:
    """The settings of an embedded catalog of the profile; the profile's other keys override them."""
    own = {key: value for key, value in profile.catalogs[name].items() if key != "type"}
    return {
        "type": "jdbc",
        "uri": f"jdbc:sqlite:{database(profile, root, name)}?journal_mode=WAL&busy_timeout={_BUSY_SECONDS * 1000}",
        "warehouse": str(_folder(profile, root) / name),
        "jdbc.schema-version": "V1",
        # Each session has its own catalog, whose cache would not see what the others commit.
        "cache-enabled": "false",
        **own,
    }


def prepare_catalogs(profile: Profile, root: Path) -> None:
    """Makes the databases of the profile's embedded catalogs where they are missing, each in one transaction.

    Iceberg would do so when a session first looks, and of two processes that do so concurrently one may fail. Raises
    ProblemsError `no-catalog`.
    """
    for name in profile.embedded_catalogs:
        file = database(profile, root, name)
        try:
            # SQLite's own waiting does not cover the change to write-ahead logging: of eight processes, some fail.
            with writing(file.parent, f".{name}", waiting=lambda _: None):
                _prepare(file)
        except (OSError, sqlite3.Error) as error:
            problem = Problem("no-catalog", f'the catalog "{name}" cannot be kept in {file}: {error}')
            raise ProblemsError([problem]) from error


def _prepare(file: Path) -> None:
    with closing(sqlite3.connect(file, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute("COMMIT")


def _folder(profile: Profile, root: Path) -> Path:
    return (root / str(profile.warehouse)).absolute()


def database(profile: Profile, root: Path, name: str) -> Path:
    """The SQLite file of an embedded catalog."""
    return _folder(profile, root) / f"{name}.db"
