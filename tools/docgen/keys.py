"""The keys of a configuration type: of each field its name in a file, type, default, and what its docstring says."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from datetime import date, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from merge_runner.project.schema.config import Hooks, Names
from merge_runner.project.schema.properties import DataTest
from merge_runner.project.schema.quantities import Seconds, Size
from merge_runner.project.schema.stream import OptionalStream
from merge_runner.project.syntax.annotations import Limits, written_as

_ALIASES: tuple[tuple[Any, str], ...] = (
    (Names, "string or list of strings"),
    (Hooks, "SQL string or list of SQL strings"),
    (OptionalStream, "`true` or mapping"),
    (Seconds, "duration: seconds, or a text such as `30s`, `5 minutes`, `1h`"),
    (Size, "size: bytes, or a text such as `500 MB`, `50 GiB`"),
)
_SCALARS: Mapping[Any, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    date: "date",
    datetime: "timestamp",
    Any: "any value",
    DataTest: "data test",
}
_EXAMPLE = re.compile(r"\s*Example: `(?P<example>.+)`\Z")
_DEFAULT = re.compile(r"\s+Default:\s+(?P<default>(?:(?!Default:\s).)+?)\.?\Z", re.DOTALL)
_APPLIES = re.compile(r"\s*Applies to: (?P<applies>.+)\Z")


@dataclass(frozen=True)
class Key:
    """A key as a user writes it. `names` are all spellings, the usual one first; `nested` are the keys below it.

    `applies` None: to everything that has the key.
    """

    names: tuple[str, ...]
    type_name: str
    default: str
    meaning: str
    example: str
    applies: str | None = None
    nested: type | None = None

    @property
    def name(self) -> str:
        """The usual spelling."""
        return self.names[0]

    @property
    def sentence(self) -> str:
        """The first sentence of the meaning."""
        first = self.meaning.partition("\n\n")[0]
        return re.split(r"(?<=\.)\s+(?=[A-Z`])", first, maxsplit=1)[0]


def keys(kind: type) -> list[Key]:
    """Return the keys of a dataclass, in order. Raises ValueError for a field without a docstring or an example."""
    texts = docstrings(kind)
    hints = get_type_hints(kind, include_extras=True)
    return [_key(kind, field, hints[field.name], texts.get(field.name)) for field in fields(kind)]


def class_text(kind: type) -> str:
    """Return the docstring of a type as Markdown."""
    return inspect.getdoc(kind) or ""


def _key(kind: type, field: Field[Any], hint: Any, text: str | None) -> Key:
    if not text:
        raise ValueError(f"{kind.__module__}.{kind.__qualname__}.{field.name} has no docstring: say what the key means")
    meaning = inspect.cleandoc(text)
    example = _EXAMPLE.search(meaning)
    if example is None:
        raise ValueError(f"the docstring of {kind.__qualname__}.{field.name} does not end with Example: `…`")
    meaning = meaning[: example.start()]
    applies = _APPLIES.search(meaning)
    if applies is not None:
        meaning = meaning[: applies.start()]
    default = _DEFAULT.search(meaning)
    if default is not None:
        meaning = meaning[: default.start()]
    return Key(
        names=written_as(field.name, hint),
        type_name=type_name(hint),
        default=" ".join(default["default"].split()) if default is not None else _default(field),
        meaning=meaning,
        example=example["example"],
        applies=applies["applies"] if applies is not None else None,
        nested=_nested(hint),
    )


def type_name(hint: Any) -> str:
    """Return a type in the words of YAML: `string`, `list of mappings`, the values of a Literal."""
    for alias, name in _ALIASES:
        if hint == alias:
            return name
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return type_name(arguments[0]) + "".join(_limits(arguments[1:]))
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in arguments)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(type_name(member) for member in arguments if member is not NoneType))
    if origin in (tuple, list):
        return f"list of {_plural(type_name(arguments[0]))}"
    if origin is not None and issubclass(origin, Mapping):
        return "mapping" if arguments[1] is Any else f"mapping of {_plural(type_name(arguments[1]))}"
    return _SCALARS.get(hint) or ("mapping" if is_dataclass(hint) else str(hint))


def _limits(extras: tuple[Any, ...]) -> Iterator[str]:
    for extra in extras:
        if isinstance(extra, Limits) and extra.ge is not None:
            yield f", {extra.ge} or more"
        if isinstance(extra, Limits) and extra.min_length is not None:
            yield ", not empty"


def _plural(name: str) -> str:
    last = name.rpartition(" or ")[2]
    if last.startswith("`"):
        return last
    first, blank, rest = last.partition(",")[0].removeprefix("any ").partition(" of ")
    return f"{first}s{blank}{rest}"


def _nested(hint: Any) -> type | None:
    """Return the dataclass whose keys a value has, or those of an entry of a list."""
    if isinstance(hint, type) and is_dataclass(hint):
        return hint
    found = (_nested(member) for member in get_args(hint) if get_origin(hint) is not Literal)
    return next((each for each in found if each is not None), None)


def _default(field: Field[Any]) -> str:
    if field.default is MISSING and field.default_factory is MISSING:
        return "required"
    value = field.default_factory() if field.default_factory is not MISSING else field.default
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple) and value:
        return ", ".join(f"`{item}`" for item in value)
    if isinstance(value, str | int | float) and value != "":
        return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"
    return "not set" if value is None else "none"


@cache
def docstrings(kind: type) -> Mapping[str, str]:
    """Return the strings below the fields that a class has itself, by field."""
    tree = ast.parse(Path(inspect.getfile(kind)).read_text(encoding="utf-8"))
    body = next(each.body for each in ast.walk(tree) if isinstance(each, ast.ClassDef) and each.name == kind.__name__)
    found = {}
    for field, text in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
            found[field.target.id] = ast.literal_eval(text.value)
    return found
