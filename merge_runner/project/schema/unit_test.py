"""The types of unit tests in YAML property files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, ClassVar, Literal

from merge_runner.project.schema.accepts import NULL, exclusive, one_of
from merge_runner.project.schema.batches import TimeText
from merge_runner.project.schema.config import Names
from merge_runner.project.schema.yaml_types import Many, Mapped, Name, Text, Texts
from merge_runner.project.syntax.annotations import CLOSED, StrictBool

Row = Mapping[str, Any]
RowFormat = Literal["dict", "csv", "sql"]

_ROWS: Mapping[str, Any] = {
    "allOf": [exclusive("rows", "fixture")],
    "if": {"properties": {"format": {"enum": ["csv", "sql"]}}, "required": ["format"]},
    "then": {"properties": {"rows": {"not": {"type": "array"}}}},
    "else": {"properties": {"rows": {"type": ["array", "null"]}, "fixture": NULL}},
}
"""What `_check_rows` accepts."""


@dataclass(frozen=True)
class Given:
    """Rows of one input of a unit test: `input` is `this`, `ref('…')` or `source('…', '…')`.

    `rows` are mappings in the format dict, else CSV or SQL text; `fixture` names a file that holds that text.
    """

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED
    ACCEPTS: ClassVar[Mapping[str, Any]] = {"allOf": [_ROWS]}

    input: Name
    """Which input has these rows: `this` (the target before the MERGE), `ref('model')`, `source('name', 'table')` or
    `changes('model')`.
    Example: `input: ref('stg_order')`"""
    rows: tuple[Row, ...] | str | None = None
    """The rows: a list of mappings, or text in the given `format`. Example: `rows: [{order_id: 1, amount: 9.5}]`"""
    format: RowFormat = "dict"
    """How `rows` or the fixture is written: `dict` (a list of mappings), `csv` or `sql` (a query).
    Example: `format: csv`"""
    fixture: str | None = None
    """The name of a file in `tests/fixtures/` with the rows, without `.csv` or `.sql`. Excludes `rows`.
    Example: `fixture: orders_of_two_days`"""

    def __post_init__(self) -> None:
        _check_rows(self.rows, self.format, self.fixture)


@dataclass(frozen=True)
class Expect:
    """What a unit test expects: the `rows` of the final target, its `changes`, or an `error` with this text."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED
    ACCEPTS: ClassVar[Mapping[str, Any]] = {"allOf": [_ROWS, one_of("rows", "changes", "error", "fixture")]}

    rows: tuple[Row, ...] | str | None = None
    """The rows of the target after the MERGE (of a query: its result), in any order. Only the columns that some row
    names are compared.
    Example: `rows: [{order_id: 1, amount: 9.5}]`"""
    changes: tuple[Row, ...] | None = None
    """The rows that the MERGE changes, each with `_change_type`: `insert`, `update_preimage`, `update_postimage` or
    `delete`.
    Example: `changes: [{_change_type: insert, order_id: 1}]`"""
    error: str | None = None
    """Text that the message or error class of a failing statement contains.
    Example: `error: DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE`"""
    format: RowFormat = "dict"
    """How `rows` or the fixture is written: `dict` (a list of mappings), `csv` or `sql` (a query).
    Example: `format: csv`"""
    fixture: str | None = None
    """The name of a file in `tests/fixtures/` with the rows, without `.csv` or `.sql`. Excludes `rows`.
    Example: `fixture: orders_of_two_days`"""

    def __post_init__(self) -> None:
        _check_rows(self.rows, self.format, self.fixture)
        if self.rows is None and self.fixture is None and self.changes is None and self.error is None:
            raise ValueError('"expect" needs "rows", "changes" or "error"')


@dataclass(frozen=True)
class Overrides:
    """What a unit test puts in place of the project's own: vars, the results of macros, environment and clock."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    vars: Mapped = field(default_factory=dict)
    """Variables, in place of those of the project. Example: `vars: {from: 2024-01-01}`"""
    macros: Mapped = field(default_factory=dict)
    """Results of macros, whatever they are called with. Example: `macros: {is_incremental: true}`"""
    env_vars: Texts = field(default_factory=dict)
    """Environment variables, for `env_var`. Example: `env_vars: {REGION: eu}`"""
    batch: TimeText | None = None
    """A time in the batch that is tested, of a model with `batch_size`; default: its first batch.
    Example: `batch: 2024-02-01`"""
    current_date: date | None = None
    """The date of the statement: `current_date()` and related functions are constant.
    Example: `current_date: 2024-02-01`"""
    current_timestamp: datetime | None = None
    """The time of the statement: `current_timestamp()`, `now()` and related functions are constant.
    Example: `current_timestamp: 2024-02-01 12:00:00`"""


@dataclass(frozen=True)
class UnitTestConfig:
    """The config of a unit test."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    enabled: StrictBool = True
    """`false` leaves the test out. Example: `enabled: false`"""
    tags: Names = ()
    """Labels for selection. Example: `tags: [slow]`"""
    meta: Mapped = field(default_factory=dict)
    """Keys and values of your own. Example: `meta: {owner: ann}`"""


@dataclass(frozen=True)
class UnitTest:
    """A unit test of a model's MERGE."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    name: Name
    """The name of the test. Example: `name: a_late_correction_wins`"""
    model: Name
    """The model that is tested. Example: `model: fct_order`"""
    expect: Expect
    """What the target has to be afterwards; the keys are below.
    Example: `expect: {rows: [{order_id: 1, amount: 9.5}]}`"""
    given: Many[Given] = ()
    """The rows of every input that the statement reads; the keys of an entry are below.
    Example: `given: [{input: this, rows: []}]`"""
    description: Text = ""
    """What the test shows. Example: `description: The newest correction is kept`"""
    overrides: Overrides = Overrides()
    """Replacements for variables, macros, the environment and the clock; the keys are below.
    Example: `overrides: {vars: {from: 2024-01-01}}`"""
    config: UnitTestConfig = UnitTestConfig()
    """`enabled`, `tags` and `meta` of the test. Example: `config: {tags: [slow]}`"""
    tags: Names = ()
    """Labels for selection. Example: `tags: [slow]`"""


def _check_rows(rows: tuple[Row, ...] | str | None, format: RowFormat, fixture: str | None) -> None:
    if rows is not None and fixture is not None:
        raise ValueError('"rows" and "fixture" exclude each other')
    if format == "dict" and fixture is not None:
        raise ValueError('a "fixture" needs "format: csv" or "format: sql"')
    if isinstance(rows, str) and format == "dict":
        raise ValueError('"rows" must be a list of mappings, unless "format" is csv or sql')
    if rows is not None and not isinstance(rows, str) and format != "dict":
        raise ValueError(f'"rows" must be text in the format {format}')
