"""What the formats must be, by their official schemas where there are any."""

import json
from typing import Any

import jsonschema
import pytest
import xmlschema

from merge_runner.lint import outputs
from merge_runner.lint.outputs import render

from .golden import HERE, NAMES, report

SCHEMAS = HERE / "schemas"


def load(path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


SARIF = load(SCHEMAS / "sarif-2.1.0.json")
GITLAB = load(SCHEMAS / "gitlab-code-quality.json")
OURS = load(HERE.parents[2] / "merge_runner" / "lint" / "outputs" / "lint.schema.json")


def check(document: Any, schema: Any) -> None:
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    validator(schema, format_checker=validator.FORMAT_CHECKER).validate(document)


def closed(schema: Any) -> Any:
    """The schema with no further keys allowed."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(value) for key, value in schema.items()}
    return found | {"additionalProperties": False} if "properties" in found and "type" in found else found


def keys(value: Any, path: str = "") -> set[str]:
    """The paths of all keys in a document."""
    if isinstance(value, list):
        return {key for item in value for key in keys(item, f"{path}[]")}
    if not isinstance(value, dict):
        return set()
    return {f"{path}.{key}" for key in value} | {key for name, item in value.items() for key in keys(item, f"{path}.{name}")}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_sarif(name):
    document = json.loads(render(report(name), "sarif"))
    check(document, SARIF)
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [rules[result["ruleIndex"]] for result in run["results"]] == [result["ruleId"] for result in run["results"]]


@pytest.mark.parametrize("name", NAMES)
def test_gitlab(name):
    check(json.loads(render(report(name), "gitlab")), GITLAB)


@pytest.mark.parametrize("name", NAMES)
def test_junit(name):
    xmlschema.validate(render(report(name), "junit"), str(SCHEMAS / "junit-10.xsd"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("statistics", [True, False])
def test_json(name, statistics):
    document = json.loads(render(report(name), "json", statistics=statistics))
    check(document, OURS)
    check(document, closed(OURS))
    assert ("statistics" in document) == statistics


def test_the_schema_is_strict_enough_to_tell_a_wrong_document():
    document = json.loads(render(report("clean"), "json"))
    document["merges"][0]["verdict"] = "perhaps"
    with pytest.raises(jsonschema.ValidationError, match="perhaps"):
        check(document, OURS)


def test_the_keys_that_users_rely_on_are_there():
    promised = keys(load(HERE / "product_example.json"))
    assert promised <= keys(json.loads(render(report("one_block"), "json")))


def test_every_output_is_a_module_with_the_one_interface():
    for name in outputs.FORMATS:
        assert render(report("empty"), name)
