"""--defer: refs to what is not built here mean the relations of an earlier state."""

import json

import pytest

from merge_runner.api import Project
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.inputs import AttachInputs, TableInput, ViewInput
from merge_runner.run.results.artifacts import write_manifest

FILES = {
    "profiles.yml": "shop: {target: dev, outputs: {dev: {schema: dev}, prod: {schema: prod}}}",
    "seeds/raw.csv": "id\n1\n",
    "models/tab.sql": "{{ config(materialized='table') }}select * from {{ ref('raw') }}",
    "models/vw.sql": "select * from {{ ref('tab') }}",
    "models/eph.sql": "{{ config(materialized='ephemeral') }}select * from {{ ref('vw') }}",
    "models/fct.sql": "merge into {{ this }} t using {{ ref('eph') }} s on t.id = s.id when not matched then insert *",
}
FCT = "model.shop.fct"


@pytest.fixture
def project(make_project, tmp_path):
    """A project with the manifest of its target prod in the folder `prod`."""
    root = make_project(FILES)
    state = tmp_path / "prod"
    write_manifest(Project.load(root, target="prod", target_path=str(state)).prepared, "1")
    return root, state


def compiled(project, ids, unique_id=FCT):
    root, state = project
    deferred = Project.load(root).defer(ids, state)
    compiler = deferred.prepared.compiler
    plan = Planner(deferred.prepared).plan(unique_id)
    attached = next(step for step in plan.steps if isinstance(step, AttachInputs))
    return compiler.render(unique_id).text, attached.inputs


def test_a_node_that_is_neither_selected_nor_built_is_read_from_the_state(project):
    text, inputs = compiled(project, [FCT])
    assert "select * from prod.vw" in text
    assert text.startswith("merge into dev.fct")
    warehouse = project[0] / "warehouse/prod"
    assert [(type(item), item.relation.name) for item in inputs] == [(TableInput, "prod.tab"), (ViewInput, "prod.vw")]
    assert inputs[0].location == warehouse / "tab"
    assert inputs[1].definition == warehouse / "vw.view.sql"


def test_a_selected_node_is_read_from_this_target(project):
    text, inputs = compiled(project, [FCT, "model.shop.vw"])
    assert "select * from dev.vw" in text
    assert [item.relation.name for item in inputs] == ["prod.tab", "dev.vw"]


@pytest.mark.parametrize(("built", "read"), [("vw.view.sql", "dev.vw"), ("tab", "prod.vw")])
def test_a_node_that_this_target_has_is_read_from_it(project, built, read):
    folder = project[0] / "warehouse/dev"
    folder.mkdir(parents=True)
    (folder / built).touch()
    assert f"select * from {read}" in compiled(project, [FCT])[0]


def test_a_node_that_the_state_does_not_have_is_read_from_this_target(project):
    path = project[1] / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["nodes"]["model.shop.vw"]
    path.write_text(json.dumps(manifest))
    text, inputs = compiled(project, [FCT])
    assert "select * from dev.vw" in text
    assert [item.relation.name for item in inputs] == ["prod.tab", "dev.vw"]


def test_where_a_catalog_keeps_the_tables_all_that_is_not_selected_is_deferred(project):
    (project[0] / "profiles.yml").write_text("shop: {outputs: {dev: {schema: lake.dev}}}")
    text, _ = compiled(project, [FCT])
    assert "select * from prod.vw" in text
    assert "merge into lake.dev.fct" in text


def test_a_manifest_of_odd_shape_is_no_fault_of_ours(project):
    entry = {"resource_type": "model", "config": [1], "depends_on": 3, "alias": 4, "schema": 5}
    manifest = {"nodes": {"model.shop.vw": entry}, "sources": {}, "macros": {}}
    (project[1] / "manifest.json").write_text(json.dumps(manifest))
    assert "select * from `5`.`4`" in compiled(project, [FCT])[0]
