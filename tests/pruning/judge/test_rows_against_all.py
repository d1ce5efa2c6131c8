"""What is reported of the rows that a MERGE changes or inserts, against all rows of a small table."""

from __future__ import annotations

from itertools import product
from operator import eq, ge, gt, le, lt, ne

from hypothesis import given
from hypothesis import strategies as st

from merge_runner.formats.types import parse_type
from merge_runner.merge.parse import parse
from merge_runner.pruning.judge.by_source_window import rows_outside
from merge_runner.pruning.judge.inserted_deletes import inserted_deletes
from merge_runner.pruning.judge.unmatched_rows import unrepeated_source_filters
from merge_runner.pruning.layout.layout import TableColumn, TableLayout
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.query.read_using import source_facts
from merge_runner.pruning.query.source import KnownTable, SourceFacts

COLUMNS = {"day": "int", "kind": "int", "flag": "boolean"}
LAYOUT = TableLayout(
    columns=tuple(TableColumn(name, parse_type(text), nullable=name != "kind") for name, text in COLUMNS.items())
)
ROWS = [
    dict(zip(COLUMNS, row, strict=True)) for row in product((None, *range(-1, 6)), range(-1, 6), (True, False, None))
]
OPERATORS = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


@st.composite
def comparisons(draw):
    """A condition as SQL, and as a function of a row that gives True, False or None."""
    if draw(st.integers(0, 5)) == 0:
        if draw(st.booleans()):
            return "t.flag", lambda row: row["flag"]
        return "not t.flag", lambda row: None if row["flag"] is None else not row["flag"]
    column = draw(st.sampled_from(["day", "day", "kind"]))
    if draw(st.integers(0, 3)) == 0:
        values = sorted(draw(st.sets(st.integers(0, 4), min_size=1, max_size=3)))
        text = f"t.{column} in ({', '.join(map(str, values))})"
        return text, lambda row: None if row[column] is None else row[column] in values
    operator, value = draw(st.sampled_from(sorted(OPERATORS))), draw(st.integers(0, 4))
    compare = OPERATORS[operator]
    return f"t.{column} {operator} {value}", lambda row: None if row[column] is None else compare(row[column], value)


@st.composite
def conditions(draw, most):
    parts = draw(st.lists(comparisons(), min_size=1, max_size=most))
    word = draw(st.sampled_from(["and", "or"])) if len(parts) > 1 else "and"

    def value(row):
        values, final = [part(row) for _, part in parts], word == "or"
        return final if final in values else None if None in values else not final

    return f"({f' {word} '.join(f'({text})' for text, _ in parts)})", value


def holds(condition, row):
    """Whether a condition is true of a row."""
    return condition(row) is True


@given(st.lists(conditions(2), min_size=1, max_size=2), st.lists(st.none() | conditions(2), min_size=1, max_size=2))
def test_a_clause_that_is_reported_takes_a_row_outside(window, clauses):
    on = " and ".join(sql for sql, _ in window)
    whens = [f"when not matched by source{f' and {each[0]}' if each else ''} then delete" for each in clauses]
    if None in clauses[:-1]:
        return
    statement = parse(f"merge into t using s on t.id = s.id and {on} {' '.join(whens)}")
    reported = list(rows_outside(statement, LAYOUT, Scope.of(statement, LAYOUT), SourceFacts()))
    outside = [row for row in ROWS if not all(holds(python, row) for _, python in window)]
    for found in reported:
        number = statement.clauses.index(found.clause)
        taken = [row for row in outside if _taker(clauses, row) == number]
        takes_any = any(_taker(clauses, row) == number for row in ROWS)
        assert taken or not outside or not takes_any, (on, whens)
        if found.reach == "all" and number == 0:
            assert taken == outside


@given(conditions(2))
def test_a_clause_with_the_window_is_not_reported_and_one_without_any_is(window):
    sql, python = window
    for when, wanted in ((f"and {sql} ", False), ("", True)):
        statement = parse(f"merge into t using s on t.id = s.id and {sql} when not matched by source {when}then delete")
        reported = list(rows_outside(statement, LAYOUT, Scope.of(statement, LAYOUT), SourceFacts()))
        assert bool(reported) is wanted or all(holds(python, row) for row in ROWS)


def _taker(clauses, row):
    """The first clause that takes a row."""
    return next((i for i, each in enumerate(clauses) if each is None or holds(each[1], row)), None)


def _of_source(condition):
    return condition[0].replace("t.", "s.")


def _using(condition):
    """USING with a filter, whose columns are not known besides: nothing says that they hold no NULL."""
    return "s" if condition is None else f"(select * from s where {condition[0].replace('t.', '')}) as s"


def _facts(statement):
    return source_facts(statement, lambda parts: KnownTable(LAYOUT) if parts == ("s",) else None)


@given(conditions(2), st.none() | conditions(2), st.none() | conditions(2))
def test_a_source_filter_that_is_reported_leaves_rows_to_the_insert(on, using, insert):
    when = f"and {_of_source(insert)} " if insert else ""
    text = (
        f"merge into t using {_using(using)} on t.id = s.id and {_of_source(on)} when not matched {when}then insert *"
    )
    statement = parse(text)
    facts = _facts(statement)
    scope = Scope.of(statement, LAYOUT, facts.columns)
    reported = list(unrepeated_source_filters(statement, LAYOUT, scope, facts))
    inserted = [row for row in ROWS if all(each is None or holds(each[1], row) for each in (using, insert))]
    if reported:
        assert not inserted or any(not holds(on[1], row) for row in inserted), text
    elif using is None and insert is None:
        assert all(holds(on[1], row) for row in ROWS), text


@given(conditions(2), st.none() | conditions(2), st.none() | conditions(2))
def test_a_delete_that_is_reported_is_inserted(delete, using, insert):
    when = f"and {_of_source(insert)} " if insert else ""
    text = (
        f"merge into t using {_using(using)} on t.id = s.id when matched and {_of_source(delete)} then delete "
        f"when not matched {when}then insert *"
    )
    statement = parse(text)
    facts = _facts(statement)
    scope = Scope.of(statement, LAYOUT, facts.columns)
    reported = list(inserted_deletes(statement, LAYOUT, scope, facts))
    inserted = [row for row in ROWS if all(each is None or holds(each[1], row) for each in (using, insert))]
    if reported:
        deletes = [row for row in ROWS if holds(delete[1], row)]
        assert not inserted or not deletes or any(holds(delete[1], row) for row in inserted), text
    elif using is None and insert is None:
        assert not any(holds(delete[1], row) for row in ROWS), text
