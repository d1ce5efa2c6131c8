"""The rows of the facts, and the small tables that show them: ten files or more, whose values do not overlap.

Every table is made of the numbers 0 to 239 in ten files (`f`, 0 to 9) of 24 rows (`i`, 0 to 23). What a file holds is
determined by `f`, so that an engine that can use a condition has files to skip.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from merge_runner.formats import facts
from merge_runner.formats.facts.table import Fact, FactTable, Varies
from merge_runner.formats.lines import LINES, RECOMMENDED, Line
from tests.yaml_data import read_yaml

_RECORDED = Path(__file__).with_name("facts")

_DT = "make_date(2015 + f, 1 + f, 1 + i)"
_DATA = {
    "id": ("bigint", "id"),
    "nn": ("bigint not null", "id"),
    "flag": ("boolean", "f >= 5"),
    "tiny": ("tinyint", "cast(id div 2 as tinyint)"),
    "small": ("smallint", "cast(id as smallint)"),
    "k": ("int", "cast(id as int)"),
    "fl": ("float", "cast(id as float)"),
    "db": ("double", "cast(id as double)"),
    "de": ("decimal(10,2)", "cast(id as decimal(10,2))"),
    "s": ("string", "concat('v', lpad(id, 3, '0'))"),
    "v": ("varchar(20)", "concat('v', lpad(id, 3, '0'))"),
    "c": ("char(5)", "concat('v', lpad(id, 3, '0'), 'x')"),
    "bin": ("binary", "cast(concat('v', lpad(id, 3, '0')) as binary)"),
    "dt": ("date", _DT),
    "ts": ("timestamp", f"cast({_DT} as timestamp) + make_interval(0, 0, 0, 0, i)"),
    "ntz": ("timestamp_ntz", f"cast({_DT} as timestamp_ntz) + make_interval(0, 0, 0, 0, i)"),
    "day": ("date", "make_date(2020, 1, 1 + 3 * f + i % 3)"),
    "arr": ("array<int>", "array(cast(id as int))"),
    "m": ("map<string,int>", "map('a', cast(id as int))"),
    "va": ("variant", "parse_json(cast(id as string))"),
    "st": ("struct<a:int,b:string>", "named_struct('a', cast(id as int), 'b', cast(id as string))"),
    "same": ("string", "concat(repeat('x', 40), f)"),
    "differ": ("string", "concat(f, repeat('x', 40))"),
    "digits": ("string", "cast(1000 + id as string)"),
    "vdigits": ("varchar(20)", "cast(1000 + id as string)"),
    "day_text": ("string", f"cast({_DT} as string)"),
    "vday": ("varchar(20)", f"cast({_DT} as string)"),
    "yes_no": ("string", "cast(f >= 5 as string)"),
    "one": ("int", "f"),
    "gone": ("int", "if(f = 0, null, cast(id as int))"),
}
"""Every type, with the values of a file between those of its neighbours. All are within Delta's 32 leaves."""

_PARTITIONS = {
    "id": ("bigint", "id"),
    "k": ("int", "cast(id as int)"),
    "dt": ("date", "make_date(2015 + f, 1 + f, 1 + 2 * f)"),
    "ts": ("timestamp", "cast(make_date(2015 + f, 1 + f, 1 + 2 * f) as timestamp) + make_interval(0, 0, 0, 0, i)"),
    "region": ("string", "if(f = 9, null, element_at(array('east', 'north', 'west'), cast(1 + i div 8 as int)))"),
    "n": ("int", "f"),
    "open": ("boolean", "f >= 5"),
    "p_ts": ("timestamp", "cast(make_date(2015 + f, 1 + f, 1 + 2 * f) as timestamp)"),
}

_HIDDEN_TS = "cast(make_date(2015 + f, 1 + f, 1) as timestamp) + make_interval(0, 0, 0, 0, i)"
_HIDDEN = {
    "id": ("bigint", "id"),
    "i_s": ("string", "concat('v', f)"),
    "y": ("timestamp", _HIDDEN_TS),
    "mo": ("timestamp", _HIDDEN_TS),
    "d": ("timestamp", _HIDDEN_TS),
    "h": ("timestamp", "timestamp'2020-01-01 00:00:00' + make_interval(0, 0, 0, 0, f, i)"),
    "b": ("bigint", "cast(f as bigint)"),
    "bs": ("string", "concat('v', f)"),
    "tr": ("string", "concat('v', f, lpad(i, 2, '0'))"),
    "tn": ("int", "cast(100 * f + i as int)"),
}


@dataclass(frozen=True)
class ProbeTable:
    """One probe table: its columns as name, type and value, made of `id`, `f` and `i`."""

    columns: dict[str, tuple[str, str]]
    partitioned_by: str = ""
    properties: dict[str, str] = field(default_factory=dict)
    generated: dict[str, str] = field(default_factory=dict)

    def on(self, line: Line) -> ProbeTable:
        """The table as a line of Spark can have it."""
        if line != LINES["3.5"]:
            return self
        return replace(self, columns={name: each for name, each in self.columns.items() if each[0] != "variant"})

    def ddl(self, name: str, using: str, extra: dict[str, str]) -> str:
        """The CREATE TABLE statement."""
        columns = ", ".join(
            f"{column} {data_type}"
            + (f" generated always as ({self.generated[column]})" if column in self.generated else "")
            for column, (data_type, _) in self.columns.items()
        )
        partitioned = f"partitioned by ({self.partitioned_by})" if self.partitioned_by else ""
        properties = ", ".join(f"'{key}' = '{value}'" for key, value in (self.properties | extra).items())
        return f"create table {name} ({columns}) using {using} {partitioned}" + (
            f" tblproperties ({properties})" if properties else ""
        )

    @property
    def select(self) -> list[str]:
        """The expressions of its columns."""
        return [f"{value} as {column}" for column, (_, value) in self.columns.items()]


def _only(*names: str) -> dict[str, tuple[str, str]]:
    return {name: _DATA[name] for name in names}


def _nullable(columns: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    return {
        name: (data_type, value if name in ("id", "nn") else f"if(f = 0 and i % 2 = 0, null, {value})")
        for name, (data_type, value) in columns.items()
    }


def _numbers(first: int, last: int) -> dict[str, tuple[str, str]]:
    return {f"c{number}": ("int", "cast(id as int)") for number in range(first, last + 1)}


_THIRTY_ONE = ",".join(f"a{number}:int" for number in range(1, 32))
_THIRTY_ONE_VALUES = ", ".join(f"'a{number}', cast(id as int)" for number in range(1, 32))

_SMALL = ProbeTable({**_only("id", "k", "dt"), "n": ("int", "f")}, "n")
_SHARED = {
    "data": ProbeTable(_nullable(_DATA)),
    "parts": ProbeTable(_PARTITIONS, "dt, region, n, open, p_ts"),
    "wide": ProbeTable(_nullable(_numbers(1, 34))),
    "small": _SMALL,
}

DELTA = {
    **_SHARED,
    "wide_struct": ProbeTable(
        {"st": (f"struct<{_THIRTY_ONE}>", f"named_struct({_THIRTY_ONE_VALUES})"), **_numbers(1, 2)}
    ),
    "wide_lists": ProbeTable(
        {
            "arr": ("array<int>", "array(cast(id as int))"),
            "m": ("map<string,int>", "map('a', cast(id as int))"),
            "va": ("variant", "parse_json(cast(id as string))"),
            "rows": ("array<struct<a:int,b:int>>", "array(named_struct('a', cast(id as int), 'b', cast(id as int)))"),
            **_numbers(1, 29),
        }
    ),
    "wide_parted": ProbeTable({"n": ("int", "f"), **_numbers(1, 33)}, "n"),
    "named": ProbeTable(
        {**_numbers(1, 33), "same": _DATA["same"]},
        properties={"delta.dataSkippingStatsColumns": "c33, same", "delta.dataSkippingStringPrefixLength": "64"},
    ),
    "all_indexed": ProbeTable(_numbers(1, 33), properties={"delta.dataSkippingNumIndexedCols": "-1"}),
    "two_indexed": ProbeTable(_numbers(1, 3), properties={"delta.dataSkippingNumIndexedCols": "2"}),
    "generated": ProbeTable(
        {"id": _DATA["id"], "ts": _PARTITIONS["ts"], "dt": ("date", "cast(ts as date)")},
        "dt",
        {"delta.dataSkippingStatsColumns": "id"},
        {"dt": "cast(ts as date)"},
    ),
}

_OFF = {"write.metadata.metrics.default": "none"}

ICEBERG = {
    **_SHARED,
    "data": ProbeTable(_nullable(_DATA), properties={"format-version": "3"}),
    "hidden": ProbeTable(
        _HIDDEN,
        "i_s, years(y), months(mo), days(d), hours(h), bucket(8, b), bucket(8, bs), truncate(2, tr), truncate(100, tn)",
        _OFF,
    ),
    "nulls": ProbeTable(
        {
            "id": ("bigint", "id"),
            **{name: (_HIDDEN[name][0], f"if(f = 0, null, {_HIDDEN[name][1]})") for name in ("b", "d", "tr")},
        },
        "bucket(8, b), days(d), truncate(2, tr)",
        _OFF,
    ),
    "small_mor": ProbeTable(_SMALL.columns, "n", {"write.merge.mode": "merge-on-read"}),
    "counts": ProbeTable(_only("id", "k", "gone"), properties={"write.metadata.metrics.default": "counts"}),
    "none": ProbeTable(_only("id", "k", "gone"), properties=_OFF),
    "full": ProbeTable(_only("id", "k", "same"), properties={"write.metadata.metrics.default": "full"}),
    "one_off": ProbeTable(_only("id", "k", "gone"), properties={"write.metadata.metrics.column.k": "none"}),
    "one_on": ProbeTable(_only("id", "k", "gone"), properties={**_OFF, "write.metadata.metrics.column.k": "full"}),
    "limited": ProbeTable(
        _only("id", "k", "gone"), properties={"write.metadata.metrics.max-inferred-column-defaults": "1"}
    ),
    "limited_struct": ProbeTable(
        {"st": _DATA["st"], **_only("id", "k")}, properties={"write.metadata.metrics.max-inferred-column-defaults": "3"}
    ),
}

TABLES = {"delta": DELTA, "iceberg": ICEBERG}

_NOT_ON_3_5 = re.compile(r"\bt\.va\b|\bprobe_k\b")
"""What Spark 3.5 has not got: VARIANT and session variables."""
_NO_TABLE_ON_3_5 = ("generated", "named")
"""Delta 3.3.3 has no generated columns in DDL, and no `delta.dataSkippingStringPrefixLength`."""


def can_be_asked(fact: Fact, line: Line) -> bool:
    """Whether a line of Spark has all that shows a fact."""
    return line != LINES["3.5"] or not (fact.table in _NO_TABLE_ON_3_5 or _NOT_ON_3_5.search(fact.sql))


def fact_tables() -> Iterator[tuple[str, FactTable]]:
    """Yield every table, with its name: those of the package `facts`, and those that only tests read."""
    for module in pkgutil.iter_modules(facts.__path__):
        members = vars(importlib.import_module(f"{facts.__name__}.{module.name}"))
        yield from ((name, table) for name, table in members.items() if isinstance(table, FactTable))
    yield from ((path.stem.upper(), _recorded(path)) for path in sorted(_RECORDED.glob("*.yml")))


def _recorded(path: Path) -> FactTable:
    data = read_yaml(path)
    return FactTable(data["sources"], {key: _row(*row) for key, row in data["rows"].items()}, data["table"])


def _row(sql, answer, on=None):
    """A row of a file: SQL, the answer, and where lines of Spark differ, their answers."""
    return sql, (answer if on is None else Varies(answer, on))


CLAUSES = _recorded(_RECORDED / "clauses.yml")
"""By the clauses of a MERGE, where a condition on the target prunes."""


def conditions(table_format: str, line: Line = RECOMMENDED) -> Iterator[tuple[str, Fact]]:
    """Yield the facts about one condition in ON on a line of Spark, each with the name of its table."""
    for name, table in fact_tables():
        if name != "CLAUSES":
            yield from ((name, fact) for fact in table.facts(table_format, line))
