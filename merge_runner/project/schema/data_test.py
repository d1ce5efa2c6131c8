"""Data tests as YAML writes them: a name, or a mapping with arguments and config in any of dbt's forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, ClassVar, Literal

from merge_runner.errors import Problems
from merge_runner.project.schema.accepts import also, one_of
from merge_runner.project.schema.config import Count, Names
from merge_runner.project.schema.properties import DataTest
from merge_runner.project.schema.yaml_types import Mapped
from merge_runner.project.syntax.annotations import CLOSED, Before, Key, Keyed, Limits, StrictBool, StrictInt
from merge_runner.project.syntax.places import KeyPath, Places
from merge_runner.project.syntax.validate import describe_value, validate


def data_test(value: Any, at: KeyPath, places: Places, problems: Problems, of: str) -> DataTest | None:
    """Return the data test at the path `at`; None, with problems, where it is none.

    Accepted are `not_null`, `{accepted_values: {values: […]}}`, arguments under `arguments:`, config inline or under
    `config:`, and `{test_name: accepted_values, …}`. The arguments of the built-in tests are checked.
    """
    if isinstance(value, str):
        name, body, inner = value, {}, at
    elif isinstance(value, Mapping) and isinstance(value.get("test_name"), str):
        name = value["test_name"]
        body, inner = {key: argument for key, argument in value.items() if key != "test_name"}, at
    elif isinstance(value, Mapping) and len(value) == 1:
        name, body = next(iter(value.items()))
        inner = (*at, name)
        body = {} if body is None else body
    else:
        hint = _flat_hint(value)
        problems.add("invalid-value", f"{of}: a data test must be a name or a mapping of one", places.place(at), hint)
        return None
    if not isinstance(body, Mapping):
        message = f'{of}: the arguments of "{name}" must be a mapping, not {describe_value(body)}'
        problems.add("invalid-value", message, places.place(inner))
        return None
    return _Reader(name, body, inner, at, places, problems, f"{of}, test {name}").test()


def _flat_hint(value: Any) -> str | None:
    """Return a hint for `- accepted_values:` with its arguments next to it instead of below it."""
    if isinstance(value, Mapping) and value and next(iter(value.values())) is None:
        return f'indent the lines below "{next(iter(value))}" further: they belong to it'
    return None


@dataclass(frozen=True)
class DataTestConfig:
    """What may be said of any data test, inline or under `config:`."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    severity: Annotated[
        Literal["error", "warn"],
        Before(lambda value: value.lower() if isinstance(value, str) else value),
        also({"type": "string", "pattern": "^(?:[eE][rR][rR][oO][rR]|[wW][aA][rR][nN])$"}),
    ] = "error"
    """Whether failures are an `error` or a warning (`warn`). Case makes no difference. Example: `severity: warn`"""
    where: str | None = None
    """A condition: which rows are tested. Example: `where: "order_date >= current_date() - 7"`"""
    limit: Count | None = None
    """How many failures are counted at most. Example: `limit: 100`"""
    store_failures: StrictBool | None = None
    """Write all failing rows to a table in the schema `<schema>_dbt_test__audit`. Example: `store_failures: true`"""
    error_if: str | None = None
    """A condition on the number of failures that is an error. Default: any failure. Example: `error_if: ">10"`"""
    warn_if: str | None = None
    """A condition on the number of failures that is a warning. Default: any failure. Example: `warn_if: ">0"`"""
    fail_calc: str | None = None
    """The SQL aggregate that counts failures. Default: `count(*)`. Example: `fail_calc: "sum(n_records)"`"""
    enabled: StrictBool = True
    """`false` leaves the test out. Example: `enabled: false`"""
    tags: Names = ()
    """Labels for selection. Example: `tags: [slow]`"""
    meta: Mapped = field(default_factory=dict)
    """Keys and values of your own. Example: `meta: {owner: ann}`"""


@dataclass(frozen=True)
class _NotNull:
    """A failure is a row without a value."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED


@dataclass(frozen=True)
class _Unique:
    """A failure is a value that occurs more than once; NULLs do not count."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED


@dataclass(frozen=True)
class _AcceptedValues:
    """A failure is a value that is not listed."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    values: Annotated[tuple[Any, ...], Limits(min_length=1)]
    """The accepted values. Example: `values: [open, paid]`"""
    quote: StrictBool = True
    """`false`: the values are SQL expressions, not texts. Example: `quote: false`"""


@dataclass(frozen=True)
class _Relationships:
    """A failure is a value that the column `field` of `to` does not contain (referential integrity)."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    to: str
    """The table that has to contain the values. Example: `to: ref('dim_status')`"""
    field: str
    """The column of that table. Example: `field: status`"""


@dataclass(frozen=True)
class _ExpressionIsTrue:
    """A failure is a row where the expression is false or NULL."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    expression: str
    """The condition; in a test of a column it continues the column. Example: `expression: ">= 0"`"""


@dataclass(frozen=True)
class _UniqueCombination(Keyed):
    """A failure is a combination of values that occurs more than once; NULLs are equal."""

    combination_of_columns: Annotated[tuple[str, ...], Limits(min_length=1), Key(("combination_of_columns", "columns"))]
    """The columns that are unique together. Example: `combination_of_columns: [order_id, line]`"""


@dataclass(frozen=True)
class _Recency:
    """A failure is a newest value that is older than `interval` `datepart`s, or no value at all."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    datepart: Literal["second", "minute", "hour", "day", "week", "month", "quarter", "year"]
    """The unit of `interval`. Example: `datepart: hour`"""
    interval: Annotated[StrictInt, Limits(ge=1)]
    """The greatest age of the newest value, in `datepart`s. Example: `interval: 24`"""
    field: str | None = None
    """The column or expression with the time; in a test of a column, the column. Example: `field: loaded_at`"""
    group_by_columns: Names = ()
    """Check the newest value of each group. Example: `group_by_columns: [region]`"""
    ignore_time_component: StrictBool = False
    """Compare days instead of points in time. Example: `ignore_time_component: true`"""


@dataclass(frozen=True)
class _RowCountBetween:
    """A failure is a number of rows outside of the limits; at least one of them is needed."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED
    ACCEPTS: ClassVar[Mapping[str, Any]] = one_of("min_value", "max_value")

    min_value: Count | None = None
    """The least number of rows. Example: `min_value: 1`"""
    max_value: Count | None = None
    """The greatest number of rows. Example: `max_value: 1000000`"""

    def __post_init__(self) -> None:
        if self.min_value is None and self.max_value is None:
            raise ValueError('it needs "min_value", "max_value" or both')
        if self.min_value is not None and self.max_value is not None and self.min_value > self.max_value:
            raise ValueError(f"no count is between {self.min_value} and {self.max_value}")


BUILT_IN: Mapping[str, type] = {
    "not_null": _NotNull,
    "unique": _Unique,
    "accepted_values": _AcceptedValues,
    "relationships": _Relationships,
    "expression_is_true": _ExpressionIsTrue,
    "unique_combination": _UniqueCombination,
    "unique_combination_of_columns": _UniqueCombination,
    "recency": _Recency,
    "row_count_between": _RowCountBetween,
}
COLUMN = "column_name"
"""The argument of a test that stands below no column: the column, or an expression, that it is about."""
OF_COLUMNS = frozenset({"not_null", "unique", "accepted_values", "relationships", "expression_is_true", "recency"})
CONFIG_KEYS = frozenset(config_field.name for config_field in fields(DataTestConfig))
OWN_KEYS: Mapping[str, str] = {
    "name": "a name for this test, instead of the one that is derived from its kind, table and column",
    "description": "what it is for",
    "config": "the config keys below, which may also be next to the arguments",
    "arguments": "the arguments of the test, which may also be next to `config`; of one that stands below no column "
    "also `column_name`, the column or expression that it is about",
}
"""Keys that every data test has, and what they mean; docs/reference/yaml.md has them."""


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
        if self._has_withdrawn_key():
            return None
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

    def _has_withdrawn_key(self) -> bool:
        for keys, at in ((self.body, self.at), (self.body.get("config"), (*self.at, "config"))):
            if isinstance(keys, Mapping) and keys.get("since") == "bounds":
                message = f"{self.of}: `since: bounds` is withdrawn, as a test passed with a failing row elsewhere"
                hint = "take it out: the test reads all rows then, and `where` says which ones it is about"
                self.problems.add("invalid-value", message, self.places.key_place((*at, "since")), hint)
                return True
        return False

    def _arguments(self) -> Mapping[str, Any]:
        inline = {key: value for key, value in self.body.items() if key not in OWN_KEYS and key not in CONFIG_KEYS}
        arguments = self.body.get("arguments")
        at = self.at
        if arguments is not None:
            if not isinstance(arguments, Mapping):
                message = f'{self.of}: "arguments" must be a mapping, not {describe_value(arguments)}'
                self.problems.add("invalid-value", message, self.places.place((*at, "arguments")))
                return {}
            for key in inline:
                message = f'{self.of}: "{key}" is next to "arguments"'
                hint = 'move it below "arguments"'
                self.problems.add("invalid-value", message, self.places.key_place((*at, key)), hint)
            inline, at = dict(arguments), (*at, "arguments")
        if built_in := BUILT_IN.get(self.name.rpartition(".")[2]):
            own_arguments = {
                key: value for key, value in inline.items() if key != COLUMN or self.name not in OF_COLUMNS
            }
            validate(built_in, own_arguments, self.places, self.problems, at=at, of=self.of)
        return inline

    def _config(self) -> DataTestConfig | None:
        inline = {key: value for key, value in self.body.items() if key in CONFIG_KEYS}
        nested = self.body.get("config")
        nested = {} if nested is None else nested
        if isinstance(nested, Mapping):
            for key in inline.keys() & nested.keys():
                message = f'{self.of}: "{key}" is set both in "config" and next to it'
                self.problems.add("duplicate-key", message, self.places.key_place((*self.at, key)), "keep one of them")
        if not inline and nested == {}:  # most data tests: types need not look at them
            return DataTestConfig()
        first = validate(DataTestConfig, inline, self.places, self.problems, at=self.at, of=self.of)
        second = validate(DataTestConfig, nested, self.places, self.problems, at=(*self.at, "config"), of=self.of)
        if first is None or second is None:
            return None
        values = {key: getattr(first, key) for key in inline} | {key: getattr(second, key) for key in nested}
        return DataTestConfig(**values)

    def _text(self, key: str) -> str | None:
        value = self.body.get(key)
        if value is None or isinstance(value, str):
            return value
        at = (*self.at, key)
        if (text := self.places.text(at)) is not None:
            return text
        message = f'{self.of}: "{key}" must be text, not {describe_value(value)}'
        self.problems.add("invalid-value", message, self.places.place(at))
        return None
