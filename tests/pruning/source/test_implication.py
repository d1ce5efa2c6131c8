"""What the implication claims is held against all values of small columns, NULL among them."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from merge_runner.pruning.implication import Facts
from merge_runner.pruning.literal import Lit
from merge_runner.pruning.term import Call, Col, holds, negated

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


def truth(term, row):
    """The value of a condition in three-valued logic: True, False or None."""
    if term.name in ("and", "or"):
        parts = [truth(part, row) for part in term.args]
        final = term.name == "or"
        return final if final in parts else None if None in parts else not final
    values = [row[part] if isinstance(part, Col) else int(part.value) for part in term.args]
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
    opposite = negated(condition)
    if opposite.name != "not":
        for row in ROWS:
            assert (truth(opposite, row) is True) == (truth(condition, row) is False), row
