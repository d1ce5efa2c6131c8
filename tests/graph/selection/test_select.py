import json
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.errors import Problems, ProblemsError
from merge_runner.graph.selection.select import SelectionContext, select
from merge_runner.project.schema.selectors import selectors
from merge_runner.project.syntax.yaml_tree import yaml_tree
from merge_runner.text import SourceText
from tests.yaml_data import read_yaml

DATA = read_yaml(Path(__file__).with_name("select.yml"))


def _selectors(data):
    """Named selections as a selectors.yml of these data has them; each is in a line below the one before."""
    text = "".join(f"{name}: {json.dumps(definition)}\n" for name, definition in data.items())
    problems = Problems()
    found = selectors(yaml_tree(SourceText("selectors.yml", text), problems), problems)
    problems.check()
    return found


SELECTORS = _selectors(DATA["selectors"])


def _strings(case, key):
    value = case.get(key, [])
    return [value] if isinstance(value, str) else value


def _title(case):
    return " ".join(f"{key}={case[key]}" for key in ("select", "exclude", "selector", "indirect") if key in case)


@pytest.fixture(scope="module")
def graph(graph_of):
    return graph_of(DATA["graph"], disabled=DATA["disabled"])


def _selected(graph, case):
    context = SelectionContext(Path("/shop"), selectors=SELECTORS, indirect=case.get("indirect", "eager"))
    return select(graph, context, _strings(case, "select"), _strings(case, "exclude"), case.get("selector"))


def _names(graph, ids):
    return [unique_id.removeprefix(f"{graph.nodes[unique_id].resource_type}.shop.") for unique_id in ids]


@pytest.mark.parametrize("case", DATA["cases"], ids=_title)
def test_a_selection_gives_its_nodes_and_warns_of_what_matches_nothing(graph, case):
    selection = _selected(graph, case)
    types = [case["of"]] if "of" in case else ["model", "seed", "source", "test", "unit_test"]
    ids = [unique_id for unique_id in selection.ids if graph.nodes[unique_id].resource_type in types]
    assert sorted(_names(graph, ids)) == case["ids"]
    expected = [f'the selection "{text}" does not match any enabled nodes' for text in case.get("warns", [])]
    assert [warning.message for warning in selection.warnings] == expected
    if "hint" in case:
        assert [warning.hint for warning in selection.warnings] == [case["hint"]]


@pytest.mark.parametrize("case", DATA["errors"], ids=_title)
def test_a_selection_that_cannot_be_read_is_an_error_without_a_place(graph, case):
    with pytest.raises(ProblemsError) as error:
        _selected(graph, case)
    problem = error.value.problems[0]
    assert (problem.code, problem.place) == (case["code"], None)
    assert case.get("says", "") in problem.message
    if "hint" in case:
        assert problem.hint == case["hint"]


@pytest.mark.parametrize("case", DATA["placed_errors"], ids=_title)
def test_an_error_in_a_definition_is_reported_where_it_is_written(graph, case):
    with pytest.raises(ProblemsError) as error:
        _selected(graph, case)
    (problem,) = error.value.problems
    line = 1 + list(DATA["selectors"]).index(case["selector"])
    assert (problem.code, problem.hint, problem.place.line) == (case["code"], case["hint"], line)


def test_all_errors_of_a_selection_are_reported_at_once(graph):
    with pytest.raises(ProblemsError) as error:
        _selected(graph, {"select": "tagg:x path:models @export+,resource_type:x", "exclude": "config:y"})
    codes = [problem.code for problem in error.value.problems]
    assert sorted(codes) == ["bad-selection", "bad-selection", "bad-selection", "unknown-selector-method"]


def test_without_any_selection_everything_is_selected_parents_first(graph):
    ids = select(graph, SelectionContext(Path("/shop"))).ids
    assert sorted(ids) == sorted(graph.nodes)
    position = {unique_id: index for index, unique_id in enumerate(ids)}
    assert all(position[parent] < position[child] for parent, child in graph.dag.edges)


def test_an_absolute_path_inside_the_project_selects_as_the_relative_one_does(graph):
    absolute = _selected(graph, {"select": "/shop/models/dims/dim_zone.sql"})
    assert _names(graph, absolute.ids) == ["dim_zone"]
    assert _selected(graph, {"select": "path:/shop"}).ids == select(graph, SelectionContext(Path("/shop"))).ids


def test_a_selector_that_stands_in_itself_is_an_error_that_shows_the_way(graph):
    selectors = _selectors({"a": "tag:x selector:b", "b": {"method": "selector", "value": "a"}})
    with pytest.raises(ProblemsError) as error:
        select(graph, SelectionContext(Path("/shop"), selectors=selectors), selector="a")
    assert [problem.code for problem in error.value.problems] == ["selector-cycle"]
    assert error.value.problems[0].message.endswith("a -> b -> a")


def test_the_same_unmatched_name_is_warned_of_once(graph):
    selection = _selected(graph, {"select": "nope nope", "exclude": "nope"})
    assert len(selection.warnings) == 1


SIZE = 12
EDGES = st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=30)
NUMBER = st.integers(0, SIZE - 1)
DEPTH = st.integers(0, 4)


def _of(graph, *texts, exclude=()):
    return set(select(graph, SelectionContext(Path("/shop")), texts, exclude).ids)


@given(edges=EDGES, number=NUMBER)
def test_plus_in_front_is_the_node_and_its_ancestors_behind_its_descendants(graph_over, edges, number):
    graph = graph_over(edges, SIZE)
    node = f"model.shop.m{number}"
    assert _of(graph, f"+m{number}") == nx.ancestors(nx.DiGraph(graph.dag.succ), node) | {node}
    assert _of(graph, f"m{number}+") == nx.descendants(nx.DiGraph(graph.dag.succ), node) | {node}


@given(edges=EDGES, number=NUMBER, up=DEPTH, down=DEPTH)
def test_a_number_at_a_plus_is_the_distance_that_it_reaches(graph_over, edges, number, up, down):
    graph = graph_over(edges, SIZE)
    node = f"model.shop.m{number}"
    below = nx.single_source_shortest_path_length(nx.DiGraph(graph.dag.succ), node, cutoff=down)
    above = nx.single_source_shortest_path_length(nx.DiGraph(graph.dag.pred), node, cutoff=up)
    assert _of(graph, f"{up}+m{number}+{down}") == set(below) | set(above)


@given(edges=EDGES, number=NUMBER)
def test_at_is_what_building_all_descendants_needs(graph_over, edges, number):
    graph = graph_over(edges, SIZE)
    below = _of(graph, f"m{number}+")
    assert _of(graph, f"@m{number}") == below.union(*(nx.ancestors(nx.DiGraph(graph.dag.succ), node) for node in below))


TERM = st.builds("{}m{}{}".format, st.sampled_from(["", "+", "1+", "2+"]), NUMBER, st.sampled_from(["", "+", "+1"]))


@given(edges=EDGES, one=TERM, other=TERM)
def test_a_space_unites_a_comma_intersects_and_exclude_subtracts(graph_over, edges, one, other):
    graph = graph_over(edges, SIZE)
    first, second = _of(graph, one), _of(graph, other)
    assert _of(graph, f"{one} {other}") == _of(graph, one, other) == _of(graph, other, one) == first | second
    assert _of(graph, f"{one},{other}") == _of(graph, f"{other},{one}") == first & second
    assert _of(graph, one, exclude=[other]) == first - second
