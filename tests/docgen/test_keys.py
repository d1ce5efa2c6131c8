"""What is read of a configuration type, and that every example in a docstring is valid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, get_type_hints

import pytest
import tomli
from pydantic import TypeAdapter

from merge_runner.errors import Problems
from merge_runner.project.schema.config import ModelConfig, Names
from merge_runner.project.schema.data_test import BUILT_IN, DataTestConfig
from merge_runner.project.schema.layout_file import LayoutFileContent
from merge_runner.project.schema.profile import Output, ProfileEntry
from merge_runner.project.schema.properties import DataTest, PropertyFile
from merge_runner.project.schema.settings import SettingsTable
from merge_runner.project.syntax.annotations import Key, Limits
from merge_runner.project.syntax.yaml_tree import yaml_tree
from merge_runner.text import SourceText
from tools.docgen.keys import keys, type_name


@dataclass(frozen=True)
class Inner:
    """What is inside."""

    size: Annotated[int, Limits(ge=1)] = 3
    """How large. Example: `size: 4`"""


@dataclass(frozen=True)
class Sample:
    """A type to read."""

    name: Annotated[str, Limits(min_length=1), Key(("the-name",))]
    """The name. Example: `the-name: a`"""
    mode: Literal["on", "off"] | None = None
    """Whether. It may
    be on.

    Or off. Default: as the
    table is.
    Applies to: tables
    Example: `mode: on`"""
    words: Names = ("a", "b")
    """Words. Example: `words: [c]`"""
    inner: tuple[Inner, ...] | bool = ()
    """More. Example: `inner: [{size: 1}]`"""
    texts: dict[str, Any] = field(default_factory=dict)
    """Texts. Example: `texts: {}`"""
    on: bool = False
    """A switch. Example: `on: true`"""


def test_the_keys_of_a_type():
    name, mode, words, inner, texts, on = keys(Sample)
    assert (name.names, name.type_name, name.default, name.meaning, name.example) == (
        ("the-name",),
        "string, not empty",
        "required",
        "The name.",
        "the-name: a",
    )
    assert (mode.type_name, mode.default, mode.applies) == ("`on`, `off`", "as the table is", "tables")
    assert (mode.meaning, mode.sentence) == ("Whether. It may\nbe on.\n\nOr off.", "Whether.")
    assert (words.type_name, words.default) == ("string or list of strings", "`a`, `b`")
    assert (inner.type_name, inner.default, inner.nested) == ("list of mappings or boolean", "none", Inner)
    assert (texts.type_name, texts.default) == ("mapping", "none")
    assert (on.type_name, on.default) == ("boolean", "`false`")
    assert keys(Inner)[0].type_name == "integer, 1 or more"


@dataclass(frozen=True)
class WithoutText:
    name: str
    other: str = ""
    """No example."""


@dataclass(frozen=True)
class WithoutExample:
    name: str = ""
    """No example."""


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (WithoutText, "WithoutText.name has no docstring"),
        (WithoutExample, "WithoutExample.name does not end with Example"),
    ],
)
def test_a_field_without_a_text_is_an_error(kind, message):
    with pytest.raises(ValueError, match=message):
        keys(kind)


def _all_types(*kinds: Any) -> Iterator[Any]:
    seen: list[Any] = []
    left = list(kinds)
    while left:
        kind = left.pop()
        if kind not in seen:
            seen.append(kind)
            left += [key.nested for key in keys(kind) if key.nested not in (None, DataTest)]
    return iter(seen)


YAML_TYPES = (
    ModelConfig,
    ProfileEntry,
    Output,
    PropertyFile,
    DataTestConfig,
    LayoutFileContent,
    *dict.fromkeys(BUILT_IN.values()),
)
EXAMPLES = [
    pytest.param(kind, each.name, key, id=f"{kind.__name__}.{each.name}")
    for kind in _all_types(*YAML_TYPES, SettingsTable)
    for each, key in zip(fields(kind), keys(kind), strict=True)
]


def _yaml_data(text):
    return yaml_tree(SourceText("example.yml", text), Problems()).data  # a key `on` is true in YAML 1.1


@pytest.mark.filterwarnings("ignore:The .validation_alias. attribute")  # it is looked at above
@pytest.mark.parametrize(("kind", "name", "key"), EXAMPLES)
def test_an_example_is_valid_and_of_its_key(kind, name, key):
    toml = kind.__module__ == SettingsTable.__module__
    ((written, value),) = (tomli.loads if toml else _yaml_data)(key.example).items()
    assert written in key.names
    if key.nested is DataTest:
        return  # written in forms that no plain type describes: tests/project/load/test_read_properties.py
    hint = get_type_hints(kind, include_extras=True)[name]
    read = TypeAdapter(hint).validate_python(value)
    assert read is not None


def test_types_of_lists_and_mappings():
    assert type_name(tuple[Literal["a", "b"], ...]) == "list of `a`, `b`"
    assert type_name(tuple[Any, ...]) == "list of values"
    assert type_name(dict[str, dict[str, int]]) == "mapping of mappings of integers"
    assert type_name(dict[str, Names]) == "mapping of lists of strings"
