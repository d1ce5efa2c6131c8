"""Projects of tables that random MERGEs are built into, compared with the oracle after each build."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from unittest import mock

from merge_runner import Project
from tests.oracle.expression import Call, Column, Expression, Literal, Row, Value
from tests.oracle.generate import COLUMNS, Generator
from tests.oracle.merge import Clause, Insert, Merge, MultipleMatchesError, Outcome
from tests.oracle.query import SIDE, Arm, Query, rows_of
from tests.oracle.spark_sql import merge_text
from tests.oracle.tables import INTERNAL, REFUSED, UNREAD, Mode, counted, listed, outcome_on, read

TABLES = 20
"""Tables of one project at most."""
_SOURCE_TYPES = COLUMNS | {"id": "int", "n": "bigint", "of_case": "string"}
_SOURCES = {
    "src": "{{ ref('src') }}",
    "src_view": "{{ ref('src_view') }}",
    "src_eph": "{{ ref('src_eph') }}",
    "file": "{{ source('raw', 'src') }}",
    "this": "{{ this }}",
}
_LAYOUTS = {
    "delta": ["d", "d", "w", "w", "n", "id", "f", "m", "d, f", "", "cluster n", "cluster d"],
    "iceberg": ["d", "d", "w", "n", "id", "f", "d, w", "", "bucket(3, id)", "truncate(1, w)", "months(d)"],
}
_ALIASES = ({"t": "t", "s": "s"}, {"t": "target", "s": "src"}, {"t": "`the target`", "s": "`the source`"})


@dataclass
class Case:
    """A table, what the oracle knows of it, and the MERGE of this round."""

    name: str
    table_format: str
    make: Generator
    runtime_filters: bool = True
    config: dict[str, object] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    feed: bool = False
    rows: list[Row] = field(default_factory=list)
    merge: Merge | None = None
    query: Query | None = None
    given: list[Row] = field(default_factory=list)
    text: str = ""

    def __post_init__(self) -> None:
        random = self.make.random
        layout = random.choice(_LAYOUTS[self.table_format])
        self.keys = [name for name in COLUMNS if re.search(rf"\b{name}\b", layout)]
        if layout:
            key = "cluster_by" if layout.startswith("cluster") else "partition_by"
            self.config[key] = re.split(r", (?![^(]*\))", layout.removeprefix("cluster "))
        self.config["low_shuffle"] = random.random() < 0.5
        self.config["bounds"] = random.choice(["auto", "auto", self.keys or ["id"], ["id", "d"]])
        if not self.runtime_filters:
            self.config["bounds"] = "off"
        self.feed = self.table_format == "delta" and random.random() < 0.5
        if self.feed:
            self.config["properties"] = {"delta.enableChangeDataFeed": "true"}

    @property
    def partition(self) -> list[str]:
        """The columns by whose values the table is partitioned."""
        return [name for name in self.config.get("partition_by", ()) if name in COLUMNS]

    @property
    def mode(self) -> Mode:
        """How its MERGE is run."""
        if self.table_format == "delta":
            return "delta"
        return "merge-on-read" if self.config["low_shuffle"] else "copy-on-write"

    def fill(self) -> None:
        """The first MERGE: every row is new."""
        self.merge = Merge(
            Call("=", (Column("t", "id"), Column("s", "id"))), (Clause("not matched", None, Insert(None)),)
        )
        self.query = Query((self._arm("src"),))
        self.given = self.make.rows(10)
        self._write()

    def change(self) -> None:
        """Another MERGE, and other rows for it."""
        make, random = self.make, self.make.random
        self.merge = make.merge(self.keys)
        first = random.choice(["src", "src", "src_view", "src_eph", "file"])
        tables = [first, *(name for name in ("this", "src_view") if name != first and random.random() < 0.08)]
        self.query = make.query(tables, {name: self._within for name in tables if name != "this"}, newer_than="this")
        self.given = make.rows(7, self.rows, ["id", *self.keys], unique=random.random() < 0.8)
        self._write()

    def _write(self) -> None:
        random = self.make.random
        config = ", ".join(f"{key}={value!r}" for key, value in self.config.items())
        aliases, cte = random.choice(_ALIASES), random.random() < 0.15
        text = merge_text(self.merge, "{{ this }}", self.query, _SOURCES.__getitem__, aliases, cte=cte)
        self.text = f"{{{{ config({config}) }}}}\n{text}\n"

    @property
    def _within(self) -> Expression:
        return Call("=", (Column(SIDE, "of_case"), Literal(self.name)))

    def _arm(self, table: str) -> Arm:
        return Arm(table, self._within, tuple((name, Column(SIDE, name)) for name in COLUMNS))

    def outcome(self, source: list[Row]) -> Outcome:
        """What is to become of the table. Raises MultipleMatchesError."""
        tables = {name: self.rows if name == "this" else source for name in _SOURCES}
        rows = rows_of(self.query, tables)
        return outcome_on(self.mode, self.partition, self.merge, self.rows, rows)


@dataclass
class Built:
    """What builds have shown: differences from the oracle, and counts of what the MERGEs did."""

    problems: list[str] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)


def random_builds(
    make_project, driver, table_format: str, seed: int, merges: int, rounds: int, *, twins: bool = False
) -> Iterator[Built]:
    """Build at least so many random MERGEs, so many into each table; give what each project has shown.

    `twins`: each table has another of the same rows and MERGEs, which are run without runtime filters. A project whose
    tables differ from the oracle's is given up.
    """
    wanted = -(-merges // rounds)
    for start in range(0, wanted, TABLES):
        numbers = range(start, min(start + TABLES, wanted))
        random = Random(f"{table_format} {seed} {start}")
        cases = [
            Case(f"{kind}{number}", table_format, _generator(table_format, seed, number), kind == "c")
            for number in numbers
            for kind in (("c", "plain") if twins else ("c",))
        ]
        with mock.patch("merge_runner.engine.merge.runtime_filter.SMALL", 0):  # all tables are
            shop = Shop(make_project, driver, table_format, cases)
            yield Built(shop.build_rounds(rounds, random), shop.seen)


def _generator(table_format: str, seed: int, number: int) -> Generator:
    return Generator(Random(f"{table_format} {seed} {number}"), texts=["", " a"])


class Shop:
    """A project of many tables that are merged into."""

    def __init__(self, make_project, driver, table_format: str, cases: list[Case]) -> None:
        self.driver = driver
        self.cases = cases
        self.seen: Counter[str] = Counter()
        columns = ", ".join(f"{{name: {name}, data_type: '{kind}'}}" for name, kind in COLUMNS.items())
        given = ", ".join(f"{{name: {name}, data_type: '{kind}'}}" for name, kind in _SOURCE_TYPES.items())
        models = "".join(f"\n  - {{name: {case.name}, columns: [{columns}]}}" for case in cases)
        view = "view" if table_format == "delta" else "ephemeral"  # Iceberg's catalog of files has no views
        files = {
            "models/m.yml": f"version: 2\nmodels:{models}\n"
            f"sources: [{{name: raw, tables: [{{name: src, path: data/src.json, columns: [{given}]}}]}}]\n",
            "models/src.sql": "{{ config(materialized='table') }} select * from {{ source('raw', 'src') }}",
            "models/src_view.sql": f"{{{{ config(materialized='{view}') }}}} select * from {{{{ ref('src') }}}}",
            "models/src_eph.sql": "{{ config(materialized='ephemeral') }} select * from {{ ref('src') }}",
        }
        self.root = make_project(files, table_format)
        (self.root / "data").mkdir()

    def build_rounds(self, rounds: int, random: Random) -> list[str]:
        """Build new tables and so many MERGEs into each, up to the first that differ from the oracle."""
        for place in range(rounds + 1):
            for case in self.cases:
                case.change() if place else case.fill()
            self.write()
            committed: set[str] = set()
            batch_id = place if random.random() < 0.3 else None
            for _ in range(1 if random.random() < 0.6 or not place else 2):
                problems = self.build(batch_id, committed)
                if problems:
                    return [f"round {place}: {problem}" for problem in problems]
        return []

    def write(self) -> None:
        """The models and rows of this round."""
        rows = [{**row, "of_case": case.name} for case in self.cases for row in case.given]
        (self.root / "data/src.json").write_text("".join(json.dumps(row, default=str) + "\n" for row in rows))
        for case in self.cases:
            (self.root / f"models/{case.name}.sql").write_text(case.text)

    def build(self, batch_id: int | None, committed: set[str]) -> list[str]:
        """Builds, and gives every difference from what the oracle says. `committed` have done the batch already."""
        source = [{**row, "of_case": case.name} for case in self.cases for row in case.given]
        project = Project.load(self.root)
        results = project.build(driver=self.driver, lint=False, batch_id=batch_id)
        names = {case.name: str(project.graph.nodes[f"model.shop.{case.name}"].relation) for case in self.cases}
        problems = []
        changes: dict[str, tuple[str, Outcome]] = {}
        for case in self.cases:
            result = results[case.name]
            response = result.adapter_response
            told = f"{result.status} {result.message} {json.dumps(response, default=str)}"
            before = case.rows
            try:
                outcome = case.outcome(source)
            except MultipleMatchesError:
                outcome = None
            if case.name in committed:
                self.seen["no-op"] += 1
                problem = "" if result.status == "no-op" else "the batch is done already"
            elif result.status == "error" and (why := _left_alone(case, result.message or "")) is not None:
                self.seen[why] += 1
                problem = ""  # below, its table has the rows of before
            elif outcome is None:
                self.seen["refused"] += 1
                refused = result.status == "error" and re.search(REFUSED, result.message or "")
                problem = "" if refused else "several rows match one"
            elif result.status != "success":
                problem = "it is a MERGE like any other"
            else:
                case.rows = outcome.rows
                expected = {kind: getattr(outcome, kind) for kind in ("inserted", "updated", "deleted")}
                problem = _counts(response, expected)
                self._see(case, response, outcome)
                if batch_id is not None:
                    committed.add(case.name)
                if case.feed and response.get("table_version") is not None:
                    version = response["table_version"]
                    changes[case.name] = (f"table_changes('{names[case.name]}', {version}, {version})", outcome)
            if problem:
                ran = _ran(self.root, case)
                problems.append(_described(case, problem, f"{told}\n{ran}", before, source))
        found = read(self.driver.spark, names)
        for case in self.cases:
            if found[case.name] != listed(case.rows):
                told = f"{results[case.name].message}\n{_ran(self.root, case)}\ntable:  {_rows(found[case.name])}"
                problems.append(_described(case, "its rows", f"{told}\noracle: {_rows(listed(case.rows))}", [], source))
        return problems + self._feeds(changes, source)

    def _feeds(self, changes: dict[str, tuple[str, Outcome]], source: list[Row]) -> list[str]:
        if not changes:
            return []
        columns = ", ".join(["_change_type", *COLUMNS])
        text = "\nunion all ".join(f"select '{name}', {columns} from {given}" for name, (given, _) in changes.items())
        found: dict[str, list[object]] = {name: [] for name in changes}
        for name, *row in self.driver.spark.sql(text).collect():
            found[name].append(row)
        problems = []
        for case in self.cases:
            if case.name in changes:
                outcome = changes[case.name][1]
                self.seen["changes"] += len(outcome.changes)
                expected = counted([kind, *(row[name] for name in COLUMNS)] for kind, row in outcome.changes)
                if counted(found[case.name]) != expected:
                    told = f"feed:   {_rows(counted(found[case.name]))}\noracle: {_rows(expected)}"
                    problems.append(_described(case, "its change feed", told, [], source))
        return problems

    def _see(self, case: Case, response, outcome: Outcome) -> None:
        bounded, reads_target = bool(response["bounds"]), case.query.reads("this")
        self.seen.update(merges=1, changed=bool(outcome.changes), bounded=bounded, reads_target=reads_target)
        self.seen.update(reads_target_and_bounded=reads_target and bounded, plain=not case.runtime_filters)
        self.seen.update(staged=response["staged"], pinned=bool(response["pins"]))
        self.seen.update(inserted=outcome.inserted, updated=outcome.updated, deleted=outcome.deleted)


def _left_alone(case: Case, message: str) -> str | None:
    """Why the engine has not run a MERGE that is one like any other."""
    if case.query.reads("this") and re.search(UNREAD, message):
        return "unread"
    return "internal" if re.search(INTERNAL, message) else None


def _counts(response, expected: dict[str, int]) -> str:
    told = {kind: response[f"rows_{kind}"] for kind in expected}
    if told == expected or (set(told.values()) == {None} and not any(expected.values())):
        return ""
    return f"counts: told {told}, but {expected}"


def _ran(root, case: Case) -> str:
    path = root / f"target/run/shop/models/{case.name}.sql"
    return path.read_text() if path.exists() else ""


def _rows(rows: Counter[tuple[object, ...]]) -> str:
    return "; ".join(sorted(f"{_row(row)} x{number}" for row, number in rows.items()))


def _row(row: tuple[Value, ...]) -> str:
    return ", ".join(str(value) if isinstance(value, Decimal) or value is None else repr(value) for value in row)


def _described(case: Case, problem: str, told: str, before: list[Row], source: list[Row]) -> str:
    given = [row for row in source if row["of_case"] == case.name]
    lines = [f"{case.name}: {problem}", case.text, told, "before:", *map(str, before), "given:", *map(str, given)]
    return "\n".join(lines)
