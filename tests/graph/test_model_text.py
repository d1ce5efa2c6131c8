"""The hash of a model's text: the same where nothing that makes rows was edited."""

import pytest

from merge_runner.api import Project
from merge_runner.graph.model_text import text_hash
from tests.written_project import write_files, write_project

FILES = {
    "models/base.sql": "select 1 as id",
    "models/m.sql": "{{ config(materialized='table') }} select {{ outer() }} as id from {{ ref('base') }} "
    "{% if var('late', false) %} where {{ late() }} {% endif %} -- {{ by_engine() if var('late', false) }}",
    "models/m.yml": "models: [{name: m, description: all of them}]\n",
    "macros/all.sql": "{% macro inner() %}id{% endmacro %}\n{% macro outer() %}{{ inner() }}{% endmacro %}\n"
    "{% macro other() %}1{% endmacro %}\n{% macro late() %}3{% endmacro %}\n"
    "{% macro by_engine() %}{{ adapter.dispatch('by_engine')() }}{% endmacro %}\n"
    "{% macro default__by_engine() %}5{% endmacro %}\n",
}


def hash_of(root, **options):
    graph = Project.load(root, **options).graph
    return text_hash(graph, graph.nodes["model.shop.m"])


@pytest.mark.parametrize(
    ("path", "old", "new", "same"),
    [
        pytest.param("models/m.sql", "as id", "+ 1 as id", False, id="its text"),
        pytest.param("macros/all.sql", "%}{{ inner", "%}1 + {{ inner", False, id="a macro that it calls"),
        pytest.param("macros/all.sql", "%}id{%", "%}-id{%", False, id="a macro that a macro calls"),
        pytest.param("macros/all.sql", "%}1{%", "%}2{%", True, id="a macro that it does not call"),
        pytest.param("macros/all.sql", "%}3{%", "%}4{%", False, id="a macro of a branch that is not taken"),
        pytest.param("macros/all.sql", "%}5{%", "%}6{%", False, id="an implementation that is dispatched"),
        pytest.param("models/base.sql", "1 as id", "2 as id", True, id="the text of a parent"),
        pytest.param("models/m.yml", "all of them", "some", True, id="its description"),
    ],
)
def test_edits(tmp_path, path, old, new, same):
    root = write_project(tmp_path, "shop", FILES)
    before = hash_of(root)
    assert old in FILES[path]
    write_files(root, {path: FILES[path].replace(old, new)})
    assert (hash_of(root) == before) == same


def test_each_run_has_the_same_hash(tmp_path):
    root = write_project(tmp_path, "shop", FILES)
    hashes = {hash_of(root, full_refresh=refresh, cache=cache) for refresh in (True, False) for cache in (True, False)}
    hashes.add(hash_of(root, vars={"late": True}))
    assert len(hashes) == 1
    assert all(len(text) == 16 for text in hashes)
