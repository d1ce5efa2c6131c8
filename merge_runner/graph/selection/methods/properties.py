"""Methods that go by what a node is and has: tag, config, resource_type, test_type, test_name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from merge_runner.graph.graph import RESOURCE_TYPES, DataTestNode, ModelNode, Node, UnitTestNode
from merge_runner.graph.manifest import config_as_json
from merge_runner.graph.selection.criterion import Criterion
from merge_runner.graph.selection.methods.lookup import Lookup, allowed_value, bad_value


def by_tag(lookup: Lookup, criterion: Criterion) -> set[str]:
    """A tag."""
    all_tags = {tag for node in lookup.graph.nodes.values() for tag in node.tags}
    tags = {tag for tag in all_tags if fnmatchcase(tag, criterion.value)}
    return lookup.warn_if_empty(criterion, lookup.ids(lambda node: not tags.isdisjoint(node.tags)), all_tags)


def by_group(lookup: Lookup, criterion: Criterion) -> set[str]:
    """The models of a group."""
    models = [node for node in lookup.graph.nodes.values() if isinstance(node, ModelNode)]
    groups = {node.unique_id: node.config.group for node in models if node.config.group is not None}
    ids = {unique_id for unique_id, group in groups.items() if fnmatchcase(group, criterion.value)}
    return lookup.warn_if_empty(criterion, ids, groups.values())


def by_access(lookup: Lookup, criterion: Criterion) -> set[str]:
    """The models that are private, protected or public; those that say nothing are protected."""
    access = allowed_value(criterion, ("private", "protected", "public"))
    return lookup.ids(lambda node: isinstance(node, ModelNode) and (node.config.access or "protected") == access)


def by_resource_type(lookup: Lookup, criterion: Criterion) -> set[str]:
    """model, seed, source, test, unit_test, exposure or analysis."""
    resource_type = allowed_value(criterion, RESOURCE_TYPES)
    return lookup.ids(lambda node: node.resource_type == resource_type)


def by_test_type(lookup: Lookup, criterion: Criterion) -> set[str]:
    """generic, singular or unit tests; data: the first two."""
    return lookup.ids(_TEST_TYPES[allowed_value(criterion, _TEST_TYPES)])


_TEST_TYPES: Mapping[str, Callable[[Node], bool]] = {
    "generic": lambda node: isinstance(node, DataTestNode) and node.generic_test is not None,
    "singular": lambda node: isinstance(node, DataTestNode) and node.generic_test is None,
    "unit": lambda node: isinstance(node, UnitTestNode),
    "data": lambda node: isinstance(node, DataTestNode),
}


def by_test_name(lookup: Lookup, criterion: Criterion) -> set[str]:
    """The name of the generic test that is called, or of a unit test."""

    def name(node: Node) -> str | None:
        if isinstance(node, UnitTestNode):
            return node.name
        return node.generic_test.name if isinstance(node, DataTestNode) and node.generic_test else None

    names = {unique_id: name(node) for unique_id, node in lookup.graph.nodes.items()}
    test_names = {name for name in names.values() if name is not None}
    matching_names = {name for name in test_names if fnmatchcase(name, criterion.value)}
    return lookup.warn_if_empty(criterion, lookup.ids(lambda node: names[node.unique_id] in matching_names), test_names)


def by_config(lookup: Lookup, criterion: Criterion) -> set[str]:
    """A value of config, a member of a list there, or a key of a mapping."""
    if not criterion.arguments:
        raise bad_value(criterion, '"config" needs a key', "write config.materialized:merge, config.meta.owner:finance")
    # dbt takes booleans and severities in any case.
    pattern = criterion.value.lower() if _in_any_case(criterion) else criterion.value
    texts: dict[str, list[str]] = {}
    for unique_id, node in lookup.graph.nodes.items():
        texts[unique_id] = _as_texts(_at(config_as_json(node), criterion.arguments))
        if _in_any_case(criterion):
            texts[unique_id] = [text.lower() for text in texts[unique_id]]
    ids = {unique_id for unique_id, values in texts.items() if any(_is(value, pattern) for value in values)}
    return lookup.warn_if_empty(criterion, ids, {value for values in texts.values() for value in values})


def _in_any_case(criterion: Criterion) -> bool:
    return criterion.arguments == ("severity",) or criterion.value.lower() in ("true", "false")


def _is(value: str, pattern: str) -> bool:
    return value == pattern or fnmatchcase(value, pattern)


def _at(value: Any, keys: tuple[str, ...]) -> Any:
    """The value under nested keys, None where there is none; a key may hold dots itself, as those of Spark confs do."""
    if not keys:
        return value
    for count in range(len(keys), 0, -1):
        key = ".".join(keys[:count])
        if isinstance(value, Mapping) and key in value:
            return _at(value[key], keys[count:])
    return None


def _as_texts(value: Any) -> list[str]:
    """A config value as it is written in a selection: each member of a list, each key of a mapping, `true`, `8`."""
    if value is None:
        return []
    if isinstance(value, (Mapping, list, tuple)):
        return [text for item in value for text in _as_texts(item)]
    return [str(value).lower() if isinstance(value, bool) else str(value)]
