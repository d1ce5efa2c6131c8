"""Two conditions on partitions are disjoint only where no partition satisfies both, whatever its values."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.merge.parse import parse
from merge_runner.pruning.judge.disjoint_writes import are_disjoint, partition_conditions
from merge_runner.pruning.layout.layout import PartitionField, TableLayout
from merge_runner.pruning.logic.constant_value import Lit
from merge_runner.pruning.logic.fold import holds
from merge_runner.pruning.logic.term import Call, Col
from merge_runner.pruning.predicate.scope import Scope

LAYOUT = TableLayout(partition_by=(PartitionField("k"), PartitionField("j")))
COLUMN = Col(1, "k")
COMPARISONS = st.builds(
    lambda name, value: Call(name, (COLUMN, Lit("number", Decimal(value)))),
    st.sampled_from(["=", "<>", "<", "<=", ">", ">="]),
    st.integers(0, 5),
)
CONDITIONS = st.lists(COMPARISONS, min_size=1, max_size=3).map(tuple)
VALUES = [Decimal(number) / 2 for number in range(-2, 14)]


def conditions(on):
    statement = parse(f"merge into m as t using s on t.id = s.id and {on} when matched then delete")
    return partition_conditions(statement.on, Scope.of(statement, LAYOUT), LAYOUT)


@given(CONDITIONS, CONDITIONS)
def test_disjoint_conditions_have_no_value_in_common(one, other):
    if are_disjoint(one, other):
        for value in VALUES:
            assert not all(
                holds(part.name, (value > part.args[1].value) - (value < part.args[1].value)) for part in one + other
            )
        assert are_disjoint(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("t.k = 1", "t.k = 2"),
        ("t.k = 1L", "2 <=> t.K"),
        ("t.k = -1", "t.k in (1, 2)"),
        ("t.k < 5", "t.k >= 5"),
        ("t.k between 1 and 4", "5 <= t.k"),
        ("t.k > 1 and t.k <= 5", "t.k in (6, 7)"),
        ("t.k = 'EU'", "t.k in ('US', 'AP')"),
        ("t.k = '2024-01-01'", "t.k > date'2024-01-01'"),
        ("t.k = 1", "t.k <> 1"),
        ("t.k = 1", "not t.k = 1"),
        ("t.k = 1", "t.k not in (1, 2)"),
        ("t.k = 1", "(t.k = 2 or t.k = 3)"),
        ("t.k is null", "t.k = 1"),
        ("t.k in (3, 8)", "t.k > 5 and t.k < 7"),
        ("t.k = date'2024-01-02'", "t.k = cast('2024-01-01' as timestamp)"),
        ("t.k = 1 and t.j = 2", "t.k = 1 and t.j = 3"),
        ("t.k < timestamp'2024-01-01 00:00:00+00:00'", "t.k >= timestamp'2024-01-01 00:00:00+00:00'"),
        ("(t.k >= date '2024-01-01' and t.k < date '2024-02-01')", "t.k >= cast('2024-02-01' as date)"),
    ],
)
def test_disjoint(one, other):
    assert are_disjoint(conditions(one), conditions(other))
    assert are_disjoint(conditions(other), conditions(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("t.k = 1", "t.k = 1.0"),
        ("t.k <= 5", "t.k >= 5"),
        # The zone of the session says which of the two is later.
        ("t.k < timestamp'2024-01-01 00:00:00+00:00'", "t.k >= timestamp'2024-01-01 01:00:00'"),
        ("t.k < timestamp'2024-01-01 00:00:00+00:00'", "t.k >= date'2024-01-02'"),
        ("t.k < timestamp'2024-01-01 00:00:00+00:00'", "t.k >= '2024-01-02'"),
        ("t.k = 1", "t.k = s.k"),
        ("t.k = 1", "s.k = 2"),
        ("s.k = 1", "s.k = 2"),
        ("t.k = s.k and s.k = 1", "t.k = s.k and s.k = 2"),
        ("t.id = 1", "t.id = 2"),
        ("t.k + t.id = 1", "t.k + t.id = 2"),
        ("t.k = 1 and t.k >>> 2 = 1", "t.k >>> 2 = 2"),
        ("t.k >= date_add(current_date(), 1)", "t.k <= current_date()"),
        ("t.k < 5", "t.k > 3"),
        ("t.k in (1, 2)", "t.k in (2, 3)"),
        ("t.k is null", "t.k is null"),
        ("t.k <> 1", "t.k <> 2"),
        ("t.k = 1", "t.k.a = 2"),
        ("t.k = 1", "abs(t.k) = 2"),
        ("t.k = 1", "t.k in (select 2)"),
        ("t.k = 1", "t.k = 'two'"),
        ("t.k = '1'", "t.k = '01'"),
        ("t.k = '2024-01-01'", "t.k = '2024-1-01'"),
        ("t.k = 1", "t.k = null"),
        ("t.k < 3", "t.k < 2"),
        ("t.d = 1", "t.d = 2"),
        ("t.k = current_date()", "t.k = current_date() - 1"),
        ("t.k = 1 or t.j = 2", "t.k = 2 and t.j = 2"),
    ],
)
def test_not_provably_disjoint(one, other):
    assert not are_disjoint(conditions(one), conditions(other))
    assert not are_disjoint(conditions(other), conditions(one))
