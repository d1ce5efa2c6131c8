"""The judge against the real engines on random MERGEs: what it says is skipped must be, and nothing else may be.

The facts are one condition each; here conditions are put together in all ways. A MERGE that the engine refuses shows
nothing. Where `static` is said and nothing is skipped, the rows themselves tell whether there was anything to skip.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest

from merge_runner.engine.spark.errors import EngineError
from tests.formats import probe_tables
from tests.formats.engine_scans import Engines
from tests.pruning import judge_report
from tests.pruning.judged_on_engines import compare, judgement_of, make_probes
from tests.pruning.probe_layouts import judged
from tests.pruning.random_merges import COLUMNS, SOURCE, TABLES, random_merges
from tests.reports import write_report

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def engines(driver):
    with driver.session() as session:
        built = Engines(session, "judged")
        make_probes(built)
        yield built


def _enough(counted: Counter[str], number: int) -> None:
    """What is measured shows something: most are taken, nearly all are judged, and both ways."""
    assert counted["refused"] < number / 4, counted
    assert counted["unknown"] < number / 20, counted
    assert min(counted["static"], counted["none"]) > number / 6, counted


def _tiers(few: int, many: int) -> list[object]:
    """How many `make test` measures, and how many `make test-nightly`."""
    return [pytest.param(few, id="few"), pytest.param(many, id="many", marks=pytest.mark.nightly)]


@pytest.mark.parametrize("number", _tiers(16, 120))
@pytest.mark.parametrize("form", ["delta", "iceberg"])
def test_random_merges_are_judged_as_the_engine_prunes(engines, form, number):
    compared = compare(engines, random_merges(form, 1, number))
    write_report(f"judge-{form}-{number}.md", judge_report.table(compared))
    assert [found for found in compared if not found.agrees] == []
    if number > 30:
        _enough(Counter(found.verdict for found in compared), number)


_SOURCES = {
    **{"s.id": "bigint", "s.k": "int", "s.dt": "date", "s.ts": "timestamp", "s.id + 1": "bigint"},
    **{"cast(s.k as smallint)": "smallint", "cast(s.k as tinyint)": "tinyint", "cast(s.id as double)": "double"},
    **{"cast(s.id as float)": "float", "cast(s.id as decimal(12,2))": "decimal(12,2)", "to_date(s.ts)": "date"},
    **{"cast(s.id as decimal(38,10))": "decimal(38,10)", "cast(s.id as string)": "string", "s.k = 5": "boolean"},
    **{"cast(s.dt as string)": "string", "cast(s.ts as timestamp_ntz)": "timestamp_ntz"},
}
"""Expressions on the source's side of a join, and their types."""


_TEXTS = {"region", "s", "v", "same", "differ", "i_s", "bs", "tr"}
"""Columns whose texts are no numbers and no days: Spark refuses to compare them with one when it runs."""


def _bounded(form: str) -> list[tuple[str, str, str, str]]:
    """Joins whose bounds the judge says to skip files: table, column, operator and the source's expression."""
    return [
        (table, column, operator, expression)
        for table in TABLES[form]
        for column in COLUMNS[table]
        for operator in ("=", "<=>")
        for expression in _SOURCES
        if (column not in _TEXTS or _SOURCES[expression] == "string")
        and any(
            bound.prunes
            for bound in judged(
                form,
                probe_tables.TABLES[form][table],
                f"t.{column} {operator} {expression}",
                bounds=[column],
            ).bounds
        )
    ]


def _value(text: str, data_type: str) -> str:
    """A value of the table in the type of the source's expression; `60.0` is no text of an integer."""
    numeric = data_type not in ("date", "string", "boolean", "timestamp", "timestamp_ntz")
    return f"cast(cast('{text}' as double) as {data_type})" if numeric else f"cast('{text}' as {data_type})"


@pytest.mark.parametrize("number", _tiers(8, 60))
@pytest.mark.parametrize("form", ["delta", "iceberg"])
def test_a_bound_makes_the_engine_skip_files(engines, form, number):
    """The values that the runner would find, of the type that the source's expression has."""
    from pyspark.errors.exceptions.captured import CapturedException

    missed, refused = [], 0
    joins = Random(form).sample(_bounded(form), 60)[:number]
    for table, column, operator, expression in joins:
        key = "c1" if table == "two_indexed" else "id"
        name = f"{engines.schemas[form]}.{table}"
        found = engines.session.sql(f"select cast({column} as string) from {name} where {key} in (60, 65)").collect()
        values = ", ".join(_value(value, _SOURCES[expression]) for (value,) in found)
        bound = f"t.{column} in ({values})" + (f" or t.{column} is null" if operator == "<=>" else "")
        on = f"t.{column} {operator} {expression} and ({bound})"
        try:
            before, after = engines.files(form, table, on, "when matched then delete", SOURCE)
        except CapturedException:
            refused += 1  # types that Spark does not compare, or values that it cannot cast
            continue
        if after == before:
            missed.append(on)
    assert missed == []
    assert refused < len(joins) / 2


@pytest.mark.slow
def test_nothing_is_skipped_where_a_clause_is_by_source(engines):
    """Delta decides on that while a MERGE runs; a source without rows changes nothing."""
    merges = random_merges("delta", 1, 60)
    static = [merge for merge in merges if judgement_of(merge).verdict == "static"]
    counts = []
    for merge in static:
        key = "c1" if merge.table == "two_indexed" else "id"
        clauses = f"when matched then delete when not matched by source and t.{key} < -1 then delete"
        assert judgement_of(replace(merge, clauses=clauses)).verdict == "none"
        with suppress(EngineError):  # a constant that Spark cannot cast to the type of the column
            counts.append(engines.run_delta(merge.table, merge.on, clauses, f"{SOURCE} where false"))
        if len(counts) == 6:
            break
    assert len(counts) == 6
    assert [after for _, after in counts] == [before for before, _ in counts]
