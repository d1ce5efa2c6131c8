import json
from datetime import datetime, timezone

import pytest

from merge_runner.errors import ProblemsError
from merge_runner.graph.artifact import Metadata
from merge_runner.graph.manifest import manifest
from merge_runner.graph.selection.select import SelectionContext, select
from merge_runner.graph.selection.state import changes, read_manifest, read_results

MADE = Metadata(datetime(2026, 1, 2, tzinfo=timezone.utc), "1", "0.1.0")

NODES = {
    "raw.flight": {"type": "source", "path": "models/sources.yml", "config": {"format": "csv"}, "schema": "raw"},
    "stg": {"in": "staging", "parents": ["raw.flight"], "config": {"materialized": "view"}, "tags": ["a"]},
    "fct": {
        "parents": ["stg"],
        "macros": ["outer"],
        "columns": {"id": {"data_type": "int"}, "day": {"data_type": "date"}},
    },
    "zones": {"type": "seed", "path": "seeds/zones.csv"},
    "unique_fct": {"type": "test", "calls": "unique", "path": "models/schema.yml", "parents": ["fct"]},
    "wins": {"type": "unit_test", "tests": "fct", "path": "models/schema.yml", "parents": ["fct"]},
}
MACROS = {"inner": {"sql": "1"}, "outer": {"macros": ["inner"]}, "other": {}}


def made(graph_of, nodes=NODES, macros=MACROS):
    return graph_of(
        [{"name": name, **spec} for name, spec in nodes.items()],
        [{"name": name, **spec} for name, spec in macros.items()],
    )


def saved(folder, graph):
    """The graph's manifest, written and read again."""
    (folder / "manifest.json").write_text(json.dumps(manifest(graph, MADE), sort_keys=True), encoding="utf-8")
    return read_manifest(folder)


def with_change(name, **change):
    return {key: {**spec, **change} if key == name else spec for key, spec in NODES.items()}


def differing(graph_of, folder, nodes=NODES, macros=MACROS):
    """What differs between the project above and this one, by name."""
    found = changes(made(graph_of, nodes, macros), saved(folder, made(graph_of)))
    return {unique_id.partition(".shop.")[2]: sorted(kinds) for unique_id, kinds in found.items() if kinds}


def test_nothing_differs_from_the_manifest_of_the_same_project(graph_of, tmp_path):
    assert differing(graph_of, tmp_path) == {}


@pytest.mark.parametrize(
    ("name", "change", "kinds"),
    [
        ("fct", {"checksum": "other"}, ["body"]),
        ("zones", {"checksum": "other"}, ["body"]),
        ("wins", {"checksum": "other"}, ["body"]),
        ("unique_fct", {"checksum": "other"}, ["body"]),
        ("stg", {"config": {"materialized": "table"}}, ["configs"]),
        ("stg", {"config": {"materialized": "view", "conf": {"a": "1"}}}, ["configs"]),
        ("raw.flight", {"config": {"format": "json"}}, ["configs"]),
        ("stg", {"meta": {"owner": "x"}}, ["configs"]),
        ("fct", {"alias": "other"}, ["relation"]),
        ("fct", {"config": {"schema": "mart"}}, ["relation"]),
        ("raw.flight", {"schema": "other"}, ["relation"]),
        ("raw.flight", {"alias": "other"}, ["relation"]),
        ("fct", {"columns": {"id": {"data_type": "bigint"}, "day": {"data_type": "date"}}}, ["contract"]),
        ("fct", {"columns": {"id": {"data_type": "int"}}}, ["contract"]),
        ("stg", {"in": "marts"}, ["location"]),
        # neither of these changes what a node does
        ("stg", {"tags": ["b"]}, []),
        ("stg", {"description": "new"}, []),
        ("fct", {"schema": "prod"}, []),
        ("fct", {"columns": {"id": {"data_type": "int", "description": "key"}, "day": {"data_type": "date"}}}, []),
    ],
)
def test_a_change_is_seen_as_what_it_is_and_only_where_it_is(graph_of, tmp_path, name, change, kinds):
    assert differing(graph_of, tmp_path, with_change(name, **change)) == ({name: kinds} if kinds else {})


def test_a_node_that_was_not_there_is_new_and_one_that_is_gone_is_nothing(graph_of, tmp_path):
    nodes = {**NODES, "fresh": {"parents": ["fct"]}}
    del nodes["zones"]
    assert differing(graph_of, tmp_path, nodes) == {"fresh": ["new"]}


@pytest.mark.parametrize(
    ("macros", "found"),
    [
        ({**MACROS, "other": {"sql": "changed"}}, {}),
        ({**MACROS, "outer": {"macros": ["inner"], "sql": "changed"}}, {"fct": ["macros"]}),
        ({**MACROS, "inner": {"sql": "changed"}}, {"fct": ["macros"]}),
        ({"inner": {"sql": "1"}, "other": {}}, {"fct": ["macros"]}),
    ],
)
def test_a_changed_macro_counts_for_what_calls_it_directly_or_through_others(graph_of, tmp_path, macros, found):
    assert differing(graph_of, tmp_path, macros=macros) == found


def test_a_macro_that_is_new_counts_for_the_models_that_call_it_now(graph_of, tmp_path):
    nodes = with_change("stg", macros=["fresh"])
    assert differing(graph_of, tmp_path, nodes, {**MACROS, "fresh": {}}) == {"stg": ["macros"]}


def test_the_override_of_a_built_in_macro_counts_when_it_is_taken_away(graph_of, tmp_path):
    before = made(graph_of, with_change("stg", macros=["generate_schema_name"]), {**MACROS, "generate_schema_name": {}})
    assert changes(made(graph_of), saved(tmp_path, before))["model.shop.stg"] == {"macros"}


CHANGED = {
    **with_change("fct", checksum="other"),
    "stg": {**NODES["stg"], "config": {"materialized": "table"}},
    "zones": {**NODES["zones"], "alias": "areas"},
    "fresh": {"parents": ["zones"]},
}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("state:new", {"fresh"}),
        ("state:old,resource_type:source", {"raw.flight"}),
        ("state:modified", {"fct", "stg", "zones", "fresh", "unique_fct", "wins"}),
        ("state:modified.body", {"fct", "fresh", "unique_fct", "wins"}),
        ("state:modified.configs", {"stg", "fresh"}),
        ("state:modified.relation", {"zones", "fresh"}),
        ("state:modified.contract", {"fresh"}),
        ("state:modified.macros", set()),
        ("state:unmodified", {"raw.flight", "unique_fct", "wins"}),
        ("1+state:modified.configs", {"raw.flight", "stg", "zones", "fresh"}),
        ("state:modified.configs+1", {"stg", "fresh", "fct", "unique_fct", "wins"}),
        ("state:new,tag:a", set()),
    ],
)
def test_state_selects_by_comparison_and_never_warns_that_nothing_changed(graph_of, tmp_path, text, names):
    saved(tmp_path, made(graph_of))
    selection = select(made(graph_of, CHANGED), SelectionContext(tmp_path, state_dir=tmp_path), [text])
    assert {unique_id.partition(".shop.")[2] for unique_id in selection.ids} == names
    assert selection.warnings == ()


def write_results(folder, **statuses):
    results = [{"unique_id": f"model.shop.{name}", "status": status} for name, status in statuses.items()]
    (folder / "run_results.json").write_text(json.dumps({"results": results}), encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("result:error", {"stg"}),
        ("result:error+", {"stg", "fct", "unique_fct", "wins"}),
        ("result:success", {"fct", "unique_fct", "wins"}),
        ("result:skipped", set()),
        ("result:error result:success,resource_type:model", {"stg", "fct", "unique_fct", "wins"}),
    ],
)
def test_result_selects_by_how_the_earlier_run_went(graph_of, tmp_path, text, names):
    write_results(tmp_path, stg="error", fct="success", gone="error")
    selection = select(made(graph_of), SelectionContext(tmp_path, state_dir=tmp_path), [text])
    assert {unique_id.partition(".shop.")[2] for unique_id in selection.ids} == names
    assert selection.warnings == ()


def test_a_status_of_two_words_is_selected_with_an_underscore(graph_of, tmp_path):
    write_results(tmp_path, stg="partial success", fct="success")
    selection = select(made(graph_of), SelectionContext(tmp_path, state_dir=tmp_path), ["result:partial_success"])
    assert set(selection.ids) == {"model.shop.stg"}


def test_statuses_are_read_by_id(tmp_path):
    write_results(tmp_path, stg="error", fct="no-op")
    assert read_results(tmp_path) == {"model.shop.stg": "error", "model.shop.fct": "no-op"}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, r"there is no .*\[no-state\]"),
        (b"", r"not JSON: .*\[bad-state\]"),
        (b'{"nodes": {', r"not JSON: .*\[bad-state\]"),
        (b"\xff\xfe", r"not JSON: .*\[bad-state\]"),
        (b"[" * 100_000, r"not JSON: .*\[bad-state\]"),
        (b"[]", r"not a JSON object \[bad-state\]"),
        (b"{}", r'its "(nodes|results)" is not a .*\[bad-state\]'),
        (b'{"nodes": [], "results": {}}', r'its "(nodes|results)" is not a .*\[bad-state\]'),
        (b'{"nodes": {"a": 1}, "results": [1]}', r'(its "nodes" is not|a result has no) .*\[bad-state\]'),
    ],
)
@pytest.mark.parametrize(("read", "name"), [(read_manifest, "manifest.json"), (read_results, "run_results.json")])
def test_a_state_that_is_missing_or_broken_is_an_error_that_names_the_file(tmp_path, content, says, read, name):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ProblemsError, match=says) as error:
        read(tmp_path)
    problem = error.value.problems[0]
    assert str(tmp_path / name) in problem.message
    assert problem.hint


def test_a_state_folder_that_is_a_file_is_an_error(tmp_path):
    (tmp_path / "state").write_text("x", encoding="utf-8")
    with pytest.raises(ProblemsError, match="Not a directory"):
        read_manifest(tmp_path / "state")


def test_an_odd_entry_in_an_earlier_manifest_counts_as_a_difference_and_breaks_nothing(graph_of, tmp_path):
    graph = made(graph_of)
    previous = saved(tmp_path, graph)
    previous["nodes"]["model.shop.fct"] = {"config": None, "columns": [], "depends_on": None}
    assert changes(graph, previous)["model.shop.fct"] >= {"body", "location"}


def test_constraints_of_an_earlier_manifest_have_columns_and_are_the_same(graph_of, tmp_path):
    constraint = {"type": "not_null", "expression": None, "name": None}
    nodes = with_change("fct", columns={"id": {"data_type": "int", "constraints": [constraint]}})
    earlier = with_change("fct", columns={"id": {"data_type": "int", "constraints": [{**constraint, "columns": []}]}})
    before = saved(tmp_path, made(graph_of, earlier))
    assert before["nodes"]["model.shop.fct"]["columns"]["id"]["constraints"][0]["columns"] == []
    assert changes(made(graph_of, nodes), before)["model.shop.fct"] == frozenset()
