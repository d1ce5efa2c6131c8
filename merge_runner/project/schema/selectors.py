"""Named selections: selectors.yml, in dbt's forms and as texts in the syntax of --select."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal

from merge_runner.errors import Problems, did_you_mean
from merge_runner.project.syntax.places import KeyPath
from merge_runner.project.syntax.validate import describe_value
from merge_runner.project.syntax.yaml_tree import YamlTree
from merge_runner.text import Place

FILE = "selectors.yml"

Indirect = Literal["eager", "cautious", "buildable", "empty"]
"""Which tests of what is selected come along: any, those with all parents selected (or above what is), none."""

INDIRECT: Mapping[Indirect, str] = {
    "eager": "any test of a selected node, also where it depends on nodes that are not selected",
    "cautious": "tests all of whose parents are selected",
    "buildable": "tests all of whose parents are selected or upstream of a selected node",
    "empty": "no test",
}
"""Which tests come along, as text. This and the keys below are in docs/reference/yaml.md."""


@dataclass(frozen=True)
class SelectionText:
    """A selection in the syntax of --select."""

    text: str
    place: Place
    exclude: tuple[Definition, ...] = ()


@dataclass(frozen=True)
class Method:
    """One method and its value. `parents` and `children` are the edges to follow, `relatives` is the operator @."""

    method: str
    value: str
    place: Place
    parents: float = 0
    children: float = 0
    relatives: bool = False
    indirect: Indirect | None = None
    exclude: tuple[Definition, ...] = ()

    @property
    def text(self) -> str:
        """The method as --select has it."""
        before = "@" if self.relatives else f"{_depth(self.parents)}+" if self.parents else ""
        after = f"+{_depth(self.children)}" if self.children else ""
        return f"{before}{self.method}:{self.value}{after}"


@dataclass(frozen=True)
class Combination:
    """What any (union) or all (intersection) of the parts select, without what one of `exclude` selects."""

    operation: Literal["union", "intersection"]
    parts: tuple[Definition, ...]
    place: Place
    exclude: tuple[Definition, ...] = ()


Definition = SelectionText | Method | Combination


@dataclass(frozen=True)
class Selector:
    """A named selection. `data` is its definition as plain data; `default`: it counts where nothing is selected."""

    name: str
    definition: Definition
    data: Any = field(compare=False)
    description: str = ""
    default: bool = False


def selectors(tree: YamlTree, problems: Problems) -> dict[str, Selector]:
    """Return the selections by name, from dbt's list of `{name, definition}`, or a mapping of names to definitions.

    Every problem is added at its place.
    """
    by_name: dict[str, Selector] = {}
    data = tree.data
    if data is None:
        return by_name
    reader = _Reader(tree, problems)
    if not isinstance(data, Mapping):
        reader.refuse(
            (), f"{FILE} must be a mapping, not {describe_value(data)}", 'write "selectors:" and a list below it'
        )
    elif isinstance(data.get("selectors"), list):
        for key in data.keys() - {"selectors", "version"}:
            problems.add(
                "unknown-key", f'unknown key "{key}"', tree.key_place((key,)), did_you_mean(key, ["selectors"])
            )
        for index, entry in enumerate(data["selectors"]):
            selector = reader.selector(entry, ("selectors", index))
            if selector is not None and selector.name in by_name:
                message = f'the selector "{selector.name}" is defined twice'
                place = tree.place(("selectors", index, "name"))
                problems.add("duplicate-name", message, place, "rename one of them")
            elif selector is not None:
                by_name[selector.name] = selector
    else:
        at: KeyPath = ("selectors",) if isinstance(data.get("selectors"), Mapping) else ()
        for name, body in (data["selectors"] if at else data).items():
            definition = reader.definition(body, (*at, name), f"selector {name}")
            if definition is not None:
                by_name[str(name)] = Selector(str(name), definition, body)
    defaults = [name for name, selector in by_name.items() if selector.default]
    if len(defaults) > 1:
        message = f"the selectors {', '.join(defaults)} are all the default"
        problems.add("duplicate-default", message, tree.place(), 'only one may have "default: true"')
    return by_name


OF_SELECTOR: Mapping[str, str] = {
    "name": "the name for `--selector`",
    "definition": "a text in the syntax of `--select`, or a mapping: one method, `union` or `intersection`",
    "description": "what the selector is for",
    "default": "`true`: the selection of a command without `--select`, `--exclude` and `--selector`",
}
"""The keys of an entry of `selectors`, and what they mean."""
OF_METHOD: Mapping[str, str] = {
    "method": "a method of `--select`: `tag`, `path`, `config.materialized`, …",
    "value": "the value of the method; `*` and `?` are wildcards",
    "parents": "`true`: also what the nodes depend on (`+node`)",
    "parents_depth": "with `parents`: that many edges (`2+node`)",
    "children": "`true`: also what depends on the nodes (`node+`)",
    "children_depth": "with `children`: that many edges (`node+2`)",
    "childrens_parents": "`true`: the nodes, their descendants, and all ancestors of these (`@node`)",
    "indirect_selection": "which tests of the nodes come along: `eager`, `cautious`, `buildable` or `empty`",
    "exclude": "a list of definitions whose nodes are left out; also in `union` and `intersection`",
}
"""The keys of a definition by one method, and what they mean."""
OPERATIONS: Mapping[str, str] = {
    "union": "a list of definitions: the nodes of any of them",
    "intersection": "a list of definitions: the nodes of all of them",
}
"""The keys of a definition by several others, and what they mean."""


@dataclass(frozen=True)
class _Reader:
    """Reads definitions; None where one is wrong, and a problem says why."""

    tree: YamlTree
    problems: Problems
    definitions: dict[int, Definition | None] = field(default_factory=dict)
    """The definitions by the values they are written as: aliases of YAML can name one value thousands of times."""

    def refuse(self, at: KeyPath, message: str, hint: str | None = None) -> None:
        self.problems.add("invalid-value", message, self.tree.place(at), hint)

    def selector(self, entry: Any, at: KeyPath) -> Selector | None:
        if not isinstance(entry, Mapping):
            self.refuse(at, f'an entry of "selectors" must be a mapping, not {describe_value(entry)}')
            return None
        name = entry.get("name")
        if not isinstance(name, str) or not name:
            self.refuse((*at, "name"), 'a selector needs a "name", a text')
            return None
        of = f"selector {name}"
        self._check_keys(entry, OF_SELECTOR, at, of)
        default = self._flag(entry, "default", at, of)
        if "definition" not in entry:
            self.problems.add("missing-key", f'{of}: the key "definition" is missing', self.tree.place(at))
            return None
        definition = self.definition(entry["definition"], (*at, "definition"), of)
        if definition is None:
            return None
        return Selector(name, definition, entry["definition"], str(entry.get("description") or ""), default)

    def definition(self, body: Any, at: KeyPath, of: str) -> Definition | None:
        if not isinstance(body, Mapping):
            return self._read_definition(body, at, of)
        if id(body) not in self.definitions:
            self.definitions[id(body)] = self._read_definition(body, at, of)
        return self.definitions[id(body)]

    def _read_definition(self, body: Any, at: KeyPath, of: str) -> Definition | None:
        if (text := self._scalar(body, at)) is not None:
            return SelectionText(text, self.tree.place(at))
        if not isinstance(body, Mapping) or not body:
            hint = "write a selection as for --select, or a mapping with method and value, union, or intersection"
            self.refuse(at, f"{of}: a definition must be text or a mapping, not {describe_value(body)}", hint)
            return None
        operations = [key for key in OPERATIONS if key in body]
        if len(operations) == 2:
            self.refuse(at, f"{of}: union and intersection exclude each other here", "nest one of them in the other")
            return None
        if operations == ["union"]:
            return self._combination("union", body, at, of)
        if operations == ["intersection"]:
            return self._combination("intersection", body, at, of)
        return self._method(body, at, of)

    def _combination(
        self, operation: Literal["union", "intersection"], body: Mapping[str, Any], at: KeyPath, of: str
    ) -> Combination | None:
        self._check_keys(body, (operation, "exclude"), at, of)
        inner = (*at, operation)
        entries = body[operation]
        if not isinstance(entries, list) or not entries:
            self.refuse(inner, f'{of}: "{operation}" must be a list of definitions, not {describe_value(entries)}')
            return None
        parts: list[Definition | None] = []
        exclude = [*self._exclusions(body, at, of)]
        for index, entry in enumerate(entries):
            if isinstance(entry, Mapping) and set(entry) == {"exclude"}:
                exclude += self._exclusions(entry, (*inner, index), of)
            else:
                parts.append(self.definition(entry, (*inner, index), of))
        if not parts:
            self.refuse(inner, f'{of}: "{operation}" holds nothing but "exclude"', "write what is to be selected first")
            return None
        good = tuple(part for part in parts if part is not None)
        return Combination(operation, good, self.tree.place(at), tuple(exclude))

    def _method(self, body: Mapping[str, Any], at: KeyPath, of: str) -> Method | None:
        if len(body) == 1 and not body.keys() & set(OF_METHOD):
            ((key, entry),) = body.items()
            text = self._scalar(entry, (*at, key))
            if text is None:
                self.refuse((*at, key), f'{of}: "{key}" must be text, not {describe_value(entry)}')
                return None
            return Method(str(key), text, self.tree.place(at))
        self._check_keys(body, OF_METHOD, at, of)
        method, value = (self._scalar(body.get(key), (*at, key)) for key in ("method", "value"))
        if not method or not value:
            missing = "method" if not method else "value"
            hint = "write {method: tag, value: nightly}"
            self.problems.add("missing-key", f'{of}: "{missing}" is missing', self.tree.place(at), hint)
            return None
        relatives = self._flag(body, "childrens_parents", at, of)
        children = self._edges(body, "children", at, of)
        if relatives and children:
            hint = '"childrens_parents" already takes all children'
            self.refuse((*at, "children"), f'{of}: "childrens_parents" and "children" exclude each other', hint)
        indirect = body.get("indirect_selection")
        if indirect is not None and indirect not in tuple(INDIRECT):  # it may be unhashable
            message = f'{of}: "indirect_selection" must be one of {", ".join(INDIRECT)}, not {describe_value(indirect)}'
            self.refuse((*at, "indirect_selection"), message)
        return Method(
            method,
            value,
            self.tree.place(at),
            self._edges(body, "parents", at, of),
            children,
            relatives,
            indirect,
            tuple(self._exclusions(body, at, of)),
        )

    def _exclusions(self, body: Mapping[str, Any], at: KeyPath, of: str) -> Iterator[Definition]:
        entries = body.get("exclude")
        if entries is None:
            return
        if not isinstance(entries, list):
            self.refuse(
                (*at, "exclude"), f'{of}: "exclude" must be a list of definitions, not {describe_value(entries)}'
            )
            return
        for index, entry in enumerate(entries):
            definition = self.definition(entry, (*at, "exclude", index), of)
            if definition is not None:
                yield definition

    def _edges(self, body: Mapping[str, Any], key: str, at: KeyPath, of: str) -> float:
        depth = body.get(f"{key}_depth")
        follows = self._flag(body, key, at, of)
        if depth is None:
            return inf if follows else 0
        if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
            self.refuse(
                (*at, f"{key}_depth"),
                f'{of}: "{key}_depth" must be a whole number above 0, not {describe_value(depth)}',
            )
        elif not follows:
            self.refuse((*at, f"{key}_depth"), f'{of}: "{key}_depth" needs "{key}: true"')
        return depth if follows and isinstance(depth, int) else 0

    def _flag(self, body: Mapping[str, Any], key: str, at: KeyPath, of: str) -> bool:
        value = body.get(key)
        if value is not None and not isinstance(value, bool):
            self.refuse((*at, key), f'{of}: "{key}" must be true or false, not {describe_value(value)}')
        return value is True

    def _scalar(self, value: Any, at: KeyPath) -> str | None:
        """Return a text, number, boolean or date as it is written; None for anything else, and for an empty text."""
        if isinstance(value, str):
            return value or None
        if value is None or isinstance(value, Mapping | list):
            return None
        return self.tree.text(at) or str(value)

    def _check_keys(self, body: Mapping[str, Any], allowed: Collection[str], at: KeyPath, of: str) -> None:
        for key in body:
            if key not in allowed:
                place = self.tree.key_place((*at, key))
                self.problems.add("unknown-key", f'{of}: unknown key "{key}"', place, did_you_mean(str(key), allowed))


def _depth(edges: float) -> str:
    return "" if edges == inf else str(int(edges))
