import random

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.graph.cycles import cycle_path, find_cycle

EDGES = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")), max_size=24)


@pytest.mark.parametrize(
    ("edges", "shown"),
    [
        ("ab bc", None),
        ("", None),
        ("ab ba", "a -> b -> a"),
        ("ba ab", "a -> b -> a"),
        ("aa", "a -> a"),
        ("ab bc ca", "a -> b -> c -> a"),
        ("ac cb ba", "a -> c -> b -> a"),
        ("ab bc ca cd dc", "c -> d -> c"),  # the shorter one, though another starts earlier in the alphabet
        ("ab bc ca zz", "z -> z"),
        ("xa ab ba by", "a -> b -> a"),  # what leads there and away is no part of it
        ("ef fe cd dc", "c -> d -> c"),
        ("ab bd da ac cd", "a -> b -> d -> a"),
        ("ab ba bc cd dc", "a -> b -> a"),
    ],
)
def test_the_shortest_cycle_is_shown_from_its_first_name_on(edges, shown):
    found = find_cycle([(edge[0], edge[1]) for edge in edges.split()])
    assert (found and cycle_path(found)) == shown


@given(edges=EDGES)
def test_a_cycle_is_found_exactly_if_there_is_one_and_no_shorter_one_exists(edges):
    graph = nx.DiGraph(edges)
    found = find_cycle(edges)
    assert (found is None) == nx.is_directed_acyclic_graph(graph)
    if found is not None:
        assert all(graph.has_edge(*edge) for edge in zip(found, [*found[1:], found[0]], strict=True))
        assert len(found) == min(map(len, nx.simple_cycles(graph)))
        assert found[0] == min(found)


@given(edges=EDGES, seed=st.integers())
def test_the_order_of_the_edges_does_not_matter(edges, seed):
    shuffled = list(edges)
    random.Random(seed).shuffle(shuffled)
    assert find_cycle(edges) == find_cycle(shuffled)
