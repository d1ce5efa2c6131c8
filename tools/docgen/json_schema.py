"""JSON Schemas (draft 7) of configuration types: what `validate` accepts of each, with the texts of the reference."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from merge_runner.project.schema.accepts import TEXT, Also, Exactly
from merge_runner.project.syntax.annotations import After, Before, Limits
from tools.docgen.keys import Key, class_text, keys

Schema = dict[str, Any]
REFERENCE = "https://merge-runner.github.io/merge-runner/reference/"

JINJA: Mapping[str, Any] = {"type": "string", "pattern": r"\{[{%]"}
"""A text with Jinja, where the value that it renders to counts."""
_SCALARS: Mapping[Any, Mapping[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    date: {"type": ["string", "number"], "pattern": r"^\s*[-+]?[0-9]"},
    datetime: {"type": ["string", "number"], "pattern": r"^\s*[-+]?[0-9]"},
    NoneType: {"type": "null"},
}
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
_OF_TYPES = frozenset(
    {"type", "items", "minItems", "minLength", "pattern", "minimum", "maximum", "exclusiveMinimum"}
    | {"additionalProperties"}
)
"""Keywords that say nothing about values of other types."""


class Definitions:
    """The schemas of types, each dataclass once below `definitions`.

    `overrides` are schemas of fields for which their types say too little. `is_rendered` answers for a field of a
    class whether Jinja in its value is rendered before the value is validated; its last argument is the answer for
    the mapping in which the field is.
    """

    def __init__(
        self,
        language: Literal["yaml", "toml"],
        overrides: Mapping[tuple[type, str], Mapping[str, Any]] | None = None,
        is_rendered: Callable[[type, str, bool], bool] = lambda _kind, _field, around: around,
    ) -> None:
        self.found: dict[str, Schema] = {}
        self._language = language
        self._overrides = overrides or {}
        self._is_rendered = is_rendered

    def of(self, hint: Any, rendered: bool = False) -> Schema:
        """Return the schema of a type. Raises ValueError for a type or validator that is not known here."""
        if hint is str:
            return dict(TEXT)
        if hint is Any:
            return {}
        if hint in _SCALARS:
            return _templatable(_SCALARS[hint], rendered and hint is not NoneType)
        if isinstance(hint, type) and is_dataclass(hint):
            return self.reference(hint, rendered)
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Annotated:
            return self._annotated(arguments[0], arguments[1:], rendered)
        if origin is Literal:
            return _templatable({"enum": list(arguments)}, rendered)
        if origin in (Union, UnionType):
            return any_of(self.of(member, rendered) for member in arguments)
        if origin is tuple:
            return {"type": "array", "items": self.of(arguments[0], rendered)}
        if origin is not None and issubclass(origin, Mapping):
            inner = self.of(arguments[1], rendered)
            return {"type": "object", "additionalProperties": inner} if inner else {"type": "object"}
        raise ValueError(f"no schema is known of the type {hint}")

    def _annotated(self, hint: Any, extras: tuple[Any, ...], rendered: bool) -> Schema:
        if exactly := next((extra for extra in extras if isinstance(extra, Exactly)), None):
            return _templatable(exactly.schema, rendered)
        schema = self.of(hint, rendered)
        also = next((extra for extra in extras if isinstance(extra, Also)), None)
        for extra in extras:
            if isinstance(extra, Before | After) and also is None:
                raise ValueError(f"{extra.func} has no note of what it accepts (merge_runner.project.schema.accepts)")
            if isinstance(extra, Limits) and extra.ge is not None:
                schema = _with(schema, minimum=extra.ge)
            if isinstance(extra, Limits) and extra.min_length is not None:
                schema = _with(schema, **{"minItems" if "items" in schema else "minLength": extra.min_length})
        if also is None:
            return schema
        constants = any("const" in each for each in also.schemas)
        return any_of([schema, *also.schemas, *([JINJA] if rendered and constants else ())])

    def reference(self, kind: type, rendered: bool = False) -> Schema:
        """Return a reference to the definition of a dataclass, which is made where it is missing."""
        name = kind.__name__.removeprefix("_") + ("WithJinja" if rendered else "")
        if name not in self.found:
            self.found[name] = {}  # a type may contain itself
            self.found[name] = self.mapping(kind, rendered)
        return {"$ref": f"#/definitions/{name}"}

    def mapping(self, kind: type, rendered: bool = False) -> Schema:
        """Return the schema of a mapping with the fields of a dataclass as its keys."""
        properties = self.properties(kind, rendered)
        missing: list[tuple[str, ...]] = []
        for field, key in zip(fields(kind), keys(kind), strict=True):
            if field.default is MISSING and field.default_factory is MISSING:
                missing.append(key.names)
        schema: Schema = {
            "type": "object",
            "title": re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__.removeprefix("_")).lower(),
            "description": plain(class_text(kind).partition("\n\n")[0]),
            "properties": properties,
        }
        if required := [names[0] for names in missing if len(names) == 1]:
            schema["required"] = required
        schema["additionalProperties"] = False
        conditions: list[Any] = [
            {"anyOf": [{"required": [name]} for name in names]} for names in missing if len(names) > 1
        ]
        if accepts := getattr(kind, "ACCEPTS", None):
            conditions.append(accepts)
        return {**schema, "allOf": conditions} if conditions else schema

    def properties(self, kind: type, rendered: bool = False) -> dict[str, Schema]:
        """Return the schemas of the keys of a dataclass, in all their spellings."""
        hints = get_type_hints(kind, include_extras=True)
        found: dict[str, Schema] = {}
        for field, key in zip(fields(kind), keys(kind), strict=True):
            schema = self._overrides.get((kind, field.name))
            if schema is None:
                schema = self.of(hints[field.name], self._is_rendered(kind, field.name, rendered))
            for name in key.names:
                found[name] = self.described(schema, key, field.default)
        return found

    def described(self, schema: Mapping[str, Any], key: Key, default: Any = MISSING) -> Schema:
        """Return the schema of a key with its texts."""
        facts = [key.meaning]
        if key.applies:
            facts.append(f"Applies to: {key.applies}")
        if key.default not in ("required", "not set", "none"):
            facts.append(f"Default: {key.default}")
        facts.append(f"```{self._language}\n{key.example}\n```")
        texts: Schema = {"description": plain(key.meaning), "markdownDescription": markdown("\n\n".join(facts))}
        if isinstance(default, bool | int | float | str) and default != "":
            texts["default"] = default
        return with_texts(texts, schema)


def pointer(definition: str, key: str) -> Schema:
    """Return a reference to the schema of a key of a definition."""
    return {"$ref": f"#/definitions/{definition}/properties/{key}"}


def with_texts(texts: Mapping[str, Any], schema: Mapping[str, Any]) -> Schema:
    """Return a schema with a description; next to "$ref" draft 7 reads nothing."""
    return {**texts, **({"allOf": [dict(schema)]} if "$ref" in schema else schema)}


def any_of(members: Iterable[Mapping[str, Any]]) -> Schema:
    """Return the schema of what one of several accepts: one of several types where that says the same."""
    flat: list[Mapping[str, Any]] = []
    for member in members:
        flat += member["anyOf"] if set(member) == {"anyOf"} else [member]
    found: list[Schema] = []
    for each in flat:
        if each in found:
            continue
        for at, other in enumerate(found):
            if (merged := _merged(other, each)) is not None:
                found[at] = merged
                break
        else:
            found.append(dict(each))
    return found[0] if len(found) == 1 else {"anyOf": found}


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> Schema | None:
    """Return one schema for two, which are about values of different types; None where they are not."""
    if "type" not in one or "type" not in other or not _OF_TYPES.issuperset({*one, *other}):
        return None
    types, others = _types(one), _types(other)
    whole = {"integer", "number"}
    if set(types) & set(others) or (whole & set(types) and whole & set(others)) or set(one) & set(other) != {"type"}:
        return None
    return {**one, **other, "type": [*types, *others]}


def _types(schema: Mapping[str, Any]) -> list[str]:
    types = schema["type"]
    return [types] if isinstance(types, str) else list(types)


def _templatable(schema: Mapping[str, Any], rendered: bool) -> Schema:
    """Return a schema that accepts Jinja as well, where it is `rendered` and no text is accepted anyway."""
    accepts_text = schema == TEXT or TEXT in schema.get("anyOf", ())
    return any_of([schema, JINJA]) if rendered and not accepts_text else dict(schema)


def _with(schema: Schema, **limits: Any) -> Schema:
    """Return a schema with limits of its type, which is the first of its members where it has several."""
    if "anyOf" not in schema:
        return {**schema, **limits}
    first, *rest = schema["anyOf"]
    return {**schema, "anyOf": [{**first, **limits}, *rest]}


def markdown(text: str) -> str:
    """Return a text of the reference whose links work anywhere."""
    return _LINK.sub(lambda link: f"[{link[1]}]({absolute(link[2])})", text)


def plain(text: str) -> str:
    """Return a text of the reference without links, one line a paragraph."""
    return "\n\n".join(" ".join(part.split()) for part in _LINK.sub(r"\1", text).split("\n\n"))


def absolute(target: str) -> str:
    """Return the address of a page of the reference; of what is an address already, that."""
    return target if "://" in target else REFERENCE + re.sub(r"\.md(?=#|$)", ".html", target)


def as_text(schema: Mapping[str, Any]) -> str:
    """Return a schema as the text of its file."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
