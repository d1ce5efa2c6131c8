"""Projects of many chains that are built again and again, once with reuse and once without: the tables have to be equal.

A history is one chain through all builds of its project. What is edited between two builds is random, for each chain
separately, so that most of a project has not changed. `python -m tests.run.reuse.history_report` runs many.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from random import Random

from merge_runner import Project
from merge_runner.run.results.results import RunResults
from tests.oracle.generate import COLUMNS
from tests.run.reuse.chain import Chain, row_texts
from tests.written_project import write_project

EDITS = {
    **{
        "nothing": 5,
        "rows": 2,
        "some rows": 3,
        "text": 1,
        "files": 1,
        "times": 1,
        "var": 1,
        "env": 1,
        "macro": 1,
        "upstream": 1,
    },
    **{"severity": 1, "conf": 1, "column": 1, "clock": 2},
    **{"writer": 2, "compaction": 2, "properties": 1, "comment": 1, "restore": 1, "dropped": 1},
    **{"source compaction": 1, "source column": 1, "source restore": 1, "source properties": 1},
}
"""What happens to a chain between two builds, and how often. Writers write its target, or the table that it reads."""
KINDS = {
    "none": ["nothing"],
    "rows": ["rows", "some rows"],
    "files": ["files", "times"],
    "texts": ["text", "macro", "upstream", "severity", "conf"],
    "vars": ["var", "env"],
    "other writers": ["writer", "properties", "comment", "dropped", "source properties"],
    "compaction": ["compaction", "source compaction"],
    "restore": ["restore", "source restore"],
    "schema changes": ["column", "source column"],
    "time": ["clock"],
    "kept records, selection": ["older records", "lost records", "--fresh", "some nodes"],
}
"""The same by kind, and what happens to a whole project."""
_WRITES = {
    "writer": ["delete from {} where id = 1", "update {} set n = 7 where id > 2", "delete from {}"],
    "properties": ["alter table {} set tblproperties (mark = '{mark}')"],
    "comment": ["alter table {} alter column n comment 'mark {mark}'"],
    "column": ["alter table {} add columns (y{mark} int)"],
}
_COMPACTION = {
    "delta": "optimize {}",
    "iceberg": "call lake.system.rewrite_data_files(table => '{}', options => map('rewrite-all', 'true'))",
}
_OF_NUMBERS = {
    **{"upstream": "upstream", "macro": "macro", "env": "env", "severity": "severity"},
    **{"files": "split", "conf": "shuffle"},
}
_EMPTY = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
_TOGETHER = 12
"""How many tables are read by one query."""


@dataclass
class Wrong:
    """A chain whose tables differ, or a node whose result does; all that shows why."""

    text: str


@dataclass
class Seen:
    """Counts of edits, of results of the builds with reuse by status, and of reasons."""

    edits: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    plain: Counter[str] = field(default_factory=Counter)


class Histories:
    """The histories of one project, in two targets: `reusing` is built with reuse, `plain` without."""

    def __init__(self, root: Path, driver, table_format: str, seed: int, number: int) -> None:
        self.random = Random(f"{table_format} {seed}")
        self.driver, self.spark, self.format = driver, getattr(driver, "spark", None), table_format
        self.own = f"{table_format}{seed}"
        self.raw = f"raw_{self.own}"
        self.chains = [Chain(f"m{each}", table_format, f"{table_format} {seed} {each}") for each in range(number)]
        of_tables = [chain for chain in self.chains if chain.source == "table"]
        for chain, other in zip(of_tables, [*of_tables[1:], *of_tables[:1]], strict=True):
            chain.other = other
        self.schemas = {"reusing": f"{self.own}_a", "plain": f"{self.own}_b"}
        self.seen = Seen()
        self.unclear: set[str] = set()
        """Names of chains that have read the clock when it gave other rows: the two builds need not be equal."""
        self.vars: dict[str, object] = {}
        self.env = {name: value for name, value in os.environ.items() if name != "MERGE_RUNNER_REUSE"}
        self._clock, self._mark, self._seconds = 1_700_000_000, 0, 60.0
        self._written: dict[str, str] = {}
        self._records: list[bytes] = []
        self.root = self._write_project(root)
        for chain in self.chains:
            self._write_source(chain, new=True)

    def _write_project(self, root: Path) -> Path:
        warehouse = self.spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")
        catalog = "lake." if self.format == "iceberg" else ""
        where = f"warehouse: {warehouse}, catalogs: {{lake: {{type: embedded}}}}"
        outputs = ", ".join(
            f"{name}: {{master: 'local[2]', schema: {catalog}{schema}, {where}}}"
            for name, schema in self.schemas.items()
        )
        self.warehouse = Path(warehouse)
        profiles = {"profiles.yml": f"shop: {{target: plain, outputs: {{{outputs}}}}}\n"}
        return write_project(root, self.own, profiles, self.format)

    # Edits

    def edit(self) -> list[str]:
        """Change something, or nothing, in each chain; return the edits of the chains as text."""
        edits = []
        for chain in self.chains:
            asked = self.random.choices([*EDITS], [*EDITS.values()], k=self.random.choice([1, 1, 1, 2]))
            asked += ["some rows"] if chain.sums is not None and self.random.random() < 0.6 else []
            done = [what for what in asked if self._edit(chain, what)]
            self.seen.edits.update(done)
            edits.append(f"{chain.name}: {', '.join(done)}")
        return edits

    def _edit(self, chain: Chain, what: str) -> bool:
        """Change a chain; False where it has nothing of the kind."""
        self._mark += 1
        if what in _OF_NUMBERS:
            chain.change_number(_OF_NUMBERS[what])
            self.env[f"N_{chain.name.upper()}"] = str(chain.numbers["env"])
        elif what.startswith("source "):
            return self._edit_source(chain, what.removeprefix("source "))
        elif what in (*_WRITES, "restore", "dropped", "compaction") and what != "column":
            turn = self.random.random()  # one statement for both targets
            for target in self.schemas:
                self._write_table(self._table(target, chain.name), what, turn)
        elif what != "nothing":
            return self._edit_files(chain, what)
        return True

    def _edit_files(self, chain: Chain, what: str) -> bool:
        if what in ("rows", "some rows"):
            chain.change_rows() if what == "rows" else chain.change_some_rows(self.random)
            self._write_source(chain)
        elif what == "text":
            chain.change_text()
        elif what == "column":
            chain.declare_column()
        elif what == "var":
            self.vars[f"n_{chain.name}"] = self.random.randrange(6)
        elif what == "times":
            for path in chain.data():
                self._date(path)
            return chain.source != "table"
        elif what == "clock":
            # One build is before it; a day is known to last where its end is more than a minute away.
            seconds = self._seconds * self.random.choice([1, 1.5, 2])
            chain.change_time(seconds)
            return chain.reads_clock
        else:
            raise ValueError(what)
        return True

    def _edit_source(self, chain: Chain, what: str) -> bool:
        if chain.source != "table":
            return False
        self._write_table(self._source(chain), what)
        return True

    def _write_table(self, table: str, what: str, turn: float = 0.0) -> None:
        """Have another writer do something with a table, if it is there."""
        if not self._exists(table):
            return
        if what == "restore":
            self._restore(table)
        elif what == "dropped":
            self._drop(table)
        elif what == "compaction":
            self.spark.sql(_COMPACTION[self.format].format(table))
        else:
            statements = _WRITES[what]
            self.spark.sql(statements[int(turn * len(statements))].format(table, mark=self._mark))

    def _restore(self, table: str) -> None:
        """Bring a table back to the rows that it had before those of now; where it had no others it stays.

        Not to the version before: a build without reuse may have committed the same rows again.
        """
        if self.format == "delta":
            newest = self.spark.sql(f"describe history {table} limit 1").first()["version"]
            versions = list(range(newest - 1, -1, -1))
            undo = f"restore table {table} to version as of {{}}"
        else:
            ancestors = self.spark.sql(
                f"select snapshot_id from {table}.history where is_current_ancestor order by made_current_at desc"
            ).collect()
            versions = [row[0] for row in ancestors[1:]]
            undo = f"call lake.system.rollback_to_snapshot('{table}', {{}})"
        now = self._texts(table)
        other = next((each for each in versions if self._texts(f"{table} version as of {each}") != now), None)
        if other is not None:
            self.spark.sql(undo.format(other))

    def _texts(self, table: str) -> Counter[str]:
        columns = ", ".join(COLUMNS)  # a version may lack others
        rows = self.spark.sql(f"select to_json(struct({columns}), map('ignoreNullFields', 'false')) from {table}")
        return Counter(row[0] for row in rows.collect())

    def _drop(self, table: str) -> None:
        if self.format == "iceberg":
            self.spark.sql(f"drop table {table} purge")
            return
        path = Path(table.split("`")[1])
        self.spark.sql(f"drop table if exists {path.parent.name}.{path.name}")
        shutil.rmtree(path)

    def _write_source(self, chain: Chain, *, new: bool = False) -> None:
        """Write the rows of a chain whose source is a table."""
        if chain.source != "table":
            return
        table = self._source(chain)
        if new:
            if self.format == "iceberg":
                self.spark.sql(f"create schema if not exists lake.{self.raw}")
            self.spark.sql(f"create table {table} ({_EMPTY}) using {self.format}")
        # By name: another writer may have added columns.
        columns = ", ".join(COLUMNS)
        self.spark.sql(f"delete from {table}")
        if chain.rows:
            self.spark.sql(f"insert into {table} ({columns}) {chain.values()}")

    # Builds

    def driver_of(self, _target: str):
        """Return the driver of a target."""
        return self.driver

    def build(self) -> list[Wrong]:
        """Build both targets; return what differs."""
        self._write_files()
        mode, select = self._how()
        began, results = datetime.now(timezone.utc), {}
        for target in self.schemas:
            project = Project.load(
                self.root, target=target, vars=self.vars, target_path=f"target_{target}", env=self.env
            )
            results[target] = project.build(
                select, driver=self.driver_of(target), lint=False, reuse=mode if target == "reusing" else "off"
            )
        ended = datetime.now(timezone.utc)
        self._seconds = (ended - began).total_seconds()
        self.unclear |= {
            chain.name for chain in self.chains if chain.reads_clock and began <= chain.changes_at <= ended
        }
        self.seen.statuses.update(str(result.status) for result in results["reusing"].results)
        self.seen.plain.update(str(result.status) for result in results["plain"].results)
        return [*self._other_results(**results), *self._other_rows(**results)]

    def _how(self) -> tuple[str, tuple[str, ...]]:
        """Return a mode of reuse and a selection, mostly the usual ones; what is kept of earlier builds may be lost, or old."""
        kept = self.root / "target_reusing" / "reuse.json"
        if kept.exists():
            self._records.append(kept.read_bytes())
        roll = self.random.random()
        if roll < 0.06 and self._records:
            self.seen.edits["older records"] += 1
            kept.write_bytes(self.random.choice(self._records))
        elif roll < 0.08:
            self.seen.edits["lost records"] += 1
            kept.unlink(missing_ok=True)
        elif roll < 0.14:
            self.seen.edits["--fresh"] += 1
            return "fresh", ()
        elif roll < 0.26 and self._records:
            self.seen.edits["some nodes"] += 1
            chosen = self.random.sample(self.chains, k=max(1, len(self.chains) * 2 // 3))
            return "auto", tuple(
                f"{self.random.choice(['', '+'])}{chain.name}{self.random.choice(['', '+'])}" for chain in chosen
            )
        return "auto", ()

    def _write_files(self) -> None:
        files: dict[str, str] = {}
        for chain in self.chains:
            files |= chain.files(self.raw) | chain.data()
        for path in self._written.keys() - files.keys():
            del self._written[path]
            (self.root / path).unlink()
        for path, text in files.items():
            if self._written.get(path) != text:
                self._written[path] = text
                (self.root / path).parent.mkdir(exist_ok=True, parents=True)
                (self.root / path).write_text(text)
                self._date(path)

    def _date(self, path: str) -> None:
        self._clock += 1
        if (self.root / path).exists():
            os.utime(self.root / path, (self._clock, self._clock))  # not just now: a file is known by its time

    # What they have made

    def _other_results(self, reusing: RunResults, plain: RunResults) -> Iterable[Wrong]:
        """Yield the nodes that fail in one build alone, and the tests that are left out and do not pass."""
        statuses = {result.unique_id: result.status for result in plain.results}
        for result in reusing.results:
            other = statuses[result.unique_id]
            clear = self._chain_of(result.unique_id) not in self.unclear
            if clear and not _agree(str(result.status), str(other), is_test="test." in result.unique_id):
                yield Wrong(f"{result.unique_id}: {result.status} ({result.message}), without reuse {other}")

    def _chain_of(self, unique_id: str) -> str:
        words = unique_id.replace(".", "_").split("_")
        return next((chain.name for chain in self.chains if chain.name in words), "")

    def _other_rows(self, reusing: RunResults, plain: RunResults) -> Iterable[Wrong]:
        """Yield the tables that differ."""
        names = [
            *(chain.name for chain in self.chains),
            *(f"by_{chain.name}" for chain in self.chains if chain.read),
            *(f"sum_{chain.name}" for chain in self.chains if chain.sums is not None),
        ]
        found = {target: self._rows(target, names) for target in self.schemas}
        for name in names:
            chain = next(each for each in self.chains if each.name == name.removeprefix("by_").removeprefix("sum_"))
            one, other = (found[target].get(name) for target in self.schemas)
            if one != other and chain.name not in self.unclear:
                said = "; ".join(
                    f"{result.unique_id}: {result.status} {result.message}"
                    for result in reusing.results
                    if self._chain_of(result.unique_id) == chain.name
                )
                rows = "\n".join(f"{target}: {found[target].get(name)}" for target in self.schemas)
                files = "\n".join(
                    f"--- {path}\n{text}" for path, text in {**chain.files(self.raw), **chain.data()}.items()
                )
                yield Wrong(f"{name}: {said}\n{rows}\n{files}\n--- rows\n{row_texts(chain.rows)}")

    def _rows(self, target: str, names: list[str]) -> dict[str, Counter[str]]:
        """Return the rows of the tables that are there, as texts, by name."""
        found = {name: Counter[str]() for name in names if self._exists(self._table(target, name))}
        there = [*found]
        for first in range(0, len(there), _TOGETHER):
            query = " union all ".join(
                f"select '{name}' as of_table, to_json(struct(*), map('ignoreNullFields', 'false')) as cells "
                f"from {self._table(target, name)}"
                for name in there[first : first + _TOGETHER]
            )
            for name, cells in self.spark.sql(query).collect():
                found[name][cells] += 1
        return found

    # Names

    def _table(self, target: str, name: str) -> str:
        schema = self.schemas[target]
        return f"lake.{schema}.{name}" if self.format == "iceberg" else f"delta.`{self.warehouse}/{schema}/{name}`"

    def _source(self, chain: Chain) -> str:
        if self.format == "iceberg":
            return f"lake.{self.raw}.src_{chain.name}"
        return f"delta.`{self.root}/raw/{chain.name}`"

    def _exists(self, table: str) -> bool:
        """Whether a table is there, without asking merge_runner or a session that may remember one."""
        if self.format == "delta":
            return any((Path(table.split("`")[1]) / "_delta_log").glob("*.json"))
        _, schema, name = table.split(".")
        query = "select 1 from iceberg_tables where table_namespace = ? and table_name = ?"
        with closing(sqlite3.connect(f"file:{self.warehouse}/lake.db?mode=ro", uri=True)) as connection:
            return connection.execute(query, (schema, name)).fetchone() is not None


def _agree(reusing: str, plain: str, *, is_test: bool) -> bool:
    """Whether the statuses of a node are those of equal builds."""
    if reusing == "no-op":
        return plain == "pass" if is_test else plain in ("success", "no-op")
    return reusing == plain


def run_histories(
    root: Path, driver, table_format: str, seed: int, number: int, builds: int, make=Histories
) -> tuple[list[Wrong], Seen]:
    """Build a project of so many chains so often; return what was wrong in the first build with a difference, and the counts.

    `make` makes the histories.
    """
    histories, edits = make(root, driver, table_format, seed, number), []
    for build in range(builds):
        if build:
            edits.append(f"before build {build}: " + "; ".join(histories.edit()))
        wrong = histories.build()
        if wrong:
            return [
                Wrong(f"{table_format}, seed {seed}, build {build}: {each.text}\n" + "\n".join(edits)) for each in wrong
            ], histories.seen
    histories.seen.edits["unclear"] += len(histories.unclear)
    return [], histories.seen
