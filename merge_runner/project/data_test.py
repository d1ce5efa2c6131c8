"""Data tests as YAML writes them: a name, or a mapping with arguments and config in any of dbt's forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt

from merge_runner.errors import Problems
from merge_runner.project.config import Count, Names
from merge_runner.project.places import KeyPath, Places
from merge_runner.project.properties import DataTest, Mapped
from merge_runner.project.validate import shown, validate


def data_test(value: Any, at: KeyPath, places: Places, problems: Problems, of: str) -> DataTest | None:
    """The data test that stands at the path `at`; None, with problems, where it is none.

    Accepted are `not_null`, `{accepted_values: {values: […]}}`, arguments under `arguments:`, config inline or under
    `config:`, and `{test_name: accepted_values, …}`. The arguments of the built-in tests are checked.
    """
    if isinstance(value, str):
        name, body, inner = value, {}, at
    elif isinstance(value, Mapping) and isinstance(value.get("test_name"), str):
        name = value["test_name"]
        body, inner = {key: each for key, each in value.items() if key != "test_name"}, at
    elif isinstance(value, Mapping) and len(value) == 1:
        name, body = next(iter(value.items()))
        inner = (*at, name)
        body = {} if body is None else body
    else:
        hint = _flat_hint(value)
        problems.add("invalid-value", f"{of}: a data test must be a name or a mapping of one", places.place(at), hint)
        return None
    if not isinstance(body, Mapping):
        message = f'{of}: the arguments of "{name}" must be a mapping, not {shown(body)}'
        problems.add("invalid-value", message, places.place(inner))
        return None
    return _Reader(name, body, inner, at, places, problems, f"{of}, test {name}").test()


def _flat_hint(value: Any) -> str | None:
    """For `- accepted_values:` with its arguments beside it instead of below it."""
    if isinstance(value, Mapping) and value and next(iter(value.values())) is None:
        return f'indent the lines below "{next(iter(value))}" further: they belong to it'
    return None


@dataclass(frozen=True)
class _Config:
    """What may be said of any data test, inline or under `config:`."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    severity: Annotated[
        Literal["error", "warn"], BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value)
    ] = "error"
    where: str | None = None
    limit: Count | None = None
    since: Literal["bounds"] | None = None
    store_failures: StrictBool | None = None
    error_if: str | None = None
    warn_if: str | None = None
    fail_calc: str | None = None
    enabled: StrictBool = True
    tags: Names = ()
    meta: Mapped = field(default_factory=dict)


@dataclass(frozen=True)
class _NoArguments:
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class _AcceptedValues:
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    values: Annotated[tuple[Any, ...], Field(min_length=1)]
    quote: StrictBool = True


@dataclass(frozen=True)
class _Relationships:
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    to: str
    field: str


@dataclass(frozen=True)
class _ExpressionIsTrue:
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    expression: str


@dataclass(frozen=True)
class _UniqueCombination:
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    combination_of_columns: Annotated[
        tuple[str, ...], Field(min_length=1, validation_alias=AliasChoices("combination_of_columns", "columns"))
    ]


@dataclass(frozen=True)
class _Recency:
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    datepart: Literal["second", "minute", "hour", "day", "week", "month", "quarter", "year"]
    interval: Annotated[StrictInt, Field(ge=1)]
    field: str | None = None
    group_by_columns: Names = ()
    ignore_time_component: StrictBool = False


@dataclass(frozen=True)
class _RowCountBetween:
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    min_value: Count | None = None
    max_value: Count | None = None

    def __post_init__(self) -> None:
        if self.min_value is None and self.max_value is None:
            raise ValueError('it needs "min_value", "max_value" or both')
        if self.min_value is not None and self.max_value is not None and self.min_value > self.max_value:
            raise ValueError(f"no count is between {self.min_value} and {self.max_value}")


_BUILT_IN: Mapping[str, Any] = {
    "not_null": _NoArguments,
    "unique": _NoArguments,
    "accepted_values": _AcceptedValues,
    "relationships": _Relationships,
    "expression_is_true": _ExpressionIsTrue,
    "unique_combination": _UniqueCombination,
    "unique_combination_of_columns": _UniqueCombination,
    "recency": _Recency,
    "row_count_between": _RowCountBetween,
}
_CONFIG_KEYS = frozenset(each.name for each in fields(_Config))
_OWN_KEYS = frozenset({"name", "description", "config", "arguments"})


@dataclass(frozen=True)
class _Reader:
    name: str
    body: Mapping[str, Any]
    at: KeyPath
    item: KeyPath
    places: Places
    problems: Problems
    of: str

    def test(self) -> DataTest | None:
        before = len(self.problems)
        label, description = self._text("name"), self._text("description")
        arguments = self._arguments()
        config = self._config()
        if config is None or len(self.problems) > before:
            return None
        return DataTest(
            name=self.name,
            arguments=arguments,
            label=label,
            description=description or "",
            place=self.places.place(self.item),
            **vars(config),
        )

    def _arguments(self) -> Mapping[str, Any]:
        inline = {key: value for key, value in self.body.items() if key not in _OWN_KEYS and key not in _CONFIG_KEYS}
        arguments = self.body.get("arguments")
        at = self.at
        if arguments is not None:
            if not isinstance(arguments, Mapping):
                message = f'{self.of}: "arguments" must be a mapping, not {shown(arguments)}'
                self.problems.add("invalid-value", message, self.places.place((*at, "arguments")))
                return {}
            for key in inline:
                message = f'{self.of}: "{key}" stands beside "arguments"'
                hint = 'move it below "arguments"'
                self.problems.add("invalid-value", message, self.places.key_place((*at, key)), hint)
            inline, at = dict(arguments), (*at, "arguments")
        if built_in := _BUILT_IN.get(self.name.rpartition(".")[2]):
            validate(built_in, inline, self.places, self.problems, at=at, of=self.of)
        return inline

    def _config(self) -> _Config | None:
        inline = {key: value for key, value in self.body.items() if key in _CONFIG_KEYS}
        nested = self.body.get("config")
        nested = {} if nested is None else nested
        if isinstance(nested, Mapping):
            for key in inline.keys() & nested.keys():
                place = self.places.key_place((*self.at, key))
                self.problems.add(
                    "duplicate-key", f'{self.of}: "{key}" stands both in and beside "config"', place, "keep one of them"
                )
        first = validate(_Config, inline, self.places, self.problems, at=self.at, of=self.of)
        second = validate(_Config, nested, self.places, self.problems, at=(*self.at, "config"), of=self.of)
        if first is None or second is None:
            return None
        said = {key: getattr(first, key) for key in inline} | {key: getattr(second, key) for key in nested}
        return _Config(**said)

    def _text(self, key: str) -> str | None:
        value = self.body.get(key)
        if value is None or isinstance(value, str):
            return value
        at = (*self.at, key)
        if (written := self.places.text(at)) is not None:
            return written
        message = f'{self.of}: "{key}" must be text, not {shown(value)}'
        self.problems.add("invalid-value", message, self.places.place(at))
        return None
