"""Which inputs several nodes share: cases in sharing.yml."""

import re
from pathlib import Path

import pytest

from merge_runner import Project
from merge_runner.plan.steps.inputs import ShareInputs
from merge_runner.run.node_plans import plan_nodes
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "sharing.yml")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_shared_inputs(case, make_project):
    column = "{name: id, data_type: int, data_tests: [not_null]}" if case.get("tests") else "{name: id, data_type: int}"
    files = {
        "models/raw.yml": f"""
            version: 2
            sources:
              - name: raw
                tables:
                  - {{name: a, path: a.csv, format: csv, columns: [{column}]}}
                  - {{name: b, path: b.json, format: json}}
                  - {{name: d, format: delta}}
        """,
    }
    for name, query in case["models"].items():
        text = query if "config" in query else "{{ config(materialized='table') }} " + query
        files[f"models/{name}.sql"] = re.sub(r"\{\{ ([abd]) \}\}", r"{{ source('raw', '\1') }}", text)
    project = Project.load(make_project(files))
    plans = plan_nodes(project.prepared, project.prepared.graph.nodes, "test").plans
    found = {}
    for unique_id, plan in plans.items():
        for step in plan.steps:
            if isinstance(step, ShareInputs):
                assert step.readers, "a step that shares nothing"
                for relation, readers in step.readers.items():
                    assert unique_id in readers
                    schema = relation.schema if relation.schema == "raw" else "shop"
                    found[f"{schema}.{relation.identifier}"] = sorted(reader.split(".")[2] for reader in readers)
    assert found == {name: sorted(readers) for name, readers in case.get("shared", {}).items()}
