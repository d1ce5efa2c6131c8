"""What the implication claims is held against all values of small columns, NULL among them."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import combinations, product
from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.pruning.logic.constant_value import FALSE, TRUE, Lit
from merge_runner.pruning.logic.fold import holds, negate_term
from merge_runner.pruning.logic.implication import Facts
from merge_runner.pruning.logic.term import Call, Col

COLUMNS = (Col(0, "a"), Col(0, "b"))
VALUES = (None, 0, 1, 2, 3)


def number(value):
    return Lit("number", Decimal(value))


columns = st.sampled_from(COLUMNS)
numbers = st.integers(0, 3).map(number)
leaves = st.one_of(
    st.builds(
        lambda name, left, right: Call(name, (left, right)),
        st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "<=>"]),
        columns,
        numbers,
    ),
    st.sampled_from(["=", "<", "<="]).map(lambda name: Call(name, COLUMNS)),
    st.builds(
        lambda name, column, items: Call(name, (column, *items)),
        st.sampled_from(["in", "notin"]),
        columns,
        st.lists(numbers, min_size=2, max_size=3),
    ),
    st.builds(lambda name, column: Call(name, (column,)), st.sampled_from(["isnull", "notnull"]), columns),
)
conditions = st.recursive(
    leaves,
    lambda inner: st.builds(
        lambda name, parts: Call(name, tuple(parts)),
        st.sampled_from(["and", "or"]),
        st.lists(inner, min_size=2, max_size=3),
    ),
    max_leaves=5,
)


def value(term, row):
    if isinstance(term, Col):
        return row[term]
    if not isinstance(term, Call):
        return term.value
    values = [value(part, row) for part in term.args]
    if term.name == "coalesce":
        return next((found for found in values if found is not None), None)
    return UNITS[term.name](values[0])


def truth(term, row):
    """The value of a condition in three-valued logic: True, False or None."""
    if term.name in ("and", "or"):
        parts = [truth(part, row) for part in term.args]
        final = term.name == "or"
        return final if final in parts else None if None in parts else not final
    values = [value(part, row) for part in term.args]
    if term.name in ("isnull", "notnull"):
        return (values[0] is None) == (term.name == "isnull")
    if term.name == "<=>":
        return values[0] == values[1]
    if None in values:
        return None
    if term.name in ("in", "notin"):
        return (values[0] in values[1:]) == (term.name == "in")
    return holds(term.name, (values[0] > values[1]) - (values[0] < values[1]))


ROWS = [dict(zip(COLUMNS, (a, b), strict=True)) for a in VALUES for b in VALUES]


@given(st.lists(conditions, max_size=3), conditions)
def test_what_is_implied_is_true_of_every_row(facts, goal):
    if Facts(facts).implies(goal) is True:
        for row in ROWS:
            if all(truth(fact, row) is True for fact in facts):
                assert truth(goal, row) is True, row


@given(st.lists(conditions, max_size=3))
def test_what_is_constant_has_one_value(facts):
    known = Facts(facts)
    for column in COLUMNS:
        if known.constant(column, whole=True):
            found = {row[column] for row in ROWS if all(truth(fact, row) is True for fact in facts)}
            assert len(found) <= 1


@given(conditions)
def test_the_negation_is_true_where_the_condition_is_false(condition):
    opposite = negate_term(condition)
    if opposite.name != "not":
        for row in ROWS:
            assert (truth(opposite, row) is True) == (truth(condition, row) is False), row


# All conditions on one column, over values that lie between their numbers as well.
A, B = COLUMNS
DENSE = [{A: None}, *({A: Decimal(half) / 2} for half in range(-2, 8))]
SINGLE = [
    *(Call(name, (A, number(at))) for name in ("=", "<>", "<", "<=", ">", ">=", "<=>") for at in range(3)),
    *(Call(name, (A, *map(number, items))) for name in ("in", "notin") for items in ((0, 1), (0, 2), (0, 1, 2))),
    *(Call(name, (A,)) for name in ("isnull", "notnull")),
]
SOME = [SINGLE[place] for place in (0, 2, 4, 8, 10, 13, 15, 20, 23, 25, 27)]
EITHER = [Call("or", legs) for legs in combinations([SINGLE[place] for place in (0, 1, 7, 13, 22, 25, 27)], 2)]
COALESCED = [
    Call(name, (Call("coalesce", (A, number(instead))), number(at)))
    for name in ("=", "<>", "<", ">=")
    for instead in (0, 1)
    for at in (0, 1)
]


def agrees(facts, goals, rows, *, complete=False):
    """Holds that what is proven of the rows is true of them; `complete`: and that all is proven that is."""
    known = Facts(facts)
    taken = [row for row in rows if all(truth(fact, row) is True for fact in facts)]
    for goal in goals:
        proven, true = known.implies(goal) is True, all(truth(goal, row) is True for row in taken)
        assert true or not proven, (facts, goal)
        assert proven or not (true and complete), (facts, goal)


@pytest.mark.parametrize(
    ("facts", "goals"),
    [
        (SINGLE, SINGLE),
        (EITHER, SINGLE),
        (SINGLE, COALESCED),
        (COALESCED, []),
        ([Call("and", (SINGLE[4], SINGLE[11]))], SINGLE),
    ],
    ids=["one-one", "or-one", "one-coalesce", "coalesce-itself", "and-one"],
)
def test_all_is_proven_of_one_condition_that_is_true(facts, goals):
    for fact in facts:
        agrees([fact], [*goals, fact], DENSE, complete=True)


@pytest.mark.parametrize(
    ("facts", "goals"), [(SINGLE, EITHER), (EITHER, EITHER), (COALESCED, [*SINGLE, *COALESCED])], ids=range(3)
)
def test_nothing_is_proven_of_one_condition_that_is_false(facts, goals):
    for fact in facts:
        agrees([fact], goals, DENSE)


def test_a_boolean_column_is_a_condition():
    assert Facts([Call("=", (A, TRUE))]).implies(A) is True
    assert Facts([Call("=", (A, FALSE))]).implies(A) is False


def test_long_lists_are_compared_value_by_value():
    values = tuple(map(number, range(102)))
    listed, either = Call("in", (A, *values)), Call("or", tuple(Call("=", (A, value)) for value in values))
    inside, outside = Call("=", (A, values[50])), Call("=", (A, number(500)))
    for goal in (listed, either):
        assert Facts([inside]).implies(goal) is True
        assert Facts([Call("in", (A, *values[1:]))]).implies(goal) is True
        assert Facts([outside]).implies(goal) is False
        assert Facts([Call("in", (A, *values, number(500)))]).implies(goal) is False


def test_lists_are_compared_value_by_value_up_to_a_hundred():
    # As days in the facts and texts in the goal, equal though not the same.
    start = date(2024, 1, 1)
    for many in (100, 101):
        days = [start + timedelta(place) for place in range(many)]
        dates, texts = tuple(Lit("date", day) for day in days), tuple(Lit("text", str(day)) for day in days)
        known = Facts([Call("in", (A, *dates))])
        assert (known.implies(Call("in", (A, *texts))) is True) == (many == 100)
        assert bool(known.bounds(A)) == (many == 100)
        either = Call("or", tuple(Call("=", (A, value)) for value in texts))
        for facts in ([Call("=", (A, dates[50]))], [Call(">=", (A, dates[50])), Call("<=", (A, dates[50]))]):
            assert (Facts(facts).implies(either) is True) == (many == 100)


def test_ors_are_taken_apart_up_to_eight_legs():
    for many in (8, 9):
        legs = (Call("and", (Call("=", (A, number(at))), Call(">", (B, number(at))))) for at in range(many))
        assert (Facts([Call("or", tuple(legs))]).implies(Call(">", (B, number(-1)))) is True) == (many == 8)


def test_ors_are_taken_apart_three_at_a_time():
    either = [[Call("=", (Col(0, name), number(at))) for at in (0, 1)] for name in "abcd"]
    for many in (3, 4):
        goal = Call("or", tuple(Call("and", legs) for legs in product(*either[:many])))
        facts = [Call("or", tuple(legs)) for legs in either[:many]]
        assert (Facts(facts).implies(goal) is True) == (many == 3)


def test_whole_numbers_between_neighbours_are_one_value():
    known = Facts([Call(">=", (A, number(1))), Call("<", (A, number(2)))])
    assert known.constant(A, whole=True)
    assert not known.constant(A)
    assert Facts([Call(">=", (A, number(1))), Call("<", (A, number("1.5")))]).constant(A, whole=True)
    assert not Facts([Call(">=", (A, number(0))), Call("<", (A, number(2)))]).constant(A, whole=True)


def test_a_column_that_is_bounded_by_another_one_has_more_than_one_value():
    assert not Facts([Call(">=", COLUMNS), Call("<=", COLUMNS)]).constant(A)


def test_nothing_is_proven_of_two_conditions_that_is_false():
    for facts in combinations(SOME, 2):
        agrees(facts, [*SINGLE, *COALESCED[:4]], DENSE)


BETWEEN_COLUMNS = [
    *(Call(name, COLUMNS) for name in ("=", "<>", "<", "<=", "<=>")),
    *(Call(name, (column, number(at))) for column in COLUMNS for name in ("=", "<", ">=") for at in (0, 1)),
    *(Call(name, (column,)) for column in COLUMNS for name in ("isnull", "notnull")),
]


def test_nothing_is_proven_of_two_columns_that_is_false():
    rows = [{A: a, B: b} for a in (None, -1, 0, 1, 2) for b in (None, -1, 0, 1, 2)]
    for facts in combinations(BETWEEN_COLUMNS, 2):
        agrees(facts, BETWEEN_COLUMNS, rows)


# Units of time: every quarter of the days around the turn of a year, and a tick to either side.
def moment(*parts):
    return datetime(*parts, tzinfo=timezone.utc)


MOMENTS = [
    start + timedelta(hours=6 * quarter, microseconds=tick)
    for start in (moment(2023, 1, 1), moment(2023, 12, 1), moment(2023, 12, 30), moment(2024, 1, 1), moment(2024, 2, 1))
    for quarter in range(6)
    for tick in (-1, 0, 1)
]
UNITS = {
    "cast:date": datetime.date,
    "trunc:day": lambda at: at.replace(hour=0, minute=0, second=0, microsecond=0),
    "trunc:month": lambda at: at.replace(day=1, hour=0, minute=0, second=0, microsecond=0),
    "trunc:week": lambda at: UNITS["trunc:day"](at) - timedelta(days=at.weekday()),
    "trunc:quarter": lambda at: at.replace(
        month=(at.month + 2) // 3 * 3 - 2, day=1, hour=0, minute=0, second=0, microsecond=0
    ),
    "trunc:year": lambda at: at.replace(month=1, day=1, hour=0, minute=0, second=0, microsecond=0),
    "trunc:hour": lambda at: at.replace(minute=0, second=0, microsecond=0),
    **{part: attrgetter(part) for part in ("year", "month", "day", "hour")},
    "dayofmonth": attrgetter("day"),
}
VALUES_OF = {
    "cast:date": [Lit("date", at.date()) for at in (moment(2023, 12, 31), moment(2024, 1, 1))],
    "trunc:day": [Lit("timestamp", at) for at in (moment(2023, 12, 31), moment(2024, 1, 1))],
    "trunc:month": [Lit("timestamp", at) for at in (moment(2023, 12, 1), moment(2024, 1, 1))],
    "trunc:week": [Lit("timestamp", at) for at in (moment(2023, 12, 25), moment(2024, 1, 1))],
    "trunc:quarter": [Lit("timestamp", at) for at in (moment(2023, 10, 1), moment(2024, 1, 1))],
    "trunc:year": [Lit("timestamp", at) for at in (moment(2023, 1, 1), moment(2024, 1, 1))],
    "trunc:hour": [Lit("timestamp", at) for at in (moment(2023, 12, 31, 18), moment(2024, 1, 1))],
    "year": [number(2023), number(2024)],
    "month": [number(12), number(1)],
    "day": [number(31), number(1)],
    "dayofmonth": [number(31), number(1)],
    "hour": [number(18), number(0)],
}
COMPARED = ("=", "<", "<=", ">", ">=")
OF_MOMENT = [
    Call(name, (A, Lit("timestamp", at)))
    for name in COMPARED
    for at in (moment(2023, 12, 31), moment(2023, 12, 31, 18), moment(2024, 1, 1))
]
OF_UNIT = [
    Call(name, (Call(unit, (A,)), found)) for unit, values in VALUES_OF.items() for name in COMPARED for found in values
]
WHERE = {term: {at for at in MOMENTS if truth(term, {A: at})} for term in (*OF_MOMENT, *OF_UNIT)}


RANGES = [(low, high) for low in OF_MOMENT if low.name in (">", ">=") for high in OF_MOMENT if high.name in ("<", "<=")]


def test_nothing_is_proven_of_a_moment_and_its_units_that_is_false():
    for facts in [*((fact,) for fact in WHERE), *RANGES]:
        known = Facts(facts)
        taken = set.intersection(*(WHERE[fact] for fact in facts))
        for goal, true in WHERE.items():
            assert known.implies(goal) is not True or taken <= true, (facts, goal)


def test_a_column_that_equals_an_expression_of_itself_is_not_put_into_it_again_and_again():
    """With 40 such conditions each look for equals would double the terms 40 times."""
    columns = [Col(0, f"c{each}") for each in range(40)]
    terms = [Call("=", (Call("f", (column, column)), column)) for column in columns]
    known = Facts([*terms, Call(">", (columns[0], number(5)))])
    assert known.implies(Call(">", (Call("f", (columns[0], columns[0])), number(4)))) is True
    assert known.implies(Call(">", (columns[1], number(4)))) is False


def test_what_takes_too_many_cases_is_not_known():
    """Each OR has four legs, and each leg of one leaves those of all others: some 10 million cases."""
    terms = [
        Call("or", (*(Call(name, (column, number(each))) for name in "<>" for column in COLUMNS),))
        for each in range(60)
    ]
    goal = Call("or", tuple(Call("=", (column, number(99))) for column in COLUMNS))
    assert Facts(terms).implies(goal) is None
    assert Facts(terms[:1]).implies(goal) is False
