"""Holds events against OpenLineage's published schemas: the event, then each facet by the schema that it names."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource

import merge_runner.openlineage

_FOLDERS = (Path(__file__).parent / "schemas", Path(merge_runner.openlineage.__file__).parent / "schemas")


@cache
def _registry() -> Registry:
    files = (file for folder in _FOLDERS for file in folder.rglob("*.json"))
    documents = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return Registry().with_resources([(each["$id"], Resource.from_contents(each)) for each in documents])


@cache
def _validator(uri: str) -> Draft202012Validator:
    _registry().resolver().lookup(uri)  # a schema that is not there must not pass
    return Draft202012Validator({"$ref": uri}, registry=_registry(), format_checker=FormatChecker())


def errors(event: dict[str, Any]) -> list[str]:
    """Return what is wrong with an event: with itself, and with each of its facets."""
    found = [f"event: {error.message}" for error in _validator(event["schemaURL"]).iter_errors(event)]
    for name, facet in facets(event):
        found += [f"{name}: {error.message}" for error in _validator(facet["_schemaURL"]).iter_errors(facet)]
    return found


def facets(event: dict[str, Any]):
    """Yield all facets of an event with their names."""
    yield from event["run"]["facets"].items()
    yield from event["job"]["facets"].items()
    for dataset in (*event["inputs"], *event["outputs"]):
        for key in ("facets", "inputFacets", "outputFacets"):
            yield from dataset.get(key, {}).items()
