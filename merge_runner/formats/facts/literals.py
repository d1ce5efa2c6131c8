"""Comparisons of a column with a literal of another type."""

from __future__ import annotations

from merge_runner.formats.facts import sources
from merge_runner.formats.facts.table import FactTable, Prunes, Varies

LITERALS: FactTable[tuple[str, str], Prunes] = FactTable(
    sources.UNWRAP,
    {
        ("tinyint", "int"): ("t.tiny >= 60", "yes"),
        ("tinyint", "bigint"): ("t.tiny >= 60L", "yes"),
        ("tinyint", "decimal"): ("t.tiny >= 60.0", "yes"),
        ("tinyint", "double"): ("t.tiny >= 60D", "yes"),
        ("tinyint", "string"): ("t.tiny >= '60'", "yes"),
        ("smallint", "int"): ("t.small >= 120", "yes"),
        ("smallint", "bigint"): ("t.small >= 120L", "yes"),
        ("smallint", "decimal"): ("t.small >= 120.0", "yes"),
        ("smallint", "double"): ("t.small >= 120D", "yes"),
        ("smallint", "string"): ("t.small >= '120'", "yes"),
        ("int", "int"): ("t.k >= 120", "yes"),
        ("int", "bigint"): ("t.k >= 120L", "yes"),
        ("int", "decimal"): ("t.k >= 120.0", "yes"),
        ("int", "double"): ("t.k >= 120D", "yes"),
        ("int", "string"): ("t.k >= '120'", "yes"),
        ("bigint", "int"): ("t.id >= 120", "yes"),
        ("bigint", "bigint"): ("t.id >= 120L", "yes"),
        ("bigint", "decimal"): ("t.id >= 120.0", "yes"),
        ("bigint", "double"): ("t.id >= 120D", "no"),
        ("bigint", "string"): ("t.id >= '120'", "yes"),
        ("float", "int"): ("t.fl >= 120", "yes"),
        ("float", "bigint"): ("t.fl >= 120L", "yes"),
        ("float", "decimal"): ("t.fl >= 120.0", "yes"),
        ("float", "double"): ("t.fl >= 120D", "yes"),
        ("float", "string"): ("t.fl >= '120'", "yes"),
        ("double", "int"): ("t.db >= 120", "yes"),
        ("double", "bigint"): ("t.db >= 120L", "yes"),
        ("double", "decimal"): ("t.db >= 120.0", "yes"),
        ("double", "double"): ("t.db >= 120D", "yes"),
        ("double", "string"): ("t.db >= '120'", "yes"),
        ("decimal", "int"): ("t.de >= 120", "yes"),
        ("decimal", "bigint"): ("t.de >= 120L", "yes"),
        ("decimal", "decimal"): ("t.de >= 120.00", "yes"),
        ("decimal", "double"): ("t.de >= 120D", "no"),
        ("decimal", "string"): ("t.de >= '120'", "no"),
        ("string", "int"): ("t.digits >= 1120", "no"),
        ("string", "bigint"): ("t.digits >= 1120L", "no"),
        ("string", "decimal"): ("t.digits >= 1120.0", "no"),
        ("string", "double"): ("t.digits >= 1120D", "no"),
        ("string", "string"): ("t.s >= 'v120'", "yes"),
        ("string", "date"): ("t.day_text >= date'2020-06-01'", "no"),
        ("string", "timestamp"): ("t.day_text >= timestamp'2020-06-01 00:00:00'", "no"),
        ("string", "timestamp_ntz"): ("t.day_text >= timestamp_ntz'2020-06-01 00:00:00'", "no"),
        ("string", "boolean"): ("t.yes_no >= true", "no"),
        ("varchar", "int"): ("t.vdigits >= 1120", "no"),
        ("varchar", "bigint"): ("t.vdigits >= 1120L", "no"),
        ("varchar", "decimal"): ("t.vdigits >= 1120.0", "no"),
        ("varchar", "double"): ("t.vdigits >= 1120D", "no"),
        ("varchar", "string"): ("t.v >= 'v120'", "yes"),
        ("varchar", "date"): ("t.vday >= date'2020-06-01'", "no"),
        ("varchar", "timestamp"): ("t.vday >= timestamp'2020-06-01 00:00:00'", "no"),
        ("varchar", "timestamp_ntz"): ("t.vday >= timestamp_ntz'2020-06-01 00:00:00'", "no"),
        ("varchar", "boolean"): ("t.yes_no >= true", "no"),
        ("date", "string"): ("t.dt >= '2020-06-01'", "yes"),
        ("date", "date"): ("t.dt >= date'2020-06-01'", "yes"),
        ("date", "timestamp"): ("t.dt >= timestamp'2020-06-01 00:00:00'", Varies("yes", {"3.5": "no"})),
        ("date", "timestamp_ntz"): ("t.dt >= timestamp_ntz'2020-06-01 00:00:00'", Varies("yes", {"3.5": "no"})),
        ("timestamp", "string"): ("t.ts >= '2020-06-01 00:00:00'", "yes"),
        ("timestamp", "date"): ("t.ts >= date'2020-06-01'", "yes"),
        ("timestamp", "timestamp"): ("t.ts >= timestamp'2020-06-01 00:00:00'", "yes"),
        ("timestamp", "timestamp_ntz"): ("t.ts >= timestamp_ntz'2020-06-01 00:00:00'", "yes"),
        ("timestamp_ntz", "string"): ("t.ntz >= '2020-06-01 00:00:00'", "yes"),
        ("timestamp_ntz", "date"): ("t.ntz >= date'2020-06-01'", "yes"),
        ("timestamp_ntz", "timestamp"): ("t.ntz >= timestamp'2020-06-01 00:00:00'", Varies("yes", {"3.5": "no"})),
        ("timestamp_ntz", "timestamp_ntz"): ("t.ntz >= timestamp_ntz'2020-06-01 00:00:00'", "yes"),
        ("boolean", "string"): ("t.flag >= 'true'", {"delta": "no", "iceberg": "yes"}),
        ("boolean", "boolean"): ("t.flag >= true", {"delta": "no", "iceberg": "yes"}),
        ("binary", "string"): ("t.bin >= 'v120'", {"delta": "no", "iceberg": "yes"}),
        ("tinyint", "smallint"): ("t.tiny >= 60S", "yes"),
        ("tinyint", "float"): ("t.tiny >= 60F", Varies("yes", {"3.5": {"delta": "yes", "iceberg": "no"}})),
        ("smallint", "tinyint"): ("t.small >= 120Y", "yes"),
        ("smallint", "float"): ("t.small >= 120F", Varies("yes", {"3.5": {"delta": "yes", "iceberg": "no"}})),
        ("int", "tinyint"): ("t.k >= 120Y", "yes"),
        ("int", "smallint"): ("t.k >= 120S", "yes"),
        ("int", "float"): ("t.k >= 120F", Varies("yes", {"3.5": "no"})),
        ("bigint", "tinyint"): ("t.id >= 120Y", "yes"),
        ("bigint", "smallint"): ("t.id >= 120S", "yes"),
        ("bigint", "float"): ("t.id >= 120F", "no"),
        ("float", "tinyint"): ("t.fl >= 120Y", "yes"),
        ("float", "smallint"): ("t.fl >= 120S", "yes"),
        ("double", "tinyint"): ("t.db >= 120Y", "yes"),
        ("double", "smallint"): ("t.db >= 120S", "yes"),
        ("double", "float"): ("t.db >= 120F", "yes"),
        ("decimal", "tinyint"): ("t.de >= 120Y", "yes"),
        ("decimal", "smallint"): ("t.de >= 120S", "yes"),
        ("decimal", "float"): ("t.de >= 120F", "no"),
        ("string", "tinyint"): ("t.st.b >= 100Y", "no"),
        ("string", "smallint"): ("t.digits >= 1120S", "no"),
        ("string", "float"): ("t.digits >= 1120F", "no"),
        ("string", "binary"): ("t.s >= X'76313230'", "no"),
        ("varchar", "smallint"): ("t.vdigits >= 1120S", "no"),
        ("varchar", "float"): ("t.vdigits >= 1120F", "no"),
        ("varchar", "binary"): ("t.v >= X'76313230'", "no"),
    },
)
"""By the types of column and literal: whether a comparison prunes on a data column. The literals fit the column's
type."""

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_TIMES = ("date", "timestamp", "timestamp_ntz")
_NUMBER_LITERALS = ("int", "bigint", "decimal", "double")

REFUSED_LITERALS: frozenset[tuple[str, str]] = frozenset(
    (column, literal)
    for columns, literals in (
        (_NUMBERS, (*_TIMES, "boolean")),
        (_TIMES, (*_NUMBER_LITERALS, "boolean")),
        (("boolean",), (*_NUMBER_LITERALS, *_TIMES)),
        (("binary",), (*_NUMBER_LITERALS, *_TIMES, "boolean")),
    )
    for column in columns
    for literal in literals
)
"""Pairs of column and literal that Spark refuses to compare under ANSI rules, whatever the format."""
