"""The oracle itself: cases whose result the standard or the engines' documentation says, in words of their own."""

from __future__ import annotations

import pytest

from tests.oracle.expression import Call, Column, Literal, evaluate
from tests.oracle.merge import Clause, Delete, Insert, Merge, MultipleMatchesError, Update, merged
from tests.oracle.query import SIDE, Arm, Query, rows_of
from tests.oracle.spark_sql import expression_text, merge_text, query_text

T_ID, S_ID, T_V, S_V = (Column(side, name) for name in ("id", "v") for side in ("t", "s"))
KEY = Call("=", (T_ID, S_ID))
ALIASES = {"t": "t", "s": "s"}
UPDATE, DELETE, INSERT = Update(None), Delete(), Insert(None)


def table(*rows):
    return [{"id": id, "v": v} for id, v in rows]


def when(kind, action, condition=None):
    return Clause(kind, condition, action)


def result(clauses, target, source, on=KEY):
    return merged(Merge(on, tuple(clauses)), table(*target), table(*source), ("id", "v"))


def rows(outcome):
    return [tuple(row.values()) for row in outcome.rows]


def test_the_first_clause_whose_condition_is_true_wins():
    old = Call(">", (T_V, Literal(5)))
    clauses = [when("matched", DELETE, old), when("matched", UPDATE), when("not matched", INSERT)]
    outcome = result(clauses, [(1, 9), (2, 1), (3, None)], [(1, 0), (2, 0), (3, 0), (4, 0)])
    assert rows(outcome) == [(2, 0), (3, 0), (4, 0)]
    assert (outcome.inserted, outcome.updated, outcome.deleted) == (1, 2, 1)
    assert [kind for kind, _ in outcome.changes] == ["delete", *["update_preimage", "update_postimage"] * 2, "insert"]


def test_a_row_that_no_clause_is_about_stays():
    outcome = result([when("matched", DELETE, Call("=", (S_V, Literal(1))))], [(1, 1), (2, 2)], [(1, None), (3, 1)])
    assert rows(outcome) == [(1, 1), (2, 2)]
    assert outcome.changes == []


def test_set_sees_the_row_as_it_was():
    swap = Update((("id", T_V), ("v", T_ID)))
    assert rows(result([when("matched", swap)], [(1, 2)], [(1, 0)])) == [(2, 1)]


def test_null_keys_match_under_null_safe_equality_alone():
    clauses = [when("matched", UPDATE), when("not matched", INSERT)]
    assert rows(result(clauses, [(None, 1)], [(None, 2)])) == [(None, 1), (None, 2)]
    assert rows(result(clauses, [(None, 1)], [(None, 2)], Call("<=>", (T_ID, S_ID)))) == [(None, 2)]


def test_several_matches_are_an_error_whatever_the_conditions_say():
    clauses = [when("matched", UPDATE, Call("=", (S_V, Literal(1))))]
    with pytest.raises(MultipleMatchesError):
        result(clauses, [(1, 0)], [(1, 1), (1, 2)])


def test_several_matches_are_none_for_a_lone_unconditional_delete_and_without_clauses_for_them():
    outcome = result([when("matched", DELETE), when("not matched", INSERT)], [(1, 0)], [(1, 1), (1, 2), (2, 2)])
    assert (rows(outcome), outcome.deleted) == ([(2, 2)], 1)
    assert rows(result([when("not matched", INSERT)], [(1, 0)], [(1, 1), (1, 2)])) == [(1, 0)]


def test_rows_of_the_source_that_match_nothing_are_inserted_one_by_one():
    insert = Insert((("id", S_ID),))
    assert rows(result([when("not matched", insert, Call("is null", (S_V,)))], [], [(1, None), (1, None), (2, 1)])) == [
        (1, None),
        (1, None),
    ]


def test_rows_that_the_source_does_not_have():
    clauses = [
        when("not matched by source", Update((("v", Literal(0)),)), Call("<", (T_V, Literal(2)))),
        when("not matched by source", DELETE),
    ]
    assert rows(result(clauses, [(1, 1), (2, 2), (3, 3), (4, None)], [(3, 9)])) == [(1, 0), (3, 3)]


@pytest.mark.parametrize(
    ("name", "args", "value"),
    [
        ("and", (None, False), False),
        ("and", (None, True), None),
        ("or", (None, True), True),
        ("or", (None, False), None),
        ("not", (None,), None),
        ("=", (None, None), None),
        ("<=>", (None, None), True),
        ("<=>", (1, None), False),
        ("in", (1, 2, None), None),
        ("in", (1, 1, None), True),
        ("not in", (1, 2, None), None),
        ("not in", (None, 2), None),
        ("between", (5, None, 3), False),
        ("between", (2, None, 3), None),
        ("is not true", (None,), True),
        ("%", (-7, 3), -1),
        ("coalesce", (None, None, 3), 3),
        ("case", (None, 1, False, 2, 3), 3),
        ("concat", ("a", None), None),
    ],
)
def test_three_valued_logic(name, args, value):
    assert evaluate(Call(name, tuple(Literal(each) for each in args)), {}) is value


def test_a_query_keeps_of_each_key_the_first_row_with_nulls_first():
    tables = {"a": table((1, 2), (2, 5)), "b": table((1, None), (None, 7))}
    query = Query((Arm("a"), Arm("b", Call("is not null", (Column(SIDE, "id"),)))), ("id",), ("id", "v"))
    assert [tuple(row.values()) for row in rows_of(query, tables)] == [(1, None), (2, 5)]


def test_text():
    half = Call("or", (Call("=", (T_V, Literal(None))), Call("not", (Call("in", (S_V, Literal("O'Hare"))),))))
    assert expression_text(Call("and", (KEY, half)), ALIASES) == (
        "t.id = s.id and (t.v = null or not s.v in ('O\\'Hare'))"
    )
    assert expression_text(Call("-", (T_V, Call("-", (S_V, Literal(-1))))), ALIASES) == "t.v - (s.v - -1)"
    query = Query((Arm("a", Call(">", (Column(SIDE, "v"), Literal(1))), (("id", Column(SIDE, "v")),)), Arm("b")))
    assert query_text(query, str.upper) == "select v as id from A where v > 1\nunion all\nselect * from B"
    merge = Merge(KEY, (when("matched", Update((("v", S_V),)), half), when("not matched by source", DELETE)))
    assert merge_text(merge, "x", Query((Arm("a"),)), str.upper, ALIASES, cte=False) == (
        "merge into x as t\nusing A as s\n   on t.id = s.id\n"
        "when matched and (t.v = null or not s.v in ('O\\'Hare')) then update set v = s.v\n"
        "when not matched by source then delete"
    )
