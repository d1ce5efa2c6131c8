"""Renders the Jinja in a property file where a value is needed while loading: in configs, and where a source is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from merge_runner.project.schema.config_layers import config_key
from merge_runner.project.schema.data_test import CONFIG_KEYS
from merge_runner.project.syntax.places import KeyPath
from merge_runner.project.syntax.value_template import ValueTemplate
from merge_runner.project.syntax.yaml_tree import YamlTree

_LATER = frozenset({"pre_hook", "post_hook"})
"""Hooks are rendered with their model."""

AS_WRITTEN = frozenset({"description", "columns", "data_tests", "tests", "tables", "meta"})
"""Descriptions are rendered apart, since they are always text; arguments of data tests when they are compiled."""
_OF_TESTS = CONFIG_KEYS - {"where", "meta"}
"""The config of data tests that decides about them before any is compiled."""
_DESCRIBED = ("models", "seeds", "sources", "unit_tests", "exposures", "macros", "analyses")
_BELOW = ("tables", "columns", "arguments")
"""Keys of lists whose items have descriptions as well."""


def render_properties(tree: YamlTree, template: ValueTemplate) -> YamlTree:
    """Return the tree with all rendered that is wanted before anything is compiled.

    That is `config` and `tags` of models and seeds, that of data tests, descriptions, and all that says where a source
    is.
    """
    if not isinstance(tree.data, Mapping) or ("{{" not in tree.source.text and "{%" not in tree.source.text):
        return tree
    data = dict(tree.data)
    for kind in ("models", "seeds"):
        data[kind] = _map_entries(data.get(kind), (kind,), template, _model)
    data["sources"] = _map_entries(data.get("sources"), ("sources",), template, _source)
    for kind in ("models", "seeds", "sources"):
        data[kind] = _map_entries(data.get(kind), (kind,), template, _render_tests)
    for kind in _DESCRIBED:
        data[kind] = _map_entries(data.get(kind), (kind,), template, _description)
    own_keys = {key: value for key, value in data.items() if key in tree.data}
    return replace(tree, data=own_keys, rendered=template.rendered)


def _model(entry: Mapping[str, Any], at: KeyPath, template: ValueTemplate) -> Mapping[str, Any]:
    result = dict(entry)
    if "tags" in entry:
        result["tags"] = template.render(entry["tags"], (*at, "tags"))
    if isinstance(entry.get("config"), Mapping):
        result["config"] = {
            key: value if config_key(str(key)) in _LATER else template.render(value, (*at, "config", key))
            for key, value in entry["config"].items()
        }
    return result


def _render_tests(entry: Mapping[str, Any], at: KeyPath, template: ValueTemplate) -> Mapping[str, Any]:
    """Render the config of the data tests of a model, seed, source, table or column."""
    result = dict(entry)
    for key in ("data_tests", "tests"):
        if key in entry:
            result[key] = _map_entries(entry[key], (*at, key), template, _data_test)
    for key in ("tables", "columns"):
        if key in entry:
            result[key] = _map_entries(entry[key], (*at, key), template, _render_tests)
    return result


def _data_test(entry: Mapping[str, Any], at: KeyPath, template: ValueTemplate) -> Mapping[str, Any]:
    """Render the config of a data test, in each form that it may have."""
    name = next(iter(entry), "")
    if "test_name" in entry or not isinstance(entry.get(name), Mapping):
        return _test_config(entry, at, template)
    return {**entry, name: _test_config(entry[name], (*at, name), template)}


def _test_config(body: Mapping[str, Any], at: KeyPath, template: ValueTemplate) -> Mapping[str, Any]:
    """Render the config of a data test that is next to its arguments, and that below `config`."""
    result = {key: template.render(body[key], (*at, key)) if key in _OF_TESTS else body[key] for key in body}
    if isinstance(config := body.get("config"), Mapping):
        result["config"] = _test_config(config, (*at, "config"), template)
    return result


def _description(entry: Mapping[str, Any], at: KeyPath, template: ValueTemplate) -> Mapping[str, Any]:
    result = dict(entry)
    if "description" in entry:
        result["description"] = template.describe(entry["description"], (*at, "description"))
    for key in _BELOW:
        if key in entry:
            result[key] = _map_entries(entry[key], (*at, key), template, _description)
    return result


def _source(entry: Mapping[str, Any], at: KeyPath, template: ValueTemplate) -> Mapping[str, Any]:
    result = {key: value if key in AS_WRITTEN else template.render(value, (*at, key)) for key, value in entry.items()}
    if "tables" in entry:
        result["tables"] = _map_entries(entry["tables"], (*at, "tables"), template, _source)
    return result


def _map_entries(entries: Any, at: KeyPath, template: ValueTemplate, render: Any) -> Any:
    """Applies `render` to every mapping of a list; other shapes are left for the types to refuse."""
    if not isinstance(entries, list):
        return entries
    return [
        render(entry, (*at, index), template) if isinstance(entry, Mapping) else entry
        for index, entry in enumerate(entries)
    ]
