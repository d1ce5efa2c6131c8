"""What the JSON Schemas say of the keys of a file: which there are, what they mean, and which values they take."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from merge_runner.json_schemas import Name, text

_FILES: Mapping[str, Name] = {
    "profiles.yml": "profiles",
    "selectors.yml": "selectors",
    "catalog.yml": "catalog",
    "pyproject.toml": "pyproject",
}
_MODEL_CONFIG = "ModelConfig"


@dataclass(frozen=True)
class DocumentedKey:
    """A key: its name, its documentation as Markdown, and the values that it takes where they are few."""

    name: str
    markdown: str
    values: tuple[str, ...] = ()
    boolean: bool = False


def schema_name(path: str) -> Name:
    """Return the schema of a YAML or TOML file."""
    return _FILES.get(path.rpartition("/")[2], "properties")


def keys_at(schema: Name, path: Sequence[str]) -> list[DocumentedKey]:
    """Return the keys of the mapping at a path of keys, in which `[]` is an item of a list."""
    root = _schema(schema)
    return _keys(root, _walk(root, path))


def key_at(schema: Name, path: Sequence[str]) -> DocumentedKey | None:
    """Return the key that a path ends in; None where the schema does not know it."""
    return next((key for key in keys_at(schema, path[:-1]) if key.name == path[-1].lstrip("+")), None) if path else None


@cache
def config_keys() -> Mapping[str, DocumentedKey]:
    """Return the keys of `config(…)` in a model."""
    root = _schema("properties")
    return {key.name: key for key in _keys(root, [root["definitions"][_MODEL_CONFIG]])}


@cache
def _schema(name: Name) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(text(name))
    return schema


def _walk(root: Mapping[str, Any], path: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return the schemas of the value at a path."""
    here = [root]
    for step in path:
        here = [inner for schema in here for inner in _step(root, schema, step)]
    return here


def _step(root: Mapping[str, Any], schema: Mapping[str, Any], step: str) -> Iterator[Mapping[str, Any]]:
    for alternative in _alternatives(root, schema):
        if step == "[]":
            inner = alternative.get("items")
        else:
            inner = alternative.get("properties", {}).get(step.lstrip("+"), alternative.get("additionalProperties"))
        if isinstance(inner, Mapping):
            yield inner


def _alternatives(root: Mapping[str, Any], schema: Mapping[str, Any], depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Yield the schema and all that it is made of, what only a condition adds among them."""
    if depth > 8:
        return
    yield schema
    if "$ref" in schema:
        target: Any = root
        for step in schema["$ref"].split("/")[1:]:
            target = target[step]
        yield from _alternatives(root, target, depth + 1)
    conditional = [schema[word] for word in ("then", "else") if isinstance(schema.get(word), Mapping)]
    for part in (*conditional, *(part for word in ("anyOf", "oneOf", "allOf") for part in schema.get(word, ()))):
        yield from _alternatives(root, part, depth + 1)


def _keys(root: Mapping[str, Any], schemas: Sequence[Mapping[str, Any]]) -> list[DocumentedKey]:
    keys: dict[str, DocumentedKey] = {}
    for schema in schemas:
        for alternative in _alternatives(root, schema):
            for name, value in alternative.get("properties", {}).items():
                if isinstance(value, Mapping) and not value.get("doNotSuggest") and name not in keys:
                    keys[name] = _key(root, name, value)
    return list(keys.values())


def _key(root: Mapping[str, Any], name: str, schema: Mapping[str, Any]) -> DocumentedKey:
    markdown = next(
        (
            alternative["markdownDescription"]
            for alternative in _alternatives(root, schema)
            if "markdownDescription" in alternative
        ),
        str(schema.get("description", "")),
    )
    values: dict[str, None] = {}
    boolean = False
    for alternative in _alternatives(root, schema):
        boolean = boolean or "boolean" in _as_list(alternative.get("type"))
        constants = [alternative["const"]] if "const" in alternative else alternative.get("enum", ())
        values.update(dict.fromkeys(str(value) for value in constants if isinstance(value, str)))
    free = any(
        "string" in _as_list(alternative.get("type")) and "pattern" not in alternative
        for alternative in _alternatives(root, schema)
    )
    return DocumentedKey(name, markdown, tuple(values), boolean and not free)


def _as_list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]
