"""What the MERGEs of a build may read together."""

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from merge_runner.engine.context import ScanBudget

CHARGES = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 10)))


@given(st.integers(0, 20), CHARGES)
def test_accepted_charges_never_exceed_the_budget(most, charges):
    budget, accepted = ScanBudget(most), {}
    for node, size in charges:
        others = sum(charge for name, charge in accepted.items() if name != node)
        assert budget.charge(node, size) is (others + size <= most)
        if others + size <= most:
            accepted[node] = size
    assert sum(accepted.values()) <= most


def test_threads_do_not_share_what_is_left():
    budget = ScanBudget(50)
    with ThreadPoolExecutor(8) as threads:
        accepted = list(threads.map(lambda number: budget.charge(str(number), 1), range(200)))
    assert sum(accepted) == 50
