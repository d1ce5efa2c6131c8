"""Histories on the fake engine, whose statements the oracle runs: what a table has comes from tests/oracle, not from Spark.

The decisions are those of real builds: they read logs of Delta and metadata of Iceberg that are written here as the
engines write them. What only an engine can say is left out: unit tests.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from tests.fake_engine.driver import FakeDriver
from tests.fake_engine.faults import raised
from tests.fake_engine.lake import CREATE, MERGE, REPLACE, REPLACE_AS, Lake, Table
from tests.fake_engine.session import FakeSession, Frame
from tests.oracle.expression import Call, Column, Expression, Literal, Row, holds
from tests.oracle.generate import COLUMNS
from tests.oracle.merge import Merge, MultipleMatchesError, Outcome, merged
from tests.oracle.query import SIDE, rows_of
from tests.run.reuse.chain import FIRST_TEXT, Chain
from tests.run.reuse.histories import Histories
from tests.run.reuse.sums import COLUMNS as SUMS
from tests.written_project import write_project

_METADATA = (CREATE, REPLACE, "SET TBLPROPERTIES", "CHANGE COLUMN", "ADD COLUMNS")
"""Operations that write no rows."""
_OF_CHAIN = re.compile(r"\b(?:stg_|src_|by_)?(m\d+)\b")
_OF_SUMS = re.compile(r"\bsum_(m\d+)\b")


@dataclass
class Iceberg:
    """The metadata of a table of an embedded catalog."""

    uuid: str = field(default_factory=lambda: str(uuid.uuid4()))
    schema: int = 0
    current: int = -1
    snapshots: dict[int, dict[str, Any]] = field(default_factory=dict)
    files: int = 0


class SimulatedLake(Lake):
    """Tables with rows, whose logs and metadata are on disk."""

    def __init__(self, warehouse: Path) -> None:
        super().__init__()
        self.warehouse = warehouse
        self.of: dict[str, list[Row]] = {}
        """The rows of each table by its name."""
        self.versions: dict[str, list[tuple[int, list[Row]]]] = {}
        """Those that it can be restored to: by version (Delta), or by snapshot (Iceberg)."""
        self.iceberg: dict[str, Iceberg] = {}
        self._disk = threading.RLock()

    def commit(self, table: Table, operation: str, stamp=None, rows=None, batch=None, counts=None):
        """Add a commit, and write it to disk."""
        changes = {kind: (counts or {}).get(kind, 0) for kind in ("inserted", "updated", "deleted")}
        with self._disk:
            if operation == MERGE and not table.rows and not any(changes.values()):
                return None  # it has not even copied rows
            if operation in (CREATE, REPLACE):
                self.of[table.name] = []
            made = super().commit(table, operation, stamp, rows, batch, counts)
            table.rows = len(self.of.get(table.name, ()))
            if table.name.startswith("lake."):
                self._snapshot(table, operation, stamp)
            else:
                self._logged(table, made.version, operation, stamp, changes)
            return made

    def _logged(
        self, table: Table, version: int, operation: str, stamp: str | None, changes: Mapping[str, int]
    ) -> None:
        metrics = {f"numTargetRows{kind.capitalize()}": str(count) for kind, count in changes.items()}
        info = {"operation": operation, "txnId": str(uuid.uuid4()), "operationMetrics": metrics}
        actions: list[dict[str, Any]] = [{"commitInfo": info | ({"userMetadata": stamp} if stamp else {})}]
        columns = str(sum(commit.operation == "ADD COLUMNS" for commit in table.commits))
        metadata = {"id": table.name, "schemaString": columns, "partitionColumns": []}
        if operation in _METADATA or operation == REPLACE_AS:
            actions.append({"metaData": metadata})
        if operation not in _METADATA:
            actions.append(
                {"add": {"path": str(version), "partitionValues": {}, "dataChange": operation != "OPTIMIZE"}}
            )
        self.versions.setdefault(table.name, []).append((version, [*self.of.get(table.name, ())]))
        if table.location is not None:
            log = table.location / "_delta_log"
            log.mkdir(parents=True, exist_ok=True)
            text = "".join(json.dumps(action) + "\n" for action in actions)
            (log / f"{version:020}.json").write_text(text)
            (log / f"{version:020}.crc").write_text(json.dumps({"metadata": metadata, "tableSizeBytes": 1}))

    def _snapshot(self, table: Table, operation: str, stamp: str | None) -> None:
        known = self.iceberg.setdefault(table.name, Iceberg())
        if operation in _METADATA:
            known.schema += operation in ("CHANGE COLUMN", "ADD COLUMNS", REPLACE)
            known.current = -1 if operation == REPLACE else known.current
        else:
            kind = {"OPTIMIZE": "replace", REPLACE_AS: "append"}.get(operation, "overwrite")
            parent = None if operation == REPLACE_AS or known.current == -1 else known.current
            summary = {"operation": kind} | ({"merge-runner": stamp} if stamp else {})
            known.current = uuid.uuid4().int >> 66
            known.snapshots[known.current] = {
                **{"snapshot-id": known.current, "summary": summary},
                **({"parent-snapshot-id": parent} if parent is not None else {}),
            }
            self.versions.setdefault(table.name, []).append((known.current, [*self.of.get(table.name, ())]))
        self.write(table.name)

    def write(self, name: str) -> None:
        """Write the metadata of an Iceberg table, and have its catalog name the file."""
        known, (catalog, schema, table) = self.iceberg[name], name.split(".")
        known.files += 1
        path = self.warehouse / catalog / schema / table / f"{known.files}.metadata.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            json.dumps(
                {
                    **{"table-uuid": known.uuid, "current-schema-id": known.schema},
                    **{"current-snapshot-id": known.current, "snapshots": [*known.snapshots.values()]},
                }
            )
        )
        with closing(self._catalog()) as connection, connection:
            connection.execute(
                "insert or replace into iceberg_tables values (?, ?, ?, ?)", (*name.split("."), str(path))
            )

    def drop(self, table: Table) -> None:
        """Drop a table with its files."""
        del self.tables[table.name]
        self.of.pop(table.name, None)
        self.versions.pop(table.name, None)
        if table.location is not None:
            shutil.rmtree(table.location)
        if self.iceberg.pop(table.name, None) is not None:
            with closing(self._catalog()) as connection, connection:
                where = "catalog_name = ? and table_namespace = ? and table_name = ?"
                connection.execute(f"delete from iceberg_tables where {where}", table.name.split("."))

    def restore(self, table: Table) -> None:
        """Bring a table back to the rows that it had before those of now; where it had no others it stays."""
        now, known = _counted(self.of.get(table.name, [])), self.iceberg.get(table.name)
        versions = dict(self.versions.get(table.name, []))
        if known is None:
            other = next((version for version in reversed(versions) if _counted(versions[version]) != now), None)
            if other is not None:
                self.of[table.name] = [*versions[other]]
                self.commit(table, "RESTORE")
            return
        at = known.current
        while at is not None and at != -1 and _counted(versions[at]) == now:
            at = known.snapshots[at].get("parent-snapshot-id")
        if at is not None and at != -1:
            known.current = at
            self.of[table.name] = [*versions[at]]
            table.rows = len(self.of[table.name])
            self.write(table.name)

    def _catalog(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.warehouse / "lake.db")
        columns = "catalog_name, table_namespace, table_name, metadata_location"
        keys = "catalog_name, table_namespace, table_name"
        connection.execute(f"create table if not exists iceberg_tables ({columns}, primary key ({keys}))")
        return connection


def _counted(rows: Sequence[Row]) -> Counter[str]:
    return Counter(json.dumps(row, default=str, sort_keys=True) for row in rows)


class SimulatedSession(FakeSession):
    """A session that also reads files, as frames without columns."""

    @property
    def read(self) -> Any:
        """Return a reader of files of any kind."""
        return _Reader()


class _Reader:
    def __getattr__(self, _name: str) -> Callable[..., Any]:
        return lambda *_args, **_options: self

    def load(self, *_paths: Any) -> Frame:
        """Return a frame with the columns of all sources."""
        return Frame((), COLUMNS)

    csv = load


class SimulatedDriver(FakeDriver):
    """A driver of one target: what its statements write is what the oracle makes of the chains' rows."""

    def __init__(self, histories: SimulatedHistories, target: str, lake: SimulatedLake) -> None:
        super().__init__(lake, observe=self._seen, answers={})
        self.histories, self.target, self.simulated = histories, target, lake
        self.views: dict[str, tuple[Expression, ...]] = {}
        """What the staging views ask for, by the name of their chain."""
        self._last = threading.local()
        self.failures = _Failures(self)
        self.answers = _Answers(self, dict(self.answers))

    @contextmanager
    def session(self, confs: Mapping[str, str] | None = None) -> Iterator[FakeSession]:
        """Open a session."""
        yield SimulatedSession(self, confs or {})

    def _seen(self, _session: Any, text: str) -> None:
        self._last.text = text
        found = re.match(r"CREATE OR REPLACE VIEW .*?stg_(m\d+)`? AS", text)
        if found is not None:
            self.views[found[1]] = _conditions_of(text)

    @property
    def text(self) -> str:
        """The statement that this thread runs."""
        return getattr(self._last, "text", "")

    def chain(self, name: str) -> Chain:
        """Return a chain by its name."""
        return next(chain for chain in self.histories.chains if chain.name == name)

    def key(self, name: str) -> str:
        """Return the name of a model's table in the lake."""
        schema = self.histories.schemas[self.target]
        return f"lake.{schema}.{name}" if self.histories.format == "iceberg" else f"{schema}.{name}"

    def rows(self, name: str) -> list[Row]:
        """Return the rows of a model's table."""
        return self.simulated.of.get(self.key(name), [])

    def source(self, chain: Chain) -> list[Row]:
        """Return what the MERGE of a chain reads."""
        return rows_of(chain.query, {"src": self.staged(chain), "this": self.rows(chain.name)})

    def merged(self, chain: Chain, merge: Merge) -> Outcome:
        """Return what a MERGE of a chain makes of its table as it is. Raises MultipleMatchesError."""
        columns = (*COLUMNS, *chain.extra)
        old = [{**dict.fromkeys(columns), **row} for row in self.rows(chain.name)]
        return merged(merge, old, self.source(chain), columns)

    def staged(self, chain: Chain) -> list[Row]:
        """Return the rows of its staging model: those of a table as it was written."""
        if chain.staging == "table":
            return self.rows(f"stg_{chain.name}")
        now = self.histories.conditions(chain)
        return self.passing(chain, self.views.get(chain.name, now) if chain.staging == "view" else now)

    def passing(self, chain: Chain, conditions: Sequence[Expression]) -> list[Row]:
        """Return the rows of its source that pass."""
        rows = self.source_rows(chain)
        return [row for row in rows if all(holds(each, {SIDE: row}) for each in conditions)]

    def source_rows(self, chain: Chain) -> list[Row]:
        """Return the rows of its source; those of a seed as it was loaded."""
        return self.rows(f"src_{chain.name}") if chain.source == "seed" else self.histories.source_rows(chain)

    def summed(self, chain: Chain) -> tuple[list[Row], dict[str, int]]:
        """Return what the MERGE of a join or aggregate makes of its table, and how many rows it changes."""
        tables = {
            "c": self.source_rows(chain),
            "o": self.source_rows(chain.other),
            "this": self.rows(f"sum_{chain.name}"),
        }
        return chain.sums.merged(tables["this"], chain.sums.rows(tables))

    def changes(self, chain: Chain, number: int) -> bool:
        """Return whether the MERGE of a chain would change rows of its table, or fail."""
        try:
            outcome = self.merged(chain, chain.merges[number])
        except MultipleMatchesError:
            return True
        old = [{**dict.fromkeys((*COLUMNS, *chain.extra)), **row} for row in self.rows(chain.name)]
        return _counted(outcome.rows) != _counted(old)

    def sums_change(self, chain: Chain) -> bool:
        """Return the same of the MERGE of a join or aggregate."""
        return _counted(self.summed(chain)[0]) != _counted(self.rows(f"sum_{chain.name}"))

    def counts(self, name: str) -> Mapping[str, int]:
        """Run the statement that writes the table of a model, and return what it has changed."""
        if name.startswith("sum_"):
            self.simulated.of[self.key(name)], counts = self.summed(self.chain(name.removeprefix("sum_")))
            return counts
        chain = self.chain(re.sub("^(stg|by|src)_", "", name))
        if name.startswith("stg_"):
            made = self.passing(chain, self.histories.conditions(chain))
        elif name.startswith("src_"):
            made = chain.rows
        elif name.startswith("by_"):
            made = self.staged(chain) if chain.reads_staging else _grouped(self.rows(chain.name))
        else:
            try:
                outcome = self.merged(chain, chain.merges[-1 if FIRST_TEXT.strip() in self.text else 0])
            except MultipleMatchesError:
                raise raised("fails") from None
            self.simulated.of[self.key(name)] = outcome.rows
            return {"inserted": outcome.inserted, "updated": outcome.updated, "deleted": outcome.deleted}
        self.simulated.of[self.key(name)] = made
        return {"inserted": len(made)}


class _Failures(dict[str, int]):
    """How many rows fail of each data test, when it is asked."""

    def __init__(self, driver: SimulatedDriver) -> None:
        super().__init__()
        self._driver = driver

    def items(self) -> Iterator[tuple[str, int]]:  # type: ignore[override]
        text = self._driver.text
        of_source, name = re.findall(r"\b(src_)?(m\d+)\b", text)[-1]
        if of_source:
            chain = self._driver.chain(name)
            ids = Counter(row["id"] for row in self._driver.source_rows(chain) if row["id"] is not None)
            yield text, sum(count > 1 for count in ids.values())
        elif (least := re.search(r"where n < (\d+)", text)) is not None:
            rows = self._driver.rows(name)
            yield text, sum(row["n"] is not None and row["n"] < int(least[1]) for row in rows)


class _Answers(dict[str, Any]):
    """What queries about a second run give."""

    def __init__(self, driver: SimulatedDriver, fixed: Mapping[str, Any]) -> None:
        super().__init__(fixed)
        self._driver = driver

    def __iter__(self) -> Iterator[str]:
        text = self._driver.text
        if (asked := _asked(text, self._driver)) is not None:
            self[text.lstrip()] = asked
            yield text.lstrip()
        yield from [*self.keys()]


def _conditions(upstream: int, var: int, macro: int, env: int, changes_at: datetime | None) -> tuple[Expression, ...]:
    """Return the conditions of a staging model; from `changes_at` on it has rows with any `n`, None: always."""

    def is_not(column: str, value: int) -> Expression:
        return Call("<>", (Column(SIDE, column), Literal(value)))

    def is_null(column: str) -> Expression:
        return Call("is null", (Column(SIDE, column),))

    found = [
        Call("or", (Call("<", (Column(SIDE, "id"), Literal(upstream))), is_not("n", var))),
        Call("or", (is_null("n"), is_not("n", macro))),
        Call("or", (is_null("id"), is_not("id", env))),
    ]
    if changes_at is not None:
        late = Literal(datetime.now(timezone.utc) >= changes_at.replace(microsecond=0))
        found.append(Call("or", (Call(">", (Column(SIDE, "n"), Literal(2))), late)))
    return tuple(found)


def _conditions_of(text: str) -> tuple[Expression, ...]:
    """Return the conditions of a staging view, whose definition may be that of an earlier build."""
    number = r"(-?\d+)"
    found = re.search(
        rf"id < {number} or n <> {number}\).*?n is null or n <> {number}.*?id is null or id <> {number}",
        text,
        re.DOTALL,
    )
    if found is None:
        raise ValueError(text)
    at = re.search(r"timestamp'(.*?)Z'", text)
    changes_at = datetime.fromisoformat(f"{at[1]}+00:00") if at is not None else None
    return _conditions(*map(int, found.groups()), changes_at)


def _asked(text: str, driver: SimulatedDriver) -> Any:
    """Return the answer to a query about a second run or columns; None: it is another one."""
    of_sums, found = _OF_SUMS.search(text), _OF_CHAIN.findall(text)
    if of_sums is None and (not found or " AS failures" in text):
        return None
    if "SELECT 1 AS changes FROM" in text:
        changes = (
            driver.sums_change(driver.chain(of_sums[1]))
            if of_sums is not None
            else driver.changes(driver.chain(found[-1]), -1 if FIRST_TEXT.strip() in text else 0)
        )
        return [{"changes": 1}] if changes else []
    if "merge_runner_row" in text:
        return []  # the rows of a test that fails, or that several source rows match, which the oracle refuses
    if re.match(r"(WITH\b.*\n)?SELECT \* FROM (\(|src)", text.lstrip(), re.DOTALL | re.IGNORECASE) is not None:
        chain = driver.chain(of_sums[1] if of_sums is not None else found[-1])
        return SUMS if of_sums is not None else {**COLUMNS, **dict.fromkeys(chain.extra, "int")}
    return None


def _grouped(rows: Sequence[Row]) -> list[Row]:
    return [{"n": n, "c": count} for n, count in Counter(row["n"] for row in rows).items()]


class SimulatedHistories(Histories):
    """Histories whose two targets are on fake drivers."""

    def __init__(self, root: Path, table_format: str, seed: int, number: int) -> None:
        self.sources: dict[str, list[Row]] = {}
        self.root_folder = root
        super().__init__(root, None, table_format, seed, number)

    def _write_project(self, root: Path) -> Path:
        for chain in self.chains:
            chain.unit = False
            chain.staging = "ephemeral" if chain.staging == "view" and self.format == "iceberg" else chain.staging
        self.warehouse = root / "warehouse"
        self.warehouse.mkdir(parents=True)
        self.lakes = {target: SimulatedLake(self.warehouse) for target in self.schemas}
        self.drivers = {target: SimulatedDriver(self, target, lake) for target, lake in self.lakes.items()}
        self.raw_lake = SimulatedLake(self.warehouse)
        catalog = "lake." if self.format == "iceberg" else ""
        where = f"warehouse: {self.warehouse}, catalogs: {{lake: {{type: embedded}}}}"
        outputs = ", ".join(
            f"{name}: {{master: 'local[2]', schema: {catalog}{schema}, {where}}}"
            for name, schema in self.schemas.items()
        )
        profiles = {"profiles.yml": f"shop: {{target: plain, outputs: {{{outputs}}}}}\n"}
        return write_project(root, self.own, profiles, self.format)

    def driver_of(self, target: str) -> FakeDriver:
        """Return the driver of a target."""
        return self.drivers[target]

    # What the models ask for

    def conditions(self, chain: Chain) -> tuple[Expression, ...]:
        """Return the conditions of the staging model, as its file has them now."""
        numbers, var = chain.numbers, self.vars.get(f"n_{chain.name}", 0)
        env = int(self.env.get(f"N_{chain.name.upper()}", "-9"))
        return _conditions(
            numbers["upstream"], int(str(var)), numbers["macro"], env, chain.changes_at if chain.reads_clock else None
        )

    def source_rows(self, chain: Chain) -> list[Row]:
        """Return the rows of the source of a chain."""
        return self.raw_lake.of[self._source_name(chain)] if chain.source == "table" else chain.rows

    # Other writers

    def _source_name(self, chain: Chain) -> str:
        return f"lake.{self.raw}.src_{chain.name}" if self.format == "iceberg" else f"{self.raw}.src_{chain.name}"

    def _source(self, chain: Chain) -> str:
        return f"source:{self._source_name(chain)}"

    def _table(self, target: str, name: str) -> str:
        return f"{target}:{self.drivers[target].key(name)}"

    def _found(self, table: str) -> tuple[SimulatedLake, Table | None]:
        where, name = table.split(":")
        lake = self.raw_lake if where == "source" else self.lakes[where]
        return lake, lake.tables.get(name)

    def _exists(self, table: str) -> bool:
        return self._found(table)[1] is not None

    def _write_source(self, chain: Chain, *, new: bool = False) -> None:
        if chain.source != "table":
            return
        name = self._source_name(chain)
        if new:
            location = self.root / "raw" / chain.name if self.format == "delta" else None
            table = Table(name, dict(COLUMNS), location=location)
            for lake in (self.raw_lake, *self.lakes.values()):
                lake.tables[name] = table
            if location is None:
                for driver in self.drivers.values():
                    driver.known.add(name)
            self.raw_lake.commit(table, CREATE)
        self.raw_lake.of[name] = list(chain.rows)
        self.raw_lake.commit(self.raw_lake.tables[name], "WRITE")

    def _write_table(self, table: str, what: str, turn: float = 0.0) -> None:
        lake, found = self._found(table)
        if found is None:
            return
        rows = lake.of.get(found.name, [])
        if what == "restore":
            lake.restore(found)
        elif what == "dropped":
            lake.drop(found)
            for driver in self.drivers.values():
                driver.known.discard(found.name)
        elif what == "compaction":
            lake.commit(found, "OPTIMIZE")
        elif what == "properties":
            lake.commit(found, "SET TBLPROPERTIES")
        elif what in ("comment", "column"):
            lake.commit(found, "CHANGE COLUMN" if what == "comment" else "ADD COLUMNS")
        else:
            statement = int(turn * 3)
            hit = [(row["id"] == 1, row["id"] is not None and row["id"] > 2, True)[statement] for row in rows]
            if statement == 1:
                lake.of[found.name] = [row | {"n": 7} if is_hit else row for row, is_hit in zip(rows, hit, strict=True)]
            else:
                lake.of[found.name] = [row for row, is_hit in zip(rows, hit, strict=True) if not is_hit]
            if any(hit):
                lake.commit(found, "UPDATE" if statement == 1 else "DELETE")

    def _rows(self, target: str, names: list[str]) -> dict[str, Counter[str]]:
        driver = self.drivers[target]
        return {name: _counted(driver.rows(name)) for name in names if self._exists(self._table(target, name))}


def simulated_project(root: Path, driver: object, table_format: str, seed: int, number: int) -> SimulatedHistories:
    """Return histories for `run_histories`; the driver is not needed."""
    return SimulatedHistories(root, table_format, seed, number)
