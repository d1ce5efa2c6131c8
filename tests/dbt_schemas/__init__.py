"""Whether an artifact is what dbt's own JSON Schemas say (README.md has where they are from)."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

_FILES = {
    "manifest": "manifest_v12",
    "run-results": "run_results_v6",
    "catalog": "catalog_v1",
    "sources": "sources_v3",
}


def schema_errors(document: Mapping[str, Any]) -> list[str]:
    """Return what dbt's schema refuses of an artifact: the place and the reason, a line each.

    The schema is that of `metadata.dbt_schema_version`. A node is held against the one schema of its resource type,
    which is stricter than dbt's `anyOf` and names what is wrong.
    """
    kind, version = document["metadata"]["dbt_schema_version"].rpartition(".")[0].split("/")[-2:]
    name = _FILES[kind]
    assert name.endswith(f"_{version}"), document["metadata"]["dbt_schema_version"]
    found = [] if kind != "manifest" else list(_of_nodes(document))
    if kind == "manifest":
        document = {**document, "nodes": {}, "disabled": {}}
    return [*found, *_errors(_validator(name), document, ())]


@functools.cache
def _schema(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(Path(__file__).with_name(f"{name}.json").read_text())
    return schema


@functools.cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(_schema(name))


@functools.cache
def _of_kind(section: str, kind: str, generic: bool) -> Draft202012Validator:
    """The one schema of a section for this resource type; a generic data test has one, a singular test another."""
    properties = _schema("manifest_v12")["properties"]
    if section == "disabled":
        schemas = properties[section]["anyOf"][0]["additionalProperties"]["items"]["anyOf"]
    else:
        schemas = properties[section]["additionalProperties"]["anyOf"]
    fitting = [
        schema
        for schema in schemas
        if schema["properties"]["resource_type"] in ({"const": kind}, {"enum": [kind]})
        and ("test_metadata" in schema["properties"]) == generic
    ]
    assert len(fitting) == 1, (section, kind, len(fitting))
    return Draft202012Validator(fitting[0])


def _of_nodes(document: Mapping[str, Any]) -> Iterator[str]:
    nodes = [("nodes", unique_id, node) for unique_id, node in document["nodes"].items()]
    for section, unique_id, node in nodes + [
        ("disabled", unique_id, node) for unique_id, others in document["disabled"].items() for node in others
    ]:
        validator = _of_kind(section, node["resource_type"], "test_metadata" in node)
        yield from _errors(validator, node, (section, unique_id))


def _errors(validator: Draft202012Validator, value: Any, where: tuple[str, ...]) -> Iterator[str]:
    for error in validator.iter_errors(value):
        yield f"{'.'.join((*where, *map(str, error.absolute_path)))}: {error.message}"
