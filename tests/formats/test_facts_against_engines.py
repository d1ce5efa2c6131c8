"""Every row of the facts against the real engines, as they are on the installed line of Spark.

A row is one MERGE, analysed, optimised and, up to the choice of the target's files, carried out by the engine's own
code, without running its joins: Delta's MergeIntoCommand gives the predicates that it would skip files by, and the
table's snapshot skips; Iceberg's scan of the target is planned. `test_the_short_way_is_the_real_one` runs whole MERGEs.

`make test` measures, on a few of the tables, a tenth of the rows whose answer differs between the formats and a thirtieth of
the others, chosen by a hash; `make test-slow` measures the first row of each subject on every other table, and a tenth of the
rows of these few; `make test-nightly` measures the rest. `make test-lines` measures on each line what `make test` does, and
all rows that differ by line. Only tables that the selected rows read are created.
"""

from __future__ import annotations

import itertools
import re
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from merge_runner.formats.facts.literals import REFUSED_LITERALS
from merge_runner.formats.facts.table import Fact
from merge_runner.formats.lines import LINES, installed_line
from tests.formats import probe_tables
from tests.formats.engine_scans import CONFS, Engines
from tests.formats.probe_tables import CLAUSES

pytestmark = pytest.mark.spark

_OFTEN = ("data", "parts", "hidden")
"""Tables of the rows in `make test`: every type, and partitions of both formats. The others vary properties."""

_REAL = {
    ("FUNCTIONS", "to_date"),
    ("FUNCTIONS", "upper"),
    ("OPERATORS", "is null"),
    ("OPERATORS", "like prefix"),
    ("PARTITION_FUNCTIONS", "udf"),
    ("SHAPES", "or: partition or data"),
    ("SHAPES", "constant: false"),
    ("SHAPES", "in: list of the smallest and largest"),
}
"""Rows by which `test_the_short_way_is_the_real_one` compares."""


def _sampled(*key: str, one_in: int) -> bool:
    """Whether a tier has the row: one in some, the same ones in each run."""
    return zlib.crc32(" ".join(key).encode()) % one_in == 0


def _answers(form: str, line=None) -> dict[tuple[str, str], str]:
    found = probe_tables.conditions(form, line or installed_line())
    return {(name, fact.subject): fact.answer for name, fact in found}


def _here(*formats: str) -> list[str]:
    """The formats that have a build for the installed line."""
    return [form for form in formats if form in installed_line().formats]


def _conditions(*formats: str):
    answers = {form: _answers(form) for form in ("delta", "iceberg")}
    rows = []
    for form in _here(*formats):
        seen = set()
        by_line = [_answers(form, line) for line in LINES.values()]
        for name, fact in probe_tables.conditions(form, installed_line()):
            if not probe_tables.can_be_asked(fact, installed_line()):
                continue
            key = name, fact.subject
            first = (name, fact.table) not in seen
            seen.add((name, fact.table))
            differs = len({found.get(key, fact.answer) for found in answers.values()}) > 1
            sampled = fact.table in _OFTEN and _sampled(*key, one_in=10 if differs else 30)
            often = sampled or (form == "delta" and key in _REAL)
            once = first and _sampled(fact.table, one_in=2)
            now_and_then = once or (fact.table in _OFTEN and _sampled(*key, one_in=10))
            marks = [] if often else [pytest.mark.slow if now_and_then else pytest.mark.nightly]
            if often or len({found[key] for found in by_line}) > 1:
                marks.append(pytest.mark.lines)
            rows.append(pytest.param(form, name, fact, id=f"{form}-{name}-{fact.subject}", marks=marks))
    return rows


def _clauses():
    rows = []
    for form in ("delta", "iceberg"):
        for fact, place in itertools.product(CLAUSES.facts(form), ("on", "when", "inferred")):
            runs = form == "delta" and "by source" in fact.sql  # a whole MERGE, see below
            often = place == "on" if runs else _sampled(form, fact.subject, place, one_in=2)
            marks = () if often else pytest.mark.slow
            rows.append(pytest.param(form, fact, place, id=f"{form}-CLAUSES-{fact.subject}-{place}", marks=marks))
    return rows


def _selected(request) -> list[dict]:
    """The parameters of the tests of this file that were selected."""
    items = [item for item in request.session.items if item.path == request.path]
    return [item.callspec.params for item in items if hasattr(item, "callspec")]


def _all_rows(request) -> bool:
    """Whether a test was selected that reads all rows of a format."""
    return {"form"} in [of.keys() for of in _selected(request)]


@pytest.fixture(scope="module")
def engines(driver, request):
    with driver.session() as session:
        for key, value in CONFS.items():
            session.conf.set(key, value)
        session.udf.register("probe_upper", lambda text: (text or "").upper(), "string")
        if installed_line() != LINES["3.5"]:  # the first with session variables is 4.0
            session.sql("declare or replace variable probe_k int default 100")
        built = Engines(session, "facts")
        if _all_rows(request):
            read = {(form, name) for form, tables in probe_tables.TABLES.items() for name in tables}
        else:
            read = {(of["form"], of["fact"].table) for of in _selected(request) if "fact" in of}
        built.build(read | {("delta", "data"), ("delta", "small"), *((form, "data") for form in _here("iceberg"))})
        yield built


@pytest.fixture(scope="module")
def measured(request, engines):
    """The rows of the tests that were selected, measured on two threads: files before and after, or the engine's error."""

    def measure(parameter):
        form, _, fact = parameter.values
        try:
            return engines.files(form, fact.table, fact.sql)
        except Exception as error:  # reported with the row that it belongs to
            return str(error)[:500]

    rows = _conditions("delta", "iceberg")
    if not _all_rows(request):
        selected = {(of["form"], of["name"], of["fact"].subject) for of in _selected(request) if "name" in of}
        rows = [row for row in rows if (row.values[0], row.values[1], row.values[2].subject) in selected]
    with ThreadPoolExecutor(2) as threads:
        return {row.id: found for row, found in zip(rows, threads.map(measure, rows), strict=True)}


@pytest.mark.parametrize(("form", "name", "fact"), _conditions("delta", "iceberg"))
def test_the_engine_does_as_the_row_says(measured, form, name, fact):
    found = measured[f"{form}-{name}-{fact.subject}"]
    assert not isinstance(found, str), found
    before, after = found
    assert (after < before) is (fact.answer == "yes"), f"{after} of {before} files: {fact.sql}"


@pytest.mark.nightly
@pytest.mark.parametrize("form", ["delta", "iceberg"])
def test_each_probe_table_can_tell_both(measured, form):
    """A table on which nothing prunes, or everything, would show nothing."""
    seen: dict[str, set[bool]] = {}
    for row in _conditions(form):
        before, after = measured[row.id]
        seen.setdefault(row.values[2].table, set()).add(after < before)
    assert {table for table, kinds in seen.items() if kinds != {True, False}} <= _ONE_SIDED[form]


# Of each of these a twin shows the other side: the same condition on a table with other properties.
_ONE_SIDED = {"delta": {"all_indexed"}, "iceberg": {"wide", "full", "none"}}


@pytest.mark.parametrize(
    ("form", "name", "fact"),
    [row for row in _conditions("delta") if (row.values[1], row.values[2].subject) in _REAL],
)
def test_the_short_way_is_the_real_one(engines, measured, form, name, fact):
    using = "select 1L as id where false"
    ran = engines.run_delta(fact.table, fact.sql, "when matched then delete", using)
    assert ran == measured[f"{form}-{name}-{fact.subject}"]


_DAY = "dt = date'2020-06-02'"


def _clause_runs(fact: Fact) -> dict[str, tuple[str, str, bool]]:
    """Return ON, the clauses and whether the source is filtered, by the place of the condition."""
    bare = fact.sql.replace("{when}", "")
    restricted = fact.sql.replace("{when}", f" and t.{_DAY}")
    return {
        "on": (f"t.id = s.id and t.{_DAY}", bare, False),
        "when": ("t.id = s.id", restricted, False),
        "inferred": ("t.id = s.id and t.dt = s.dt", bare, True),
    }


@pytest.mark.parametrize(("form", "fact", "place"), _clauses())
def test_a_clause_lets_prune_what_the_row_says(engines, form, fact, place):
    on, clauses, filtered = _clause_runs(fact)[place]
    if form == "iceberg":
        using = "select * from ice.facts.data" + (f" where {_DAY}" if filtered else "")
        before, after = engines.iceberg(fact.table, on, clauses, using)
    else:
        # Delta decides on BY SOURCE while it runs, and a source without rows changes nothing.
        using = "select * from facts.data where id < 0" + (f" and {_DAY}" if filtered else "")
        count = engines.run_delta if "by source" in clauses else engines.delta
        before, after = count(fact.table, on, clauses, using)
    assert before >= 10
    assert (after < before) is (place in fact.answer), f"{after} of {before} files"


@pytest.mark.parametrize("subject", ["delete", pytest.param("upsert", marks=pytest.mark.slow)])
def test_the_clause_rows_are_those_of_whole_merges(engines, subject):
    (fact,) = [fact for fact in CLAUSES.facts("delta") if fact.subject == subject]
    for place, (on, clauses, _) in _clause_runs(fact).items():
        before, after = engines.run_delta(fact.table, on, clauses, "select * from facts.data where id < 0")
        assert (after < before) is (place in fact.answer)


_COLUMNS = {
    "tinyint": "tiny",
    "smallint": "small",
    "int": "k",
    "bigint": "id",
    "float": "fl",
    "double": "db",
    "decimal": "de",
    "date": "dt",
    "timestamp": "ts",
    "timestamp_ntz": "ntz",
    "boolean": "flag",
    "binary": "bin",
}
_VALUES = {
    "int": "1",
    "bigint": "1L",
    "decimal": "1.0",
    "double": "1D",
    "string": "'1'",
    "date": "date'2020-06-01'",
    "timestamp": "timestamp'2020-06-01 00:00:00'",
    "timestamp_ntz": "timestamp_ntz'2020-06-01 00:00:00'",
    "boolean": "true",
}


@pytest.mark.parametrize("schema", ["facts", pytest.param("ice.facts", marks=pytest.mark.slow)])
def test_spark_refuses_the_literals_that_are_said_to_be(engines, schema):
    for column, literal in REFUSED_LITERALS:
        with pytest.raises(Exception, match=re.escape("DATATYPE_MISMATCH")):
            engines.session.sql(f"select * from {schema}.data where {_COLUMNS[column]} >= {_VALUES[literal]}")


def test_delta_fails_on_a_char_column_in_a_condition(engines):
    with pytest.raises(Exception, match="DELTA_MERGE_RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT"):
        engines.delta("data", "t.id = s.id and t.c = 'v120x'")
