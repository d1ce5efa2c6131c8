"""Named selections: selectors.yml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field, StrictBool

from merge_runner.errors import Problems
from merge_runner.project.validate import validate
from merge_runner.project.yaml_tree import YamlTree

FILE = "selectors.yml"


@dataclass(frozen=True)
class _Selector:
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1)]
    definition: Annotated[str, Field(min_length=1)]
    description: str | None = None
    default: StrictBool = False


@dataclass(frozen=True)
class _SelectorFile:
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    selectors: tuple[_Selector, ...]


def selectors(tree: YamlTree, problems: Problems) -> dict[str, str]:
    """Selections by name, from dbt's list of `{name, definition}` with text definitions, or a mapping of names."""
    data = tree.data
    if data is None:
        return {}
    if not isinstance(data, Mapping) or isinstance(data.get("selectors"), list):
        return _listed(tree, problems)
    at = ("selectors",) if isinstance(data.get("selectors"), Mapping) else ()
    named = data["selectors"] if at else data
    plain = validate(Mapping[str, str], named, tree, problems, at=at)  # type: ignore[type-abstract]
    return dict(plain or {})


def _listed(tree: YamlTree, problems: Problems) -> dict[str, str]:
    file = validate(_SelectorFile, tree.data, tree, problems)
    found: dict[str, str] = {}
    for index, each in enumerate(file.selectors if file else ()):
        if each.name in found:
            message = f'the selector "{each.name}" is defined twice'
            problems.add("duplicate-name", message, tree.place(("selectors", index, "name")), "rename one of them")
        found.setdefault(each.name, each.definition)
    return found
