"""Lanes, waiting and the critical path of a run."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.pages.runs.timeline import NodeTime, timeline


def _path(nodes):
    """The critical path from its beginning: ids with why each began when it did."""
    found = timeline(nodes)
    return [
        (node.id, found[node.id].by) for node in sorted(nodes, key=lambda each: each.start) if found[node.id].critical
    ]


@pytest.mark.parametrize(
    ("nodes", "path"),
    [
        ([], []),
        ([NodeTime("a", 0, 1, "x")], [("a", None)]),
        # b is longer than c, and d waits for both
        (
            [
                NodeTime("a", 0, 1, "x"),
                NodeTime("b", 1, 5, "x", ("a",)),
                NodeTime("c", 1, 2, "y", ("a",)),
                NodeTime("d", 5, 6, "x", ("b", "c")),
            ],
            [("a", None), ("b", "dependency"), ("d", "dependency")],
        ),
        # b was ready at 1, and its thread was in use until 4
        (
            [NodeTime("a", 0, 1, "x"), NodeTime("c", 0, 4, "y"), NodeTime("b", 4, 6, "y", ("a",))],
            [("c", None), ("b", "thread")],
        ),
        # two that are independent: the one that ends last
        ([NodeTime("a", 0, 1, "x"), NodeTime("b", 0, 2, "y")], [("b", None)]),
        # nothing had to be done
        ([NodeTime("a", 0, 0, "x", is_no_op=True), NodeTime("b", 0, 0.01, "x", ("a",), is_no_op=True)], []),
        # b had nothing to do between a and c; d has looked for what it had to do
        (
            [
                NodeTime("a", 0, 1, "x"),
                NodeTime("b", 1, 1.01, "x", ("a",), is_no_op=True),
                NodeTime("c", 1.01, 2, "x", ("b",)),
                NodeTime("d", 2, 4, "x", is_no_op=True),
            ],
            [("a", None), ("c", "dependency"), ("d", "thread")],
        ),
        # what it waits for did not run
        ([NodeTime("b", 0, 2, "y", ("gone",))], [("b", None)]),
    ],
)
def test_the_critical_path(nodes, path):
    assert _path(nodes) == path


def test_a_node_that_was_ready_waited_for_a_thread():
    found = timeline([NodeTime("a", 0, 1, "x"), NodeTime("c", 0, 4, "y"), NodeTime("b", 4, 6, "y", ("a",))])
    assert (found["b"].ready, found["b"].lane, found["c"].lane, found["a"].lane) == (1, 1, 1, 0)


@st.composite
def runs(draw):
    """Nodes as threads run them: each as soon as it is ready and its thread is free, or a little later."""
    nodes = []
    free = {"x": 0.0, "y": 0.0, "z": 0.0}
    for number in range(draw(st.integers(0, 15))):
        parents = (
            tuple(sorted(draw(st.sets(st.sampled_from([each.id for each in nodes]), max_size=3)))) if nodes else ()
        )
        thread = draw(st.sampled_from(sorted(free)))
        ready = max([free[thread], *(each.end for each in nodes if each.id in parents)])
        start = ready + draw(st.sampled_from([0.0, 0.01]))
        nodes.append(NodeTime(f"n{number:02}", start, start + draw(st.integers(1, 50)) / 10, thread, parents))
        free[thread] = nodes[-1].end
    return nodes


@given(runs())
def test_the_critical_path_leads_without_gaps_from_the_first_start_to_the_last_end(nodes):
    found = timeline(nodes)
    path = sorted((each for each in nodes if found[each.id].critical), key=lambda each: each.start)
    assert bool(path) == bool(nodes)
    if path:
        assert path[-1].end == max(each.end for each in nodes)
        assert found[path[0].id].after is None
        assert [found[each.id].after for each in path[1:]] == [each.id for each in path[:-1]]
        assert all(later.start - earlier.end <= 0.1 for earlier, later in pairwise(path))
    assert all(found[each.id].ready <= each.start for each in nodes)
