"""The JSON Schemas say what the loader says: of every file and text of the repository, and of random changes to them."""

from __future__ import annotations

import copy
import json
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any, get_args

import jsonschema
import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st
from validate_pyproject import api, errors, plugins

from merge_runner.json_schemas import NAMES, Name, text, tool_schema
from merge_runner.project.syntax.annotations import After
from tests.docgen.loader_verdicts import ROOT, kind_of, schema, texts_of_tests, verdict
from tests.docgen.loader_verdicts import errors as schema_errors
from tests.project.load import test_read_properties
from tests.project.schema import test_config, test_dbt_keys, test_profile, test_selectors
from tools.docgen.json_schema import Definitions

_NOT_IN_A_SCHEMA = {
    r"\[duplicate-name\]": "names of entries are compared",
    r"\[duplicate-default\]": "entries are compared",
    r"\[overlapping-paths\]": "paths are compared",
    r"the config key \"\w+\" is set twice": "spellings of one key",
    r"is set both in \"config\" and next to it": "two mappings are compared",
    r"catalog \"[^\"]+\" of type embedded": "it depends on the master and the warehouse",
    r"no count is between": "two numbers are compared",
    r"must be a time such as": "a calendar knows which texts are times",
}
"""Messages of the loader about what a schema cannot say or does not, and why."""


def _cases(test: Any) -> list[Any]:
    return next(mark.args[1] for mark in test.pytestmark if mark.name == "parametrize")


def _fragments() -> Iterator[tuple[str, str]]:
    """Yield the cases of tests that are parts of files, in a file."""
    tests = test_read_properties
    for written, _ in (
        *_cases(tests.test_a_data_test_is_read_in_each_of_its_forms),
        *_cases(tests.test_a_wrong_data_test_is_told_at_its_place),
    ):
        yield "properties", f"models:\n  - name: a\n    data_tests:\n      - {written}\n"
    for entry, *_ in _cases(tests.test_a_key_of_dbt_that_would_matter_is_an_error_that_says_what_to_do):
        yield "properties", entry
    configs = [{key: written} for key, written, _ in _cases(test_config.test_a_value_is_read_in_each_of_its_forms)]
    configs += [values for values, _ in _cases(test_config.test_a_problem_stands_at_its_key)]
    configs += [{case["key"]: None} for case in test_dbt_keys.KEYS]
    configs += [{case["key"]: case["value"]} for case in test_dbt_keys.CASES["values"]]
    for config in configs:
        for kind in ("models", "seeds"):
            yield "properties", json.dumps({kind: [{"name": "a", "config": config}]}, default=str)
    for output, _ in (
        *_cases(test_profile.test_a_problem_names_keys_and_never_values),
        *_cases(test_profile.test_an_embedded_catalog_lies_in_the_warehouse),
    ):
        yield "profiles", test_profile.one_output(output)
    for output, _ in _cases(test_profile.test_the_tables_of_a_local_output_are_where_its_conf_says):
        yield "profiles", test_profile.one_output(f"{{schema: s, {output}}}")
    for named in (2013, "true", "lake.shop", "a.b.c"):
        yield "profiles", test_profile.one_output(f"{{schema: {named}}}")
    for written in _cases(test_selectors.test_selections_are_named_in_a_mapping_or_as_in_dbt):
        yield "selectors", written
    for written, _ in _cases(test_selectors.test_a_wrong_selection_is_reported_at_its_place):
        yield "selectors", written
    for case in test_dbt_keys.CASES["settings"]:
        yield "settings", f'[tool.merge-runner]\nname = "shop"\n{case["key"]} = ["x"]\n'


def _files() -> Iterator[tuple[str, str, str]]:
    """Yield the files of projects in the repository, the starter of `init` among them."""
    listed = subprocess.run(
        ["git", "ls-files", "*.yml", "*.toml"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for path in listed.stdout.split():
        content = (ROOT / path).read_text(encoding="utf-8").replace("__project__", "shop")
        kind = "profiles" if path.endswith("profiles.yml") else kind_of(content)
        if path.endswith("pyproject.toml"):
            kind = "settings"
        if kind is not None and path != "tests/graph/selection/select.yml":  # cases, and no file of selectors
            yield path, kind, content


FILES = list(_files())


@cache
def _texts() -> list[tuple[str, str, str]]:
    """Return where each text is, its kind, and the text."""
    cases = ((f"a case of {kind}", kind, content) for kind, content in dict.fromkeys(_fragments()))
    return [*FILES, *texts_of_tests(), *cases]


def _beyond(kind: str, data: Any) -> bool:
    """Return whether a schema does not say enough of data: what Jinja gives, and what may be dbt's in profiles.yml."""
    if "{{ env_var('X', 'x') }}" in json.dumps(data):
        return True
    if kind != "profiles" or not isinstance(data, dict):
        return False
    outputs = [each["outputs"] for each in data.values() if isinstance(each, dict) and "outputs" in each]
    named = [output for each in outputs if isinstance(each, dict) for output in each.values()]
    return "config" in data or any(isinstance(output, dict) and "type" in output for output in named)


def _disagreement(kind: str, content: str) -> tuple[str, bool] | None:
    """Return what differs ("" where nothing does) and whether the loader accepts; None where that cannot be said."""
    said = verdict(kind, content)
    if said is None or (isinstance(said.data, dict) and said.data.get("version") is True):  # True == 1 for pydantic
        return None
    found = schema_errors(kind, said.data)
    if not said.problems:
        return "; ".join(found[:2]), True
    if _beyond(kind, said.data):
        return "", False
    expressible = [each for each in said.problems if not any(re.search(part, str(each)) for part in _NOT_IN_A_SCHEMA)]
    return ("" if found or not expressible else f"accepted, though: {expressible[0]}"), False


def test_every_text_of_the_repository_gets_the_same_verdict():
    counts = {True: 0, False: 0}
    differing = []
    for where, kind, content in _texts():
        answer = _disagreement(kind, content)
        if answer is not None:
            counts[answer[1]] += 1
            if answer[0]:
                differing.append(f"{where} ({kind}): {answer[0]}")
    assert differing == []
    assert counts[True] > 250
    assert counts[False] > 150


@pytest.mark.parametrize(
    ("path", "kind", "content"),
    [each for each in FILES if not each[0].startswith(("tests/", "demo/from_dbt/"))],  # the second is a project of dbt
)
def test_a_file_of_a_project_is_valid(path, kind, content):
    assert _disagreement(kind, content) in (("", True), None)


@cache
def _plain() -> list[tuple[str, Any]]:
    """Return the kind and the data of each YAML text that the loader accepts."""
    verdicts = ((kind, verdict(kind, content)) for _, kind, content in _texts() if kind != "settings")
    return [
        (kind, said.data)
        for kind, said in verdicts
        if said is not None and not said.problems and isinstance(said.data, dict)
    ]


_VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2013, 1.5, "", "x", "2013-01-31", "{{ env_var('X', 'x') }}", "30s", "a.b", "auto"),
    *([], ["x"], [1, None], [{}], {}, {"name": "x"}, {"x": 1}, {"x": "y"}, {"type": "check"}, {"sql": "select 1"}),
]
_NAMES = [
    "name",
    "config",
    "+tags",
    "pre-hook",
    "columns",
    "tests",
    "data_tests",
    "freshness",
    "enabled",
    "no_such_key",
]


def _places(data: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from _places(value, (*at, key))


def _changed(data: Any, draw: Any) -> Any:
    """Return a copy with one value replaced, added, renamed or removed."""
    data = copy.deepcopy(data)
    places = [place for place in _places(data) if place]
    if not places:
        return data
    *outer, last = draw(st.sampled_from(places))
    holder = data
    for step in outer:
        holder = holder[step]
    how = draw(st.sampled_from(["replace", "replace", "remove", "rename", "add"]))
    if how == "replace":
        holder[last] = copy.deepcopy(draw(st.sampled_from(_VALUES)))
    elif how == "remove":
        del holder[last]
    elif isinstance(holder, dict):
        name = draw(st.sampled_from(_NAMES))
        holder[name] = holder.pop(last) if how == "rename" else copy.deepcopy(draw(st.sampled_from(_VALUES)))
    return data


@given(st.deferred(lambda: st.sampled_from(_plain())), st.data())
def test_a_changed_file_gets_the_same_verdict(start, data):
    kind, content = start
    for _ in range(data.draw(st.integers(1, 2))):
        content = _changed(content, data.draw)
    answer = _disagreement(kind, json.dumps(content))
    assert answer is None or answer[0] == ""


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one_of_draft_7(name):
    jsonschema.Draft7Validator.check_schema(json.loads(text(name)))
    found = schema(name).schema
    assert found["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert found["$id"].endswith(f"/merge_runner/json_schemas/{name}.json")
    assert get_args(Name) == tuple(NAMES)


def test_a_key_has_its_texts_and_default():
    key = schema("catalog").schema["definitions"]["FileColumn"]["properties"]["filled"]
    assert key == {
        "description": "Whether the column gets a value where INSERT leaves it out: an identity, or a column with a DEFAULT.",
        "markdownDescription": "Whether the column gets a value where INSERT leaves it out: an identity, or a column with a "
        "DEFAULT.\n\nDefault: `false`\n\n```yaml\nfilled: true\n```",
        "default": False,
        "type": "boolean",
    }


def test_a_validator_without_a_note_of_what_it_accepts_is_refused():
    from typing import Annotated

    with pytest.raises(ValueError, match="has no note of what it accepts"):
        Definitions("yaml").of(Annotated[str, After(str.strip)])


def _entry_point() -> Any:
    declared = tomli.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    module, _, function = declared["validate_pyproject.tool_schema"]["merge-runner"].partition(":")
    return getattr(import_module(module), function)


@pytest.fixture(scope="module")
def pyproject_validator() -> api.Validator:
    return api.Validator(plugins=[plugins.PluginWrapper("merge-runner", _entry_point())])


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ('name = "shop"\nvars = { from = 2024-01-01 }\n[tool.merge-runner.models.marts]\n"+tags" = ["x"]', None),
        ('name = "my-shop"', "tool.merge-runner.name"),
        ('name = "shop"\n[tool.merge-runner.models]\nmaterialized = "tabel"', "materialized"),
        ('name = "shop"\nmodel_paths = ["x"]', "model_paths"),
    ],
)
def test_validate_pyproject_checks_the_table(pyproject_validator, table, wrong):
    document = tomli.loads(f"[tool.merge-runner]\n{table}\n")
    if wrong is None:
        assert pyproject_validator(document)
    else:
        with pytest.raises(errors.ValidationError, match=re.escape(wrong)):
            pyproject_validator(document)


def test_the_schema_of_pyproject_is_that_of_the_table():
    whole = schema("pyproject").schema
    table = {key: value for key, value in tool_schema().items() if key not in whole or key == "properties"}
    inner = whole["properties"]["tool"]["properties"]["merge-runner"]
    assert {key: inner[key] for key in table} == table
    assert (
        schema_errors("pyproject", {"project": {"name": "x"}, "tool": {"ruff": 1, "merge-runner": {"name": "x"}}}) == []
    )
    assert schema_errors("pyproject", {"tool": {"merge-runner": {"nam": "x"}}})


def test_an_output_of_dbt_is_left_alone():
    shop = {"outputs": {"local": {"schema": "shop"}}}
    dbt = {"target": "dev", "outputs": {"dev": {"type": "spark", "method": "thrift", "host": "h", "schema": "s"}}}
    shared = {"config": {"send_anonymous_usage_stats": False}, "shop": shop, "dbt_shop": dbt}
    assert schema_errors("profiles", shared) == []
