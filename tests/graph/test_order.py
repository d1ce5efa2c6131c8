import math

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.graph.order import contracted, levels, near_parents, priorities, relatives, topological

SIZE = 12
EDGES = st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=40)
CHOSEN = st.sets(st.integers(0, SIZE - 1))


def _ids(numbers):
    return {f"model.shop.m{number}" for number in numbers}


def _short(found):
    return [[unique_id.rpartition(".")[2] for unique_id in level] for level in found]


@pytest.fixture
def diamond(graph_over):
    # m0 -> m1 -> m3 -> m4, m0 -> m2 -> m3, m5 alone
    return graph_over([(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)], 6)


def test_independent_nodes_share_a_level_sorted_by_id(diamond):
    assert _short(levels(diamond)) == [["m0", "m5"], ["m1", "m2"], ["m3"], ["m4"]]


def test_a_selection_is_ordered_through_what_is_not_selected(diamond):
    assert _short(levels(diamond, _ids([0, 4, 5]))) == [["m0", "m5"], ["m4"]]
    assert _short(levels(diamond, _ids([1, 2, 4]))) == [["m1", "m2"], ["m4"]]
    assert levels(diamond, []) == []


def test_a_path_through_unselected_nodes_becomes_an_edge(diamond):
    assert set(contracted(diamond, _ids([0, 3, 5])).edges) == {("model.shop.m0", "model.shop.m3")}
    assert set(contracted(diamond, _ids([1, 2, 4])).edges) == {
        ("model.shop.m1", "model.shop.m4"),
        ("model.shop.m2", "model.shop.m4"),
    }


def test_an_edge_that_others_imply_already_is_not_added(graph_over):
    graph = graph_over([(0, 1), (1, 3), (0, 2), (2, 3)], 4)  # m2 is not selected, m0 -> m1 -> m3 says it all
    assert set(contracted(graph, _ids([0, 1, 3])).edges) == {
        ("model.shop.m0", "model.shop.m1"),
        ("model.shop.m1", "model.shop.m3"),
    }


@given(edges=EDGES, chosen=CHOSEN)
def test_contraction_keeps_who_reaches_whom_and_nothing_else(graph_over, edges, chosen):
    graph, ids = graph_over(edges, SIZE), _ids(chosen)
    dag = contracted(graph, ids)
    assert set(dag.nodes) == ids
    assert {node: nx.descendants(dag, node) for node in ids} == {
        node: nx.descendants(nx.DiGraph(graph.dag.succ), node) & ids for node in ids
    }
    assert {edge for edge in graph.dag.edges if ids.issuperset(edge)} <= set(dag.edges)


@given(edges=EDGES)
def test_contraction_to_everything_is_the_graph_itself(graph_over, edges):
    graph = graph_over(edges, SIZE)
    assert set(contracted(graph, graph.nodes).edges) == set(graph.dag.edges)


@given(edges=EDGES, chosen=CHOSEN)
def test_levels_hold_each_node_once_behind_all_of_its_ancestors_and_as_early_as_can_be(graph_over, edges, chosen):
    graph, ids = graph_over(edges, SIZE), _ids(chosen)
    level_of = {node: number for number, level in enumerate(levels(graph, ids)) for node in level}
    assert sorted(level_of) == sorted(ids)
    for node in ids:
        above = [level_of[parent] for parent in nx.ancestors(nx.DiGraph(graph.dag.succ), node) & ids]
        assert level_of[node] == max(above, default=-1) + 1


@given(edges=EDGES, chosen=CHOSEN)
def test_levels_of_a_selection_are_the_levels_of_its_contraction(graph_over, edges, chosen):
    graph, ids = graph_over(edges, SIZE), _ids(chosen)
    generations = [sorted(level) for level in nx.topological_generations(contracted(graph, ids))]
    assert levels(graph, ids) == generations


def test_topological_order_goes_level_by_level(diamond):
    assert _short([topological(diamond)]) == [["m0", "m5", "m1", "m2", "m3", "m4"]]


def test_all_below_a_parent_comes_before_the_next_one(diamond):
    ids = topological(diamond)
    assert _short([near_parents(diamond.dag, ids)]) == [["m0", "m1", "m3", "m4", "m2", "m5"]]
    assert _short([near_parents(diamond.dag, ids[1:])]) == [["m5", "m1", "m3", "m4", "m2"]]


@given(edges=EDGES, chosen=CHOSEN)
def test_each_id_stays_once_near_parents(graph_over, edges, chosen):
    graph = graph_over(edges, SIZE)
    ids = topological(graph, _ids(chosen))
    assert sorted(near_parents(graph.dag, ids)) == sorted(ids)


def test_relatives_are_counted_in_edges_and_include_the_start(diamond):
    up = diamond.dag.pred
    assert relatives(up, _ids([4]), 0) == _ids([4])
    assert relatives(up, _ids([4]), 2) == _ids([1, 2, 3, 4])
    assert relatives(up, _ids([4]), math.inf) == _ids([0, 1, 2, 3, 4])


def _first(dag, durations=None, own=None):
    keys = priorities(dag, durations or {}, own or {})
    assert sorted(keys) == sorted(dag)
    return sorted(dag, key=keys.__getitem__)


@pytest.fixture
def fork():
    """a leads to b and c; c leads to d; x and y stand alone."""
    dag = nx.DiGraph([("a", "b"), ("a", "c"), ("c", "d")])
    dag.add_nodes_from(["x", "y"])
    return dag


def test_the_longest_remaining_path_goes_first_in_seconds(fork):
    durations = {"a": 1, "b": 30, "c": 2, "d": 3, "x": 50, "y": 4}
    assert _first(fork, durations) == ["x", "a", "b", "c", "y", "d"]


def test_an_unknown_duration_counts_as_the_median_of_the_known_ones(fork):
    durations = {"a": 10, "c": 20, "x": 100}  # b, d and y count as 20 seconds
    assert _first(fork, durations) == ["x", "a", "c", "b", "d", "y"]
    assert priorities(fork, durations, {})["d"][1] == -20


def test_durations_of_nodes_that_are_gone_do_not_count(fork):
    assert priorities(fork, {"d": 5, "gone": 500}, {})["y"][1] == -5


@pytest.mark.parametrize("broken", [math.nan, math.inf, -1.0])
def test_a_duration_that_is_none_counts_as_unknown(fork, broken):
    assert priorities(fork, {"a": broken, "d": 5}, {}) == priorities(fork, {"d": 5}, {})


def test_without_any_durations_depth_decides_and_then_the_id(fork):
    assert _first(fork) == ["a", "c", "b", "d", "x", "y"]


def test_the_priority_of_config_wins_over_durations(fork):
    durations = {"a": 1, "b": 1, "c": 1, "d": 1, "x": 500, "y": 1}
    assert _first(fork, durations, {"y": 1})[0] == "y"
    assert _first(fork, durations, {"x": -1})[-1] == "x"


def test_a_priority_pulls_the_ancestors_along_that_it_waits_for(fork):
    durations = {"a": 1, "b": 1, "c": 1, "d": 1, "x": 500, "y": 1}
    assert _first(fork, durations, {"d": 7}) == ["a", "c", "d", "x", "b", "y"]


def test_a_low_priority_does_not_hold_back_the_parents(fork):
    keys = priorities(fork, {}, {"d": -3, "c": -5})
    assert [keys[node][0] for node in "acd"] == [0, 3, 3]


@given(edges=EDGES, durations=st.dictionaries(st.integers(0, SIZE - 1), st.floats(0, 100)))
def test_a_node_always_goes_before_its_descendants(graph_over, edges, durations):
    graph = graph_over(edges, SIZE)
    dag = contracted(graph, graph.nodes)
    keys = priorities(dag, {f"model.shop.m{number}": value for number, value in durations.items()}, {})
    assert all(keys[parent] < keys[child] for parent, child in dag.edges)
