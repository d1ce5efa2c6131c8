"""Whatever a file holds, its reader tells problems with places; it never fails."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.errors import Problems
from merge_runner.project.load.read_properties import read_properties
from merge_runner.project.schema import properties, unit_test
from merge_runner.project.schema.config import ModelConfig
from merge_runner.project.schema.config_layers import Layer, resolve
from merge_runner.project.schema.profile import read_profile
from merge_runner.project.schema.selectors import selectors
from merge_runner.project.schema.settings import settings
from merge_runner.project.syntax.yaml_tree import yaml_tree
from merge_runner.text import SourceText

pytestmark = pytest.mark.fuzz("YAML and TOML")

_TYPES = (
    properties.PropertyFile,
    properties.Source,
    properties.SourceTable,
    properties.ModelProperties,
    properties.Column,
    properties.Constraint,
    unit_test.UnitTest,
    unit_test.Expect,
    unit_test.Given,
    ModelConfig,
)
_KEYS = sorted({field.name for kind in _TYPES for field in fields(kind)} | {"tests", "arguments", "+tags", "x", ""})
_SCALARS = st.sampled_from(
    ["a", "", "dict", "csv", "not_null", "merge", "auto", "5m", "{{ x", "{{ env_var('A') }}"]
) | (st.none() | st.booleans() | st.integers(-1, 3) | st.floats(allow_nan=False) | st.dates())


def data(keys):
    return st.recursive(
        _SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(keys), inner, max_size=4),
        max_leaves=20,
    )


def as_yaml(value):
    return SourceText("a.yml", json.dumps(value, default=str))


def check_places(problems, name):
    for problem in problems:
        assert problem.place is not None
        assert problem.place.path == name
        assert problem.message


@given(data(_KEYS))
def test_a_property_file_may_hold_anything(value):
    problems = Problems()
    read_properties(yaml_tree(as_yaml(value), problems), problems)
    check_places(problems, "a.yml")


@given(
    st.dictionaries(st.sampled_from(["models", "sources", "seeds", "unit_tests"]), st.lists(data(_KEYS), max_size=2))
)
def test_the_lists_of_a_property_file_may_hold_anything(value):
    problems = Problems()
    read_properties(yaml_tree(as_yaml(value), problems), problems)
    check_places(problems, "a.yml")


@given(data(["selectors", "name", "definition", "a"]))
def test_selectors_may_hold_anything(value):
    problems = Problems()
    selectors(yaml_tree(as_yaml(value), problems), problems)
    check_places(problems, "a.yml")


@given(st.lists(st.dictionaries(st.sampled_from(_KEYS), data(_KEYS), max_size=4), max_size=3))
def test_config_may_hold_anything_and_what_is_right_is_json(layers):
    problems = Problems()
    config = resolve([Layer(layer, {}) for layer in layers], problems, "model a")
    json.dumps(config.as_json(), allow_nan=True)


_OUTPUT = ["schema", "master", "remote", "threads", "conf", "catalogs", "warehouse", "platform", "jvm", "audit", "x"]


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("project")


@given(data([*_OUTPUT, "outputs", "target", "shop", "a"]), data(_OUTPUT))
def test_profiles_may_hold_anything(root, whole, output):
    for value in (whole, {"shop": whole}, {"shop": {"outputs": {"a": output}}}):
        (root / "profiles.yml").write_text(json.dumps(value, default=str))
        problems = Problems()
        found = read_profile(root, "shop", problems, env={})
        assert (found is None) == (len(problems) > 0)
        check_places(problems, "profiles.yml")


def toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps("" if value is None else value, default=str).replace("Infinity", "inf")


_SETTINGS = ["name", "profile", "model-paths", "target-path", "vars", "models", "seeds", "lint", "select", "severity"]


@given(st.dictionaries(st.sampled_from(_SETTINGS), data([*_SETTINGS, "+tags", "meta", "enabled"]), max_size=5))
def test_settings_may_hold_anything(value):
    text = f"[tool.merge-runner]\n{''.join(f'{key} = {toml(each)}' + chr(10) for key, each in value.items())}"
    problems = Problems()
    settings(SourceText("pyproject.toml", text), problems)
    check_places(problems, "pyproject.toml")
    assert "toml-syntax" not in {problem.code for problem in problems}
