"""Each pattern of merge_patterns against a plain description of what it promises, on random histories of batches.

The statement is rendered as a build renders it, and the oracle of MERGE semantics runs it.
"""

from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merge_runner.project.scaffold import PATTERNS
from merge_runner.relation import Relation
from merge_runner.template.context import Context
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText
from tests.oracle.merge_of_sql import Table, merge_of_sql
from tests.template.packages.cases import CASES

RUNS = 4
TEMPLATES = Templates()


def rendered(name, vars_=None, *, incremental, call=None):
    context = Context(
        model_name="target",
        this=Relation("target"),
        resolve_ref=Relation,
        resolve_source=lambda _source, _table: Relation("given"),
        vars=vars_ or {},
        env={},
        target={},
        full_refresh=False,
        incremental=incremental,
    )
    text = call or CASES[name].arguments % name
    return TEMPLATES.render(SourceText(f"models/{name}.sql", text), context).text.strip()


@cache
def statement(text):
    return merge_of_sql(text)


def run(name, batch, table, *, incremental):
    case = CASES[name]
    if name == "gdpr_delete" and not incremental:
        return None  # it is the first batch that its table holds before
    tables = {"given": Table(tuple(case.source), batch.rows), "target": Table(tuple(case.table), table)}
    return statement(rendered(name, batch.vars, incremental=incremental)).run("target", tables)


def counted(rows, columns):
    return Counter(tuple(row[name] for name in columns) for row in rows)


def test_every_pattern_has_a_case_and_a_starter():
    assert tuple(CASES) == PATTERNS


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=settings.default.max_examples // 5)
@given(data=st.data())
def test_a_history_of_batches_ends_as_promised(name, data):
    check(name, data)


@pytest.mark.nightly
@pytest.mark.parametrize("name", CASES)
@settings(max_examples=5000)
@given(data=st.data())
def test_many_histories_of_batches_end_as_promised(name, data):
    check(name, data)


def check(name, data):
    case = CASES[name]
    columns = [column for column in case.table if column != "row_hash"]
    batches = data.draw(case.batches(RUNS))
    table = []
    for nth, batch in enumerate(batches):
        found = run(name, batch, table, incremental=nth > 0)
        table = batch.rows if found is None else found.rows
        assert counted(table, columns) == counted(case.promise(batches[: nth + 1]), columns)
        again = run(name, batch, table, incremental=True) if nth else None
        assert again is None or (again.inserted, again.updated, again.deleted) == (0, 0, 0)
