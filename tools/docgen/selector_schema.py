"""The JSON Schema of selectors.yml, from the keys that `schema/selectors.py` reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merge_runner.project.schema.accepts import NULL
from merge_runner.project.schema.selectors import INDIRECT, OF_METHOD, OF_SELECTOR, OPERATIONS
from tools.docgen.json_schema import Schema, plain

_DEFINITION: Schema = {"$ref": "#/definitions/Definition"}
_TEXT: Schema = {"type": ["string", "number", "boolean"], "minLength": 1}
_FLAG: Schema = {"type": ["boolean", "null"]}
_DEPTH: Schema = {"type": ["integer", "null"], "minimum": 1}
_EXCLUDE: Schema = {"type": ["array", "null"], "items": _DEFINITION}
_OF_KEY: Mapping[str, Schema] = {
    "name": {"type": "string", "minLength": 1},
    "definition": {"allOf": [_DEFINITION]},
    "description": {},
    "default": _FLAG,
    "method": _TEXT,
    "value": _TEXT,
    "parents": _FLAG,
    "parents_depth": _DEPTH,
    "children": _FLAG,
    "children_depth": _DEPTH,
    "childrens_parents": _FLAG,
    "indirect_selection": {"enum": [*INDIRECT, None], "enumDescriptions": [*INDIRECT.values(), "not set"]},
    "exclude": _EXCLUDE,
}
_ONLY_EXCLUDE: Schema = {
    "type": "object",
    "properties": {"exclude": _EXCLUDE},
    "required": ["exclude"],
    "additionalProperties": False,
}


def selectors() -> Schema:
    """Return the schema of selectors.yml: a list `selectors`, or names with definitions, alone or below `selectors`."""
    named = {"type": "object", "additionalProperties": _DEFINITION}
    entries = {"type": "array", "items": {"$ref": "#/definitions/Selector"}}
    listed = {"properties": {"selectors": entries, "version": {}}, "additionalProperties": False}
    return {
        "type": ["object", "null"],
        "properties": {"selectors": {"description": "The selections: a list of entries, or definitions by name."}},
        "if": {"required": ["selectors"], "properties": {"selectors": {"type": "array"}}},
        "then": listed,
        "else": {
            "if": {"required": ["selectors"], "properties": {"selectors": {"type": "object"}}},
            "then": {"properties": {"selectors": named}},
            "else": named,
        },
        "definitions": {
            "Selector": {
                "type": "object",
                "title": "selector",
                "properties": _described(OF_SELECTOR),
                "required": ["name", "definition"],
                "additionalProperties": False,
            },
            "Definition": {
                "title": "definition",
                "anyOf": [_TEXT, *(_combined(operation) for operation in OPERATIONS), _method(), _short_method()],
            },
        },
    }


def _described(meanings: Mapping[str, str]) -> dict[str, Any]:
    return {key: {"description": plain(text), **_OF_KEY[key]} for key, text in meanings.items()}


def _combined(operation: str) -> Schema:
    parts = {
        "type": "array",
        "items": {"anyOf": [_DEFINITION, _ONLY_EXCLUDE]},
        "contains": {"not": _ONLY_EXCLUDE},
    }
    return {
        "type": "object",
        "properties": {operation: {"description": OPERATIONS[operation], **parts}, "exclude": _EXCLUDE},
        "required": [operation],
        "additionalProperties": False,
    }


def _method() -> Schema:
    return {
        "type": "object",
        "properties": _described(OF_METHOD),
        "required": ["method", "value"],
        "additionalProperties": False,
        "allOf": [
            {
                "if": {"required": [f"{edge}_depth"], "properties": {f"{edge}_depth": {"not": NULL}}},
                "then": {"required": [edge], "properties": {edge: {"const": True}}},
            }
            for edge in ("parents", "children")
        ],
        "not": {
            "required": ["children", "childrens_parents"],
            "properties": {"children": {"const": True}, "childrens_parents": {"const": True}},
        },
    }


def _short_method() -> Schema:
    others = "|".join([*OF_METHOD, *OPERATIONS])
    return {
        "type": "object",
        "patternProperties": {f"^(?!(?:{others})$)": _TEXT},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }
