"""The page of YAML files: properties, data tests, selectors, layout files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from merge_runner.project.load.not_read import KEYS as NOT_READ
from merge_runner.project.schema.analysis import AnalysisConfig, AnalysisProperties
from merge_runner.project.schema.data_test import BUILT_IN, OWN_KEYS, DataTestConfig
from merge_runner.project.schema.dbt_keys import PROPERTIES as DBT_PROPERTIES
from merge_runner.project.schema.exposure import Exposure, ExposureConfig, Owner
from merge_runner.project.schema.freshness import Freshness, Threshold
from merge_runner.project.schema.layout_file import FileColumn, FileTable, LayoutFileContent
from merge_runner.project.schema.properties import (
    Column,
    ColumnConfig,
    Constraint,
    Group,
    MacroProperties,
    ModelProperties,
    PropertyFile,
    Source,
    SourceConfig,
    SourceTable,
)
from merge_runner.project.schema.selectors import INDIRECT, OF_METHOD, OF_SELECTOR, OPERATIONS
from merge_runner.project.schema.stream import Stream, Watermark
from merge_runner.project.schema.unit_test import Expect, Given, Overrides, UnitTest, UnitTestConfig
from tools.docgen.keys import class_text, keys
from tools.docgen.markdown import fenced, page, table
from tools.docgen.project_pages import key_table

_INTRODUCTION = """\
A property file is a `.yml` or `.yaml` file in a model, seed or macro path. The names of the files are free, and each
may describe anything. The format is dbt's; an unknown key is an error that names the nearest known one."""

_EXAMPLE = """\
models:
  - name: fct_order
    description: One row for each order
    config: {partition_by: [order_date]}
    columns:
      - name: order_id
        data_type: bigint
        constraints: [{type: not_null}]
        data_tests: [unique]

sources:
  - name: shop
    tables:
      - name: orders
        path: data/orders.csv
        options: {header: "true"}

unit_tests:
  - name: an_empty_source_changes_nothing
    model: fct_order
    given:
      - {input: this, rows: [{order_id: 1}]}
      - {input: "source('shop', 'orders')", rows: []}
    expect: {rows: [{order_id: 1}]}"""

_SECTIONS: tuple[tuple[str, str, type], ...] = (
    ("A property file", "The keys at the top of a file.", PropertyFile),
    ("Models and seeds", "An entry of `models:` or `seeds:`.", ModelProperties),
    ("Columns", "An entry of `columns:` of a model, seed or table of a source.", Column),
    ("Config of a column", "`config:` of a column.", ColumnConfig),
    ("Constraints", "An entry of `constraints:` of a model, seed, table or column.", Constraint),
    ("Sources", "An entry of `sources:`.", Source),
    ("Tables of a source", "An entry of `tables:` of a source.", SourceTable),
    ("Config of a source", "`config:` of a source or of one of its tables.", SourceConfig),
    ("Freshness", "`freshness:` of a source or of one of its tables.", Freshness),
    ("Thresholds of freshness", "`warn_after:` and `error_after:`.", Threshold),
    ("Streams", "`stream:` of a table of a source. `stream: true` uses the keys of the table.", Stream),
    ("Watermark of a stream", "`watermark:` of a stream.", Watermark),
    ("Unit tests", "An entry of `unit_tests:`.", UnitTest),
    ("Given rows of a unit test", "An entry of `given:`.", Given),
    ("Expected rows of a unit test", "`expect:` of a unit test.", Expect),
    ("Overrides of a unit test", "`overrides:` of a unit test.", Overrides),
    ("Config of a unit test", "`config:` of a unit test.", UnitTestConfig),
    ("Groups", "An entry of `groups:`.", Group),
    ("Exposures", "An entry of `exposures:`. No command runs it.", Exposure),
    ("Owner of an exposure", "`owner:` of an exposure.", Owner),
    ("Config of an exposure", "`config:` of an exposure.", ExposureConfig),
    ("Macros", "An entry of `macros:`.", MacroProperties),
    ("Analyses", "An entry of `analyses:`.", AnalysisProperties),
    ("Config of an analysis", "`config:` of an analysis.", AnalysisConfig),
)

_DATA_TESTS = """\
An entry of `data_tests:` of a model, seed, table or column is the name of a test, or a mapping of its name to
arguments and config. A test is one of those below, or a `{% test %}` block of the project. The name may carry a
package, as in `dbt_utils.recency`. The test of a column gets the column."""

_DATA_TEST_EXAMPLE = """\
data_tests:
  - unique
  - accepted_values: {values: [open, paid], severity: warn}
  - relationships:
      arguments: {to: ref('dim_status'), field: status}
      config: {where: "order_date >= current_date() - 7"}
  - {test_name: not_null, name: every_order_has_a_status}"""

_SELECTORS = """\
`selectors.yml` in the project's folder names selections, for `--selector NAME`. It has a list `selectors:`, as in
dbt, or maps names to definitions."""

_SELECTORS_EXAMPLE = """\
selectors:
  - name: nightly
    description: Facts, and everything that they depend on
    definition:
      union:
        - {method: tag, value: fact, parents: true}
        - "path:models/marts"
        - exclude: [{method: tag, value: slow}]"""

_LAYOUTS = """\
`lint --layout FILE` reads the layouts of tables that are no models, for SQL files outside of a project.
`merge-runner debug --write-catalog` records those of a project's tables in `catalog.yml`, which lint then reads.
Both have the same format."""


def yaml() -> str:
    """Return the page of all keys of YAML files."""
    return page(
        "YAML properties",
        _INTRODUCTION,
        fenced("yaml", _EXAMPLE),
        *(part for title, text, kind in _SECTIONS for part in (f"## {title}", text, key_table(keys(kind)))),
        *_data_tests(),
        *_selectors(),
        *_layout_files(),
        "## Keys of dbt that are not read",
        "An entry below one of these keys is reported by a warning.",
        table(("key", "instead"), ((f"`{key}`", instead) for key, (_, _, instead) in NOT_READ.items())),
        "These are an error, since they would change what a model does or who may read it:",
        table(("key", "what to do"), ((f"`{key}`", text) for key, text in DBT_PROPERTIES.items())),
    )


def _data_tests() -> Iterator[str]:
    yield "## Data tests"
    yield _DATA_TESTS
    yield fenced("yaml", _DATA_TEST_EXAMPLE)
    yield _meanings({**OWN_KEYS, "test_name": "the name of the test, where the entry is not a mapping of one name"})
    yield "### Config of a data test"
    yield key_table(keys(DataTestConfig))
    names: dict[Any, list[str]] = {}
    for name, kind in BUILT_IN.items():
        names.setdefault(kind, []).append(f"`{name}`")
    for kind, spellings in names.items():
        yield f"### {', '.join(spellings)}"
        yield class_text(kind)
        if arguments := keys(kind):
            yield key_table(arguments)


def _selectors() -> Iterator[str]:
    yield "## Selectors: selectors.yml"
    yield _SELECTORS
    yield fenced("yaml", _SELECTORS_EXAMPLE)
    yield "An entry of `selectors:`"
    yield _meanings(OF_SELECTOR)
    yield "A definition by one method; `{tag: nightly}` is short for `{method: tag, value: nightly}`"
    yield _meanings(OF_METHOD)
    yield "A definition by several others"
    yield _meanings(OPERATIONS)
    yield "Values of `indirect_selection`"
    yield _meanings(INDIRECT)


def _layout_files() -> Iterator[str]:
    yield "## Layout files and the recorded catalog"
    yield _LAYOUTS
    for title, kind in (("The file", LayoutFileContent), ("A table", FileTable), ("A column", FileColumn)):
        yield f"### {title} of a layout file"
        yield key_table(keys(kind))


def _meanings(texts: Mapping[Any, str]) -> str:
    return table(("key", "meaning"), ((f"`{key}`", text) for key, text in texts.items()))
