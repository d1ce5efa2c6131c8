"""The JSON Schema of an entry of `data_tests:`, which may be written in several forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from merge_runner.project.schema.accepts import NULL, TEXT
from merge_runner.project.schema.data_test import BUILT_IN, OWN_KEYS, DataTestConfig
from tools.docgen.json_schema import Definitions, Schema, any_of, plain, pointer
from tools.docgen.keys import class_text

DATA_TEST = {"$ref": "#/definitions/DataTest"}
_ARGUMENTS = "arguments"


def add_data_tests(definitions: Definitions) -> None:
    """Add the definition `DataTest`: a name, a mapping of a name to a body, or a body with `test_name`."""
    bodies = {name: _body(definitions, kind) for name, kind in BUILT_IN.items()}
    own = _own_body(definitions)
    bare = [name for name in BUILT_IN if not definitions.mapping(BUILT_IN[name]).keys() & {"required", "allOf"}]
    needing = [name for name in BUILT_IN if name not in bare]
    unknown = rf"^(?!(?:.*\.)?(?:{'|'.join(BUILT_IN)})$)"
    by_name = {
        "type": "object",
        "properties": {
            name: {**body, "description": plain(class_text(BUILT_IN[name]))} for name, body in bodies.items()
        },
        "patternProperties": {
            **{rf"^.*\.{name}$": body for name, body in bodies.items()},
            unknown: own,
        },
        "minProperties": 1,
        "maxProperties": 1,
        "not": {"required": ["test_name"], "properties": {"test_name": {"type": "string"}}},
    }
    flat = {
        "type": "object",
        "properties": {"test_name": {"type": "string", "description": "the name of the test"}},
        "required": ["test_name"],
        "allOf": [_if_named(rf"^(?:.*\.)?{name}$", body) for name, body in bodies.items()] + [_if_named(unknown, own)],
    }
    definitions.found["DataTest"] = {
        "title": "data test",
        "anyOf": [
            {"enum": bare},
            {"type": "string", "pattern": rf"^(?!(?:.*\.)?(?:{'|'.join(needing)})$)"},
            by_name,
            flat,
        ],
    }


def _if_named(pattern: str, body: Mapping[str, Any]) -> Schema:
    return {"if": {"properties": {"test_name": {"pattern": pattern}}}, "then": body}


def _body(definitions: Definitions, kind: type) -> Schema:
    """Return a reference to the body of a built-in test: its arguments next to its config, or below `arguments`."""
    name = f"{kind.__name__.removeprefix('_')}Test"
    closed = definitions.mapping(kind)
    inline = {
        **closed,
        "properties": {**_common(definitions), **closed["properties"], _ARGUMENTS: NULL, "test_name": {}},
    }
    nested = {
        "type": "object",
        "properties": {**_common(definitions), _ARGUMENTS: closed, "test_name": {}},
        "required": [_ARGUMENTS],
        "additionalProperties": False,
    }
    bare = [] if closed.keys() & {"required", "allOf"} else [NULL]
    definitions.found[name] = any_of([inline, nested, *bare])
    return {"$ref": f"#/definitions/{name}"}


def _own_body(definitions: Definitions) -> Schema:
    """Return a reference to the body of a test of the project, whose arguments are its macro's."""
    common = _common(definitions)
    nested = {
        "properties": {**common, _ARGUMENTS: {"type": "object"}, "test_name": {}},
        "required": [_ARGUMENTS],
        "additionalProperties": False,
    }
    inline = {"properties": {**common, _ARGUMENTS: NULL}}
    definitions.found["OwnTest"] = {"type": ["object", "null"], "anyOf": [inline, nested]}
    return {"$ref": "#/definitions/OwnTest"}


def _common(definitions: Definitions) -> dict[str, Schema]:
    """Return the keys that every data test has, `arguments` apart."""
    config = definitions.reference(DataTestConfig)
    own: dict[str, Mapping[str, Any]] = {
        "name": {"type": [*TEXT["type"], "null"]},
        "description": {"type": [*TEXT["type"], "null"]},
        "config": {"anyOf": [config, NULL]},
    }
    described = {name: {"description": plain(OWN_KEYS[name]), **schema} for name, schema in own.items()}
    return {**described, **{each.name: pointer("DataTestConfig", each.name) for each in fields(DataTestConfig)}}
