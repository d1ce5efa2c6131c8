"""A model that says that it is incremental and is none is warned of, at the place that says so."""

import json
from pathlib import Path

import pytest

from merge_runner.api import Project
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("no_effect.yml"))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_what_has_no_effect(case, make_project):
    folder = "".join(f"{key} = {json.dumps(value)}\n" for key, value in case.get("folder", {}).items())
    files = {
        "pyproject.toml": f'[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.models]\n{folder}',
        "models/up.sql": "select 1 as id, 2 as day",
        "models/m.sql": case["file"],
    }
    if "yml" in case:
        files["models/m.yml"] = f"version: 2\nmodels:\n- name: m\n  config:  {json.dumps(case['yml'])}\n"
    found = [problem for each in Project.load(make_project(files)).graph.warnings.values() for problem in each]
    assert [(str(problem.place), problem.code) for problem in found] == [
        (place, code) for place, code, _ in case["warns"]
    ]
    for problem, (_, _, message) in zip(found, case["warns"], strict=True):
        assert message in problem.message
        assert "docs/getting-started/from-dbt.md" in str(problem.hint)
