"""Builds plain data from YAML parser events: within limits, with every duplicate key reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any, NamedTuple

import yaml
from yaml._yaml import CParser
from yaml.reader import Reader

from merge_runner.errors import Problems
from merge_runner.project.syntax.yaml_marks import Event, Locator, Node, is_plain, is_scalar, node_place
from merge_runner.project.syntax.yaml_scalar import Scalar, plain_scalar

MAX_DEPTH = 100
"""How deep collections may nest: far beyond any real file, and safe for recursion."""
MAX_ALIASED = 100_000
"""How many values the aliases of one file may expand to."""

_TAG = "tag:yaml.org,2002:"
_SCALAR_TAGS: Mapping[str, tuple[type, ...]] = {
    f"{_TAG}int": (int,),
    f"{_TAG}float": (float, int),
    f"{_TAG}bool": (bool,),
    f"{_TAG}null": (type(None),),
    f"{_TAG}timestamp": (date, datetime),
}


class OutOfBoundsError(Exception):
    """The file goes beyond a bound; the problem is already noted."""


class ComposedValue(NamedTuple):
    """A value, its node, and with every alias written out how many values it holds in how many levels."""

    value: Any
    node: Node
    size: int = 1
    height: int = 0


class _PythonParser(Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """The parser for a PyYAML without libyaml: the same events, some ten times slower."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)


def _parser(text: str) -> Any:
    if yaml.__with_libyaml__:
        return CParser(text)
    return _PythonParser(text)


def compose(locator: Locator, problems: Problems) -> ComposedValue | None:
    """The one document of a text; None where it holds none.

    Raises yaml.MarkedYAMLError where it is no YAML and OutOfBoundsError beyond a bound; other problems are added.
    """
    return _Composer(locator, problems).document()


class _Composer:
    """Builds data from parser events. PyYAML's own composer recurses without bound and drops duplicate keys."""

    def __init__(self, locator: Locator, problems: Problems) -> None:
        self._locator = locator
        self._text = locator.source.text
        self._problems = problems
        self._next: Callable[[], Event] = _parser(self._text).get_event
        self._anchors: dict[str, ComposedValue] = {}
        self._alias_size = 0

    def document(self) -> ComposedValue | None:
        self._next()  # the start of the stream
        event = self._next()
        if isinstance(event, yaml.StreamEndEvent):
            return None
        value = self._build(self._next(), 0)
        self._next()  # the end of the document
        event = self._next()
        if isinstance(event, yaml.DocumentStartEvent):
            place = self._locator.place(event)
            self._problems.add("several-documents", "a second YAML document begins here", place, "keep one per file")
        return value

    def _build(self, event: Event, depth: int) -> ComposedValue:
        kind = event.__class__
        if kind is yaml.ScalarEvent:
            composed = ComposedValue(self._scalar(event), self._locator.scalar(event))
        elif kind is yaml.AliasEvent:
            return self._alias(event, depth)
        elif depth == MAX_DEPTH:
            raise self._too_deep(event)
        elif kind is yaml.MappingStartEvent:
            composed = self._mapping(event, depth + 1)
        else:
            composed = self._sequence(event, depth + 1)
        if event.anchor is not None:
            self._anchors[event.anchor] = composed
        return composed

    def _scalar(self, event: Event) -> Scalar:
        text: str = event.value
        if is_plain(event):
            return plain_scalar(text)
        tag = event.tag
        if tag is None or tag in {"!", f"{_TAG}str"}:
            return text
        value = plain_scalar(text)
        if tag in _SCALAR_TAGS:
            if type(value) in _SCALAR_TAGS[tag]:
                return float(value) if tag == f"{_TAG}float" else value  # type: ignore[arg-type]
            message = f"this is no {tag.removeprefix(_TAG)}"
            self._problems.add("invalid-value", message, self._locator.place(event))
            return text
        self._unknown_tag(event)
        return text

    def _sequence(self, event: Event, depth: int) -> ComposedValue:
        if event.tag not in {None, "!", f"{_TAG}seq"}:
            self._unknown_tag(event)
        values: list[Any] = []
        nodes: list[Node] = []
        size, height = 1, 0
        take = self._next
        while (inner := take()).__class__ is not yaml.SequenceEndEvent:
            value, node, inner_size, inner_height = self._build(inner, depth)
            values.append(value)
            nodes.append(node)
            size += inner_size
            height = max(height, inner_height)
        return ComposedValue(values, self._locator.collection(event, nodes), size, height + 1)

    def _mapping(self, event: Event, depth: int) -> ComposedValue:
        if event.tag not in {None, "!", f"{_TAG}map"}:
            self._unknown_tag(event)
        values: dict[str, Any] = {}
        nodes: dict[str, tuple[Node, Node]] = {}
        merged: list[ComposedValue] = []
        size, height = 1, 0
        take = self._next
        while (key := take()).__class__ is not yaml.MappingEndEvent:
            name, at = self._key(key, depth)
            value, node, inner_size, inner_height = composed = self._build(take(), depth)
            size += inner_size
            height = max(height, inner_height)
            if name is None:
                continue
            if name == "<<" and isinstance(key, yaml.ScalarEvent) and is_plain(key):
                merged += self._to_merge(composed)
                continue
            if name in nodes:
                first = node_place(self._locator.source.path, nodes[name][0])
                place = self._locator.place(key)
                message = f'the key "{name}" appears twice in one mapping, first in line {first.line}'
                hint = f"remove it in line {first.line} or in line {place.line}"
                self._problems.add("duplicate-key", message, place, hint)
                continue
            values[name] = value
            nodes[name] = (at, node)
        for merged_mapping in merged:
            for name, pair in merged_mapping.node[2].items():
                if name not in nodes:
                    values[name] = merged_mapping.value[name]
                    nodes[name] = pair
        return ComposedValue(values, self._locator.collection(event, nodes), size, height + 1)

    def _key(self, event: Event, depth: int) -> tuple[str | None, Node]:
        if isinstance(event, yaml.ScalarEvent):
            node = self._locator.scalar(event)
            if event.anchor is not None:
                self._anchors[event.anchor] = ComposedValue(self._scalar(event), node)
            return str(event.value), node
        composed = self._build(event, depth)
        if is_scalar(composed.node):
            return str(composed.node[5]), self._locator.collection(event, [])
        offset = event.start_mark.index
        jinja = self._text.startswith("{{", offset - 1) if offset else False
        place = self._locator.source.place(offset - 1) if jinja else self._locator.place(event)
        hint = 'quote the text that holds {{ }}: "{{ … }}"' if jinja else None
        self._problems.add("invalid-key", "a key must be text, not a collection", place, hint)
        return None, composed.node

    def _to_merge(self, composed: ComposedValue) -> list[ComposedValue]:
        if isinstance(composed.value, dict):
            return [composed]
        if isinstance(composed.value, list):
            pairs = zip(composed.value, composed.node[2], strict=True)
            if all(isinstance(value, dict) for value in composed.value):
                return [ComposedValue(value, node) for value, node in pairs]
        place = node_place(self._locator.source.path, composed.node)
        self._problems.add("invalid-value", "<< must be followed by a mapping or a list of mappings", place)
        return []

    def _alias(self, event: Event, depth: int) -> ComposedValue:
        composed = self._anchors.get(event.anchor)
        if composed is None:
            message = f"the alias *{event.anchor} has no anchor &{event.anchor} that ends before it"
            self._problems.add("unknown-alias", message, self._locator.place(event))
            return ComposedValue(None, self._locator.collection(event, []))
        self._alias_size += composed.size
        if self._alias_size > MAX_ALIASED:
            message = f"the aliases of this file expand to more than {MAX_ALIASED:,} values"
            self._problems.add("yaml-too-large", message, self._locator.place(event))
            raise OutOfBoundsError
        if depth + composed.height > MAX_DEPTH:
            raise self._too_deep(event)
        return composed

    def _too_deep(self, event: Event) -> OutOfBoundsError:
        message = f"more than {MAX_DEPTH} levels of nesting"
        self._problems.add("yaml-too-deep", message, self._locator.place(event))
        return OutOfBoundsError()

    def _unknown_tag(self, event: Event) -> None:
        tag = str(event.tag).replace(_TAG, "!!")
        message = f"the YAML tag {tag} is not supported"
        self._problems.add("unknown-tag", message, self._locator.place(event), "write the value without a tag")
