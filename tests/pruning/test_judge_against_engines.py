"""The judge against the real engines on random MERGEs: what it says is skipped must be, and nothing else may be.

The facts are one condition each; here conditions are put together in all ways. A MERGE that the engine refuses shows
nothing. Where `static` is said and nothing is skipped, the rows themselves tell whether there was anything to skip.
"""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from merge_runner.pruning.verdict import Condition, Judgement

pytestmark = pytest.mark.spark


def _load(path: str):
    spec = importlib.util.spec_from_file_location(f"random_{Path(path).stem}", Path(__file__).parents[1] / path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a dataclass looks its module up
    spec.loader.exec_module(module)
    return module


random_merges = _load("pruning/random_merges.py")
against_facts = _load("pruning/test_judge_against_facts.py")
engine_facts = _load("formats/test_facts_against_engines.py")
_FILE = {"delta": "input_file_name()", "iceberg": "_file"}
_ROW = "select 5L id, 5 k, date'2020-06-02' dt, timestamp'2020-06-02 00:00:00' ts, 5 n"


@pytest.fixture(scope="module")
def engines(driver):
    with driver.session() as session:
        for key, value in engine_facts._CONFS.items():
            session.conf.set(key, value)
        built = engine_facts.Engines(session, "judged")
        for form in built.schemas:
            for name in random_merges.TABLES[form]:
                built.make(name, form, against_facts.TABLES[form][name])
        session.sql(f"create table judged.src using parquet as {_ROW}")
        yield built


def _judged(merge) -> Judgement:
    tables = against_facts.TABLES[merge.form]
    return against_facts.judged(merge.form, tables[merge.table], merge.on, merge.clauses)


def _conditions(judgement: Judgement) -> Iterator[Condition]:
    """All conditions with their legs."""
    todo = [*judgement.on, *(condition for clause in judgement.when for condition in clause)]
    while todo:
        condition = todo.pop()
        yield condition
        todo += condition.legs


def _may_skip(merge, judgement: Judgement, before: int, after: int) -> bool:
    """Whether files may be skipped of which the judge promises nothing: `seldom` conditions, files of NULL."""
    if any(condition.cause == "negation" for condition in _conditions(judgement)):
        return True
    of_null = {"gone"} if merge.table != "parts" else {"region"}
    named = {column.casefold() for condition in _conditions(judgement) for column in condition.columns}
    return bool(named & of_null) and after >= before - 1


def _nothing_to_skip(engines, merge, judgement: Judgement) -> bool:
    """Whether each file has to be read, as far as its rows or the bounds that are kept of them tell."""
    if any(condition.prunes and condition.cause == "loose" for condition in _conditions(judgement)):
        return True
    if {"same", "differ"} & {column.casefold() for item in _conditions(judgement) for column in item.columns}:
        return True  # long texts are cut
    asked = [condition.text for condition in judgement.on if condition.prunes]
    if not asked:
        clauses = [
            " and ".join(f"({item.text})" for item in clause if item.side in ("target", "none")) or "true"
            for clause in judgement.when
        ]
        asked = [" or ".join(f"({clause})" for clause in clauses)]
    where = " and ".join(f"({condition})" for condition in asked)
    table = f"{engines.schemas[merge.form]}.{merge.table}"
    rows = f"(select *, {_FILE[merge.form]} as file__ from {table})"
    found = engines.session.sql(
        f"select count(distinct t.file__), count(distinct case when {where} then t.file__ end) "
        f"from {rows} t cross join ({_ROW}) s"
    ).first()
    return found[0] == found[1]


def _held(engines, form: str, seed: int, number: int) -> Counter[str]:
    """Measures random MERGEs and gives how many agree; fails with those that do not."""
    merges = random_merges.random_merges(form, seed, number)

    def measure(merge):
        try:
            return engines.files(form, *merge.arguments)
        except Exception:  # the engine refuses it
            return None

    with ThreadPoolExecutor(2) as threads:
        measured = list(threads.map(measure, merges))
    counted: Counter[str] = Counter()
    wrong = []
    for merge, files in zip(merges, measured, strict=True):
        if files is None:
            counted["refused"] += 1
            continue
        before, after = files
        judgement = _judged(merge)
        counted[judgement.verdict] += 1
        skipped = after < before
        if judgement.verdict == "none" and skipped:
            agrees = _may_skip(merge, judgement, before, after)
        elif judgement.verdict == "static" and not skipped:
            agrees = _nothing_to_skip(engines, merge, judgement)
        else:
            agrees = True
        if not agrees:
            wrong.append((judgement.verdict, files, merge, [(c.text, c.prunes, c.cause) for c in judgement.on]))
    assert wrong == []
    return counted


def _enough(counted: Counter[str], number: int) -> None:
    """What is measured shows something: most are taken, nearly all are judged, and both ways."""
    assert counted["refused"] < number / 4, counted
    assert counted["unknown"] < number / 20, counted
    assert min(counted["static"], counted["none"]) > number / 6, counted


def _tiers(few: int, many: int) -> list[object]:
    """How many `make test` measures, and how many `make test-nightly`."""
    return [pytest.param(few, id="few"), pytest.param(many, id="many", marks=pytest.mark.nightly)]


@pytest.mark.parametrize("number", _tiers(30, 120))
@pytest.mark.parametrize("form", ["delta", "iceberg"])
def test_random_merges_are_judged_as_the_engine_prunes(engines, form, number):
    counted = _held(engines, form, seed=1, number=number)
    if number > 30:
        _enough(counted, number)


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
        for table in random_merges.TABLES[form]
        for column in random_merges.COLUMNS[table]
        for operator in ("=", "<=>")
        for expression in _SOURCES
        if (column not in _TEXTS or _SOURCES[expression] == "string")
        and any(
            bound.prunes
            for bound in against_facts.judged(
                form,
                against_facts.TABLES[form][table],
                f"t.{column} {operator} {expression}",
                bounds=[column],
            ).bounds
        )
    ]


def _value(text: str, data_type: str) -> str:
    """A value of the table in the type of the source's expression; `60.0` is no text of an integer."""
    numeric = data_type not in ("date", "string", "boolean", "timestamp", "timestamp_ntz")
    return f"cast(cast('{text}' as double) as {data_type})" if numeric else f"cast('{text}' as {data_type})"


@pytest.mark.parametrize("number", _tiers(15, 60))
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
            before, after = engines.files(form, table, on, "when matched then delete", random_merges.SOURCE)
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
    merges = random_merges.random_merges("delta", 1, 60)
    static = [merge for merge in merges if _judged(merge).verdict == "static"]
    counts = []
    for merge in static[:6]:
        key = "c1" if merge.table == "two_indexed" else "id"
        clauses = f"when matched then delete when not matched by source and t.{key} < -1 then delete"
        assert _judged(replace(merge, clauses=clauses)).verdict == "none"
        counts.append(engines.run_delta(merge.table, merge.on, clauses, f"{random_merges.SOURCE} where false"))
    assert len(counts) == 6
    assert [after for _, after in counts] == [before for before, _ in counts]
