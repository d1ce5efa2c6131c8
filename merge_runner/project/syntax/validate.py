"""Plain data against a type: a value of that type, or each mismatch as a problem at its place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from merge_runner.errors import Problems, did_you_mean, nearest
from merge_runner.project.syntax.annotations import written_as
from merge_runner.project.syntax.places import KeyPath, Places

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

T = TypeVar("T")


def validate(
    kind: type[T],
    data: Any,
    places: Places,
    problems: Problems,
    *,
    at: KeyPath = (),
    of: str = "",
    elsewhere: Mapping[str, str] | None = None,
    refused: Mapping[tuple[str, str], str] | None = None,
    secret: bool = False,
) -> T | None:
    """Return `data`, which is at the path `at`, as a `kind` (a dataclass); None where that fails.

    A number, boolean or date where text is wanted counts as the text that its author wrote (1.10 stays 1.10). `of`
    says in a message whose keys they are. `elsewhere` maps keys that users write here by mistake to what to do,
    `refused` keys and texts that are no value of them. `secret` keeps values out of messages.
    """
    from pydantic import ValidationError

    key: Any = kind  # a type variable is not known to be hashable
    adapter: TypeAdapter[T] = _adapter(key)
    while True:
        try:
            return adapter.validate_python(data)
        except ValidationError as error:
            details = error.errors(include_url=False)
        texts = _scalars_for_text(data, details, places, at)
        if not texts:
            _Report(kind, data, places, problems, at, of, elsewhere or {}, refused or {}, secret).add(details)
            return None
        data = _replace(data, texts)


def describe_value(value: Any) -> str:
    """A value in a message: short, in the spelling of JSON; collections by their kind."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if value is None:
        return "empty"
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool | int) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


@dataclass(frozen=True)
class _Report:
    """Turns what pydantic found into problems: one for each place."""

    _kind: Any
    _data: Any
    _places: Places
    _problems: Problems
    _at: KeyPath
    _of: str
    _elsewhere: Mapping[str, str]
    _refused: Mapping[tuple[str, str], str]
    _secret: bool

    def add(self, details: Iterable[ErrorDetails]) -> None:
        requirements: dict[KeyPath, list[str]] = {}
        choices: dict[KeyPath, list[str]] = {}
        inside: set[KeyPath] = set()  # collections with a problem in them: another member of the union is not meant
        for detail in details:
            path, value = _locate(self._data, detail["loc"])
            kind = detail["type"]
            inside.update(path[:length] for length in range(len(path)))
            if kind == "missing":
                inside.add(path)
            if kind == "unexpected_keyword_argument":
                self._add_unknown(path, detail["loc"])
            elif kind == "missing":
                self._add_missing(path, str(detail["loc"][-1]))
            elif kind == "value_error" and isinstance(value, Mapping):
                message = f"{self._subject(path)}{detail['ctx']['error']}"
                self._problems.add("invalid-value", message, self._places.place((*self._at, *path)))
            else:
                requirements.setdefault(path, []).append(_requirement(detail))
                if kind == "literal_error":
                    choices.setdefault(path, []).extend(_choices(detail))
        for path, kinds in requirements.items():
            if path not in inside:
                self._add_invalid(path, " or ".join(dict.fromkeys(kinds)), choices.get(path, []))

    def _add_unknown(self, path: KeyPath, loc: tuple[int | str, ...]) -> None:
        key = str(path[-1])
        allowed = _allowed_keys(self._kind, loc[:-1])
        hint = self._elsewhere.get(key) or did_you_mean(key, allowed)
        place = self._places.key_place((*self._at, *path))
        self._problems.add("unknown-key", f'{self._subject(path[:-1])}unknown key "{key}"', place, hint)

    def _add_missing(self, path: KeyPath, key: str) -> None:
        place = self._places.place((*self._at, *path))
        self._problems.add("missing-key", f'{self._subject(path)}the key "{key}" is missing', place)

    def _add_invalid(self, path: KeyPath, requirement: str, choices: list[str]) -> None:
        value = _at(self._data, path)
        name = self._name(path)
        message = f"{self._subject(path)}{name} must be {requirement}"
        if not self._secret:
            message += f", not {describe_value(value)}"
        hint = None
        if isinstance(value, str) and not self._secret:
            match = nearest(value, choices)
            hint = f'did you mean "{match}"?' if match else None
            hint = self._refused.get((str(path[-1]) if path else "", value), hint)
            if (
                hint is None
                and "true or false" in requirement
                and value.lower() in {"yes", "no", "on", "off", "y", "n"}
            ):
                hint = "write true or false: these are the only booleans"
        self._problems.add("invalid-value", message, self._places.place((*self._at, *path)), hint)

    def _name(self, path: KeyPath) -> str:
        """The quoted key of a value, with the keys around it down from the last list; an entry by its list's."""
        full = path or self._at
        entry = bool(full) and isinstance(full[-1], int)
        keys: list[str] = []
        for step in reversed(full[:-1] if entry else full):
            if isinstance(step, int):
                break
            keys.insert(0, step)
        name = f'"{".".join(keys if path else keys[-1:])}"' if keys else "this"
        return f"an entry of {name}" if entry else name

    def _subject(self, path: KeyPath) -> str:
        """Whose keys they are: the named thing closest around them."""
        for length in range(len(path), 0, -1):
            entry = _at(self._data, path[:length])
            if isinstance(path[length - 1], int) and isinstance(entry, Mapping) and (name := entry.get("name")):
                kind = next((step for step in reversed(path[:length]) if isinstance(step, str)), "entry")
                return f"{_singular(kind)} {name}: "
        return f"{self._of}: " if self._of else ""


_SINGULAR = {"unit_tests": "unit test", "given": "input"}


def _singular(key: str) -> str:
    return _SINGULAR.get(key, key.removesuffix("s"))


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _locate(data: Any, loc: tuple[int | str, ...]) -> tuple[KeyPath, Any]:
    """The path in `data` that pydantic's `loc` means, without the names of union members and missing keys in it."""
    path: list[str | int] = []
    for step in loc:
        if isinstance(data, Mapping):
            is_step_of_data = step in data
        else:
            is_step_of_data = isinstance(data, list | tuple) and isinstance(step, int) and step < len(data)
        if is_step_of_data:
            data = data[step]
            path.append(step)
    return tuple(path), data


def _scalars_for_text(data: Any, details: Iterable[ErrorDetails], places: Places, at: KeyPath) -> dict[KeyPath, str]:
    """Return the scalars where text is wanted, as they were written."""
    texts = {}
    for detail in details:
        path, value = _locate(data, detail["loc"])
        if detail["type"] == "string_type" and isinstance(value, bool | int | float | date):
            texts[path] = _as_text(value, places.text((*at, *path)))
    return texts


def _at(data: Any, path: KeyPath) -> Any:
    for step in path:
        data = data[step]
    return data


def _replace(data: Any, values: Mapping[KeyPath, Any]) -> Any:
    """Return `data` with other values at paths; what is on none of the paths is shared, and the rest copied once."""
    if () in values:
        return values[()]
    inside: dict[Any, dict[KeyPath, Any]] = {}
    for path, value in values.items():
        inside.setdefault(path[0], {})[path[1:]] = value
    copy: Any = dict(data) if isinstance(data, Mapping) else list(data)
    for step, inner in inside.items():
        copy[step] = _replace(data[step], inner)
    return copy


def _as_text(value: Any, author_text: str | None) -> str:
    if author_text is not None:
        return author_text
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat(" ") if isinstance(value, datetime) else str(value)


_WANTED: Mapping[str, str] = {
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "tuple": "a list",
    "list": "a list",
    "dict": "a mapping",
    "mapping": "a mapping",
    "dataclass": "a mapping",
    "date": "a date (2013-01-31)",
    "datetime": "a timestamp (2013-01-31 12:00:00)",
    "none": "empty",
}


def _requirement(detail: ErrorDetails) -> str:
    kind = detail["type"]
    context = detail.get("ctx", {})
    if kind == "literal_error":
        return str(context["expected"]).replace("'", '"')
    if kind == "value_error":
        return str(context["error"])
    if kind == "greater_than_equal":
        return f"at least {context['ge']}"
    if kind == "string_too_short":
        return "text that is not empty"
    if kind == "too_short":
        return f"a list with at least {context['min_length']} {'entry' if context['min_length'] == 1 else 'entries'}"
    return _WANTED.get(kind.split("_")[0], detail["msg"])


def _choices(detail: ErrorDetails) -> Iterator[str]:
    for index, part in enumerate(str(detail["ctx"]["expected"]).split("'")):
        if index % 2:
            yield part


def _allowed_keys(kind: Any, loc: Iterable[int | str]) -> list[str]:
    """Return the keys of the dataclass at `loc` in a `kind`."""
    kind = _bare(kind)
    for step in loc:
        kind = _bare(_inner(kind, step))
    return [key for keys in _keys(kind).values() for key in keys] if is_dataclass(kind) else []


def _inner(kind: Any, step: int | str) -> Any:
    if is_dataclass(kind):
        name = next((name for name, keys in _keys(kind).items() if step in keys), None)
        # A step that is no field is the name of a union's member: the type stays.
        return get_type_hints(kind, include_extras=True)[name] if name else kind
    if get_origin(kind) is tuple and isinstance(step, int):
        return get_args(kind)[0]
    if get_origin(kind) in _MAPPINGS:
        return get_args(kind)[1]
    return kind


_MAPPINGS = (dict, Mapping)


def _bare(kind: Any) -> Any:
    """A type without its annotations; of a union the member that has keys or entries, if any."""
    if get_origin(kind) is Annotated:
        return _bare(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        members = [_bare(member) for member in get_args(kind) if member is not NoneType]
        holders = (member for member in members if is_dataclass(member) or get_origin(member) in (tuple, *_MAPPINGS))
        return next(holders, members[0])
    return kind


def _keys(kind: Any) -> dict[str, tuple[str, ...]]:
    """Of each field of a dataclass the keys under which a file may write it."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: written_as(field.name, hints[field.name]) for field in fields(kind)}
