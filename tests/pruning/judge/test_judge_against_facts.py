"""The judge against every row of the facts, which another test holds against the engines."""

from __future__ import annotations

from functools import cache
from typing import get_args

import pytest

from merge_runner.formats.facts.operators import OPERATORS, PARTITION_OPERATORS
from merge_runner.formats.lines import LINES, RECOMMENDED
from merge_runner.pruning.predicate.predicate import Operator
from tests.formats import probe_tables
from tests.formats.probe_tables import CLAUSES
from tests.pruning.probe_layouts import judged

TABLES = probe_tables.TABLES

BY_DATA = {
    # The same texts prune or not by what the files hold. `seldom` operators are judged as not pruning, but for IS NOT NULL…
    *("delta-SHAPES-unequal: file of one value", "iceberg-SHAPES-unequal: file of one value"),
    *("delta-SHAPES-not in: file of one value", "iceberg-SHAPES-not in: file of one value"),
    *("delta-SHAPES-null-safe unequal", "iceberg-SHAPES-null-safe unequal"),
    "iceberg-SHAPES-not in two: file of one value",
    "iceberg-SHAPES-or: the same column, all values, file of nulls",
    "iceberg-SHAPES-or: the same column, all values, partition of nulls",
    *("iceberg-SHAPES-boolean: is not true", "iceberg-SHAPES-boolean: unequal"),
    # …and what the engine does use is judged as pruning, though these lists and texts lie across all files.
    *("delta-SHAPES-in: list of the smallest and largest", "delta-SHAPES-in: list of strings"),
    *("delta-SHAPES-long strings with the same prefix", "delta-SHAPES-long strings, range with the same prefix"),
    *("iceberg-SHAPES-long strings with the same prefix", "iceberg-SHAPES-long strings, range with the same prefix"),
}
UNKNOWN = {"session variable"}
"""Nothing in the text tells a variable from a column."""


def rows():
    for name, tables in TABLES.items():
        for table_name, fact in probe_tables.conditions(name):
            identity = f"{name}-{table_name}-{fact.subject}"
            yield pytest.param(name, tables[fact.table], fact, identity, id=identity)


@pytest.mark.parametrize(("name", "table", "fact", "identity"), list(rows()))
def test_row(name, table, fact, identity):
    judgement = judged(name, table, fact.sql)
    if fact.subject in UNKNOWN:
        assert judgement.verdict == "unknown"
        return
    seldom = fact.answer == "seldom" and "is not null" in fact.subject  # the files of NULLs alone are skipped
    expected = "static" if (fact.answer == "yes" or seldom) is not (identity in BY_DATA) else "none"
    assert judgement.verdict == expected, [(item.text, item.prunes, item.cause, item.reason) for item in judgement.on]


def varying():
    """The rows whose answer on a line is another one than on the recommended line."""
    for line in LINES.values():
        for name, tables in TABLES.items():
            usual = {(table, fact.subject): fact.answer for table, fact in probe_tables.conditions(name)}
            for table_name, fact in probe_tables.conditions(name, line):
                if fact.answer != usual[table_name, fact.subject]:
                    identity = f"{line.spark}-{name}-{table_name}-{fact.subject}"
                    yield pytest.param(line, name, tables[fact.table], fact, id=identity)


@pytest.mark.parametrize(("line", "name", "table", "fact"), list(varying()))
def test_a_row_that_differs_on_a_line(line, name, table, fact):
    judgement = judged(name, table, fact.sql, line=line)
    expected = "static" if fact.answer == "yes" else "none"
    assert judgement.verdict == expected, [(item.text, item.prunes, item.cause, item.reason) for item in judgement.on]
    assert {item.prunes for item in judgement.on} <= {True, False}
    assert judged(name, table, fact.sql).verdict != expected


def test_all_other_rows_are_judged_alike_on_each_line_with_a_build():
    @cache
    def recommended(name, table, text):
        return judged(name, TABLES[name][table], text, line=RECOMMENDED).verdict

    for line in LINES.values():
        if line == RECOMMENDED:
            continue
        for name in line.formats:
            tables = TABLES[name]
            usual = {(table, fact.subject): fact.answer for table, fact in probe_tables.conditions(name)}
            for table_name, fact in probe_tables.conditions(name, line):
                if fact.answer == usual[table_name, fact.subject]:
                    verdict = judged(name, tables[fact.table], fact.sql, line=line).verdict
                    assert verdict == recommended(name, fact.table, fact.sql), (line, name, table_name, fact)


def clauses():
    for name, tables in TABLES.items():
        for fact in CLAUSES.facts(name):
            yield pytest.param(name, tables[fact.table], fact, id=f"{name}-{fact.subject}")


@pytest.mark.parametrize(("name", "table", "fact"), list(clauses()))
def test_clauses(name, table, fact):
    condition = "t.n = 5"
    on = judged(name, table, condition, fact.sql.replace("{when}", ""))
    assert (on.verdict == "static") is ("on" in fact.answer)
    when = judged(name, table, "t.id = s.id", fact.sql.replace("{when}", f" and {condition}"))
    assert (when.verdict == "static") is ("when" in fact.answer)
    one_value = "(select id, k, dt, n from src where n = 5)"
    inferred = judged(name, table, "t.n = s.n", fact.sql.replace("{when}", ""), one_value)
    assert (inferred.verdict == "static") is ("inferred" in fact.answer)


def test_every_operator_has_a_row():
    operators = {*get_args(Operator)}
    for name in TABLES:
        for table in (OPERATORS, PARTITION_OPERATORS):
            assert [each for each in operators if table.answer(each, name) is None] == []
