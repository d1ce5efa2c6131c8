"""Where the nodes of a DAG are drawn: levels, orders, crossings."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.pages.graph_layout import crossings, layout, levels


@st.composite
def graphs(draw):
    """Parents by node: each among the nodes before it."""
    size = draw(st.integers(0, 30))
    return [sorted(draw(st.sets(st.integers(0, node - 1), max_size=4))) if node else [] for node in range(size)]


@pytest.mark.parametrize(
    ("parents", "expected"),
    [
        ([], []),
        ([[]], [0]),
        ([[], [0], [1], [0, 2]], [0, 1, 2, 3]),
        ([[], [0], [1], [], [2, 3]], [0, 1, 2, 2, 3]),  # a source is next to what reads it
        ([[], []], [0, 0]),
    ],
)
def test_levels(parents, expected):
    assert levels(parents) == expected


@given(graphs())
def test_edges_lead_to_higher_levels_and_no_place_is_taken_twice(parents):
    found = layout(parents)
    assert all(found[parent][0] < found[node][0] for node, known in enumerate(parents) for parent in known)
    assert len(set(found)) == len(parents)
    for level in {each[0] for each in found}:
        assert sorted(place for at, place in found if at == level) == list(range(sum(at == level for at, _ in found)))


@given(graphs())
def test_the_same_graph_has_the_same_layout(parents):
    assert layout(parents) == layout(parents)


def _drawn_crossings(parents, found):
    """How many pairs of edges over one level cross, counted pair by pair."""
    edges = [(p, n) for n, known in enumerate(parents) for p in known if found[n][0] - found[p][0] == 1]
    pairs = [(a, b) for i, a in enumerate(edges) for b in edges[i + 1 :] if found[a[0]][0] == found[b[0]][0]]
    return sum((found[a[0]][1] - found[b[0]][1]) * (found[a[1]][1] - found[b[1]][1]) < 0 for a, b in pairs)


def test_lines_that_need_not_cross_do_not():
    pairs = 8  # sources in one order, models that read them in the opposite one
    parents = [[] for _ in range(pairs)] + [[pairs - 1 - node] for node in range(pairs)]
    assert _drawn_crossings(parents, layout(parents)) == 0


@given(st.lists(st.permutations(range(5)), min_size=2, max_size=4))
def test_crossings_are_counted_as_pair_by_pair(orders):
    columns = [[5 * number + each for each in order] for number, order in enumerate(orders)]
    below = {
        a: [b]
        for one, other in pairwise(range(len(columns)))
        for a, b in zip(range(5 * one, 5 * one + 5), range(5 * other, 5 * other + 5), strict=True)
    }
    expected = sum(
        (columns[n].index(5 * n + a) - columns[n].index(5 * n + b)) * (columns[n + 1].index(5 * n + 5 + a) - columns[n + 1].index(5 * n + 5 + b)) < 0
        for n in range(len(columns) - 1) for a in range(5) for b in range(a)
    )  # fmt: skip
    assert crossings(columns, below) == expected
