"""What a config key of dbt gets: it works, or the error says what to write here instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from merge_runner.errors import Problems
from merge_runner.project.schema.config import MODEL_KEYS
from merge_runner.project.schema.config_layers import Layer, config_key, resolve
from merge_runner.project.schema.dbt_keys import CONFIG
from merge_runner.project.schema.settings import settings
from merge_runner.text import Place, SourceText
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "dbt_keys.yml")
KEYS = [case for part in ("core", "spark", "databricks") for case in CASES[part]]


def problems_of(key, value):
    problems = Problems()
    resolve([Layer({key: value}, {key: Place("a.sql", 1, 1)})], problems, "model a")
    return list(problems)


@pytest.mark.parametrize("case", KEYS, ids=lambda case: case["key"])
def test_a_key_of_dbt_works_or_its_hint_says_what_to_do(case):
    if "says" not in case:
        assert config_key(case["key"]) in MODEL_KEYS
        return
    (problem,) = problems_of(case["key"], "x")
    assert (problem.code, problem.message) == ("unknown-key", f'unknown config key "{case["key"]}"')
    assert case["says"] in problem.hint


@pytest.mark.parametrize("case", CASES["values"], ids=lambda case: case["value"])
def test_a_value_of_dbt_gets_a_hint(case):
    (problem,) = problems_of(case["key"], case["value"])
    assert problem.code == "invalid-value"
    assert case["says"] in problem.hint


def test_no_hint_is_about_a_key_that_exists():
    assert not CONFIG.keys() & MODEL_KEYS


@pytest.mark.parametrize("case", CASES["settings"], ids=lambda case: case["key"])
def test_a_setting_of_dbt_gets_a_hint(case):
    problems = Problems()
    source = SourceText("pyproject.toml", f'[tool.merge-runner]\nname = "shop"\n{case["key"]} = ["x"]\n')
    assert settings(source, problems) is None
    (problem,) = problems
    assert (problem.code, problem.place.line) == ("unknown-key", 3)
    assert case["says"] in problem.hint
