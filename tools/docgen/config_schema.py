"""The JSON Schemas of config: below `config:` of a property file, and in the tables of folders in pyproject.toml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, Literal, get_type_hints

from merge_runner.project.schema.accepts import NULL
from merge_runner.project.schema.config import ALL_KEYS, MODEL_KEYS, TABLE_KEYS, ModelConfig
from merge_runner.project.schema.dbt_keys import CONFIG as DBT_CONFIG
from tools.docgen.json_schema import Definitions, Schema, any_of, plain, pointer, with_texts
from tools.docgen.keys import keys

Kind = Literal["model", "seed"]
_KEYS: Mapping[Kind, frozenset[str]] = {"model": MODEL_KEYS, "seed": ALL_KEYS}


def yaml_config(definitions: Definitions, kind: Kind) -> Schema:
    """Return a reference to the config of a model or seed in a property file, where Jinja is rendered.

    A key without a value has its default, and is accepted for each key.
    """
    name = f"{kind.title()}Config"
    properties: dict[str, Schema] = {}
    for key, (schema, texts) in _keys(definitions, kind, rendered=True).items():
        properties[key] = with_texts(texts, any_of([schema, NULL]))
    definitions.found[name] = {
        "type": ["object", "null"],
        "title": f"config of a {kind}",
        "properties": _by_reference(definitions, "ModelConfig", {**properties, **refused(DBT_CONFIG, _KEYS[kind])}),
        "patternProperties": {_other_spellings(key): pointer(name, key) for key in properties},
        "additionalProperties": False,
    }
    return {"$ref": f"#/definitions/{name}"}


def folder_config(definitions: Definitions, kind: Kind) -> Schema:
    """Return a reference to the config of a folder: config keys, and tables of folders, models and seeds in it.

    A table is that of a folder also where its name is a config key's, unless the values of this key are mappings
    (`TABLE_KEYS`) or the key is written with `+`.
    """
    name = f"{kind.title()}Folder"
    folder = {"$ref": f"#/definitions/{name}"}
    properties: dict[str, Schema] = {}
    spellings: dict[str, Schema] = {}
    for key, (schema, texts) in _keys(definitions, kind, rendered=False).items():
        value = schema if key in TABLE_KEYS else _without_mappings(schema, folder)
        properties[key] = with_texts(texts, value)
        if key in TABLE_KEYS:
            spellings[_other_spellings(key)] = pointer(name, key)
        else:
            spellings[rf"^\+{_either(key)}$"] = schema
            if "_" in key:
                spellings[f"^{_kebab(key)}$"] = pointer(name, key)
    known = "|".join(_either(key) for key in sorted(_KEYS[kind]))
    definitions.found[name] = {
        "type": "object",
        "title": f"config of a folder of {kind}s",
        "properties": properties,
        "patternProperties": {**spellings, rf"^\+(?!(?:{known})$)": False},
        "additionalProperties": folder,
    }
    return folder


def _by_reference(definitions: Definitions, other: str, properties: Mapping[str, Schema]) -> dict[str, Schema]:
    """Return schemas of keys, those that another definition has in the same words as references to it."""
    others = definitions.found.get(other, {}).get("properties", {})
    return {key: pointer(other, key) if others.get(key) == schema else schema for key, schema in properties.items()}


def refused(advice: Mapping[str, str], known: Iterable[str] = ()) -> dict[str, Schema]:
    """Return schemas of keys of dbt that are an error, with what to do instead."""
    return {
        key: {"not": {}, "description": plain(text), "deprecationMessage": plain(text), "doNotSuggest": True}
        for key, text in sorted(advice.items())
        if key not in known
    }


def _keys(definitions: Definitions, kind: Kind, *, rendered: bool) -> dict[str, tuple[Schema, Schema]]:
    """Return of each config key its schema and its texts."""
    hints = get_type_hints(ModelConfig, include_extras=True)
    return {
        key.name: (definitions.of(hints[field.name], rendered), definitions.described({}, key, field.default))
        for field, key in zip(fields(ModelConfig), keys(ModelConfig), strict=True)
        if field.name in _KEYS[kind]
    }


def _without_mappings(schema: Mapping[str, Any], folder: Schema) -> Schema:
    """Return the schema of a key whose value is a folder where it is a mapping."""
    return any_of([folder] if schema.get("type") == "object" else [schema, folder])


def _other_spellings(name: str) -> str:
    """Return a pattern of the spellings of a key apart from its own: `+pre_hook`, `+pre-hook`, `pre-hook`."""
    return f"^(?:\\+{_either(name)}|{_kebab(name)})$" if "_" in name else rf"^\+{name}$"


def _either(name: str) -> str:
    return name.replace("_", "[_-]")


def _kebab(name: str) -> str:
    """Return a pattern of a key with at least one hyphen."""
    return f"(?!{name}$){_either(name)}"
