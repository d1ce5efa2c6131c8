"""Which columns have statistics: smallest and largest values and null counts, by type and by table property."""

from __future__ import annotations

from merge_runner.formats.facts import sources
from merge_runner.formats.facts.table import FactTable, Prunes

STATISTICS: FactTable[str, Prunes] = FactTable(
    sources.SKIPPING,
    {
        "tinyint": ("t.tiny >= 60Y", "yes"),
        "smallint": ("t.small >= 120S", "yes"),
        "int": ("t.k >= 120", "yes"),
        "bigint": ("t.id >= 120L", "yes"),
        "float": ("t.fl >= 120F", "yes"),
        "double": ("t.db >= 120D", "yes"),
        "decimal": ("t.de >= 120.00", "yes"),
        "string": ("t.s >= 'v120'", "yes"),
        "varchar": ("t.v >= 'v120'", "yes"),
        "char": ("t.c >= 'v120x'", {"iceberg": "yes"}),
        "boolean": ("t.flag = true", {"delta": "no", "iceberg": "yes"}),
        "binary": ("t.bin >= X'76313230'", {"delta": "no", "iceberg": "yes"}),
        "date": ("t.dt >= date'2020-06-01'", "yes"),
        "timestamp": ("t.ts >= timestamp'2020-06-01 00:00:00'", "yes"),
        "timestamp_ntz": ("t.ntz >= timestamp_ntz'2020-06-01 00:00:00'", "yes"),
        "array": ("t.arr = array(120)", "no"),
        "map": ("t.m['a'] = 120", "no"),
        "variant": ("cast(t.va as int) = 120", "no"),
        "struct": ("t.st.a = 120", "yes"),
    },
)
"""By the name of a type: whether a comparison with a literal prunes on a data column.

Delta has no answer for `char`: no condition of a MERGE may name such a column of the target, the analysis of Delta
4.4.0 fails on Spark 4.1 (DELTA_MERGE_RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT). Iceberg stores `tinyint` and `smallint`
as int, `varchar` and `char` as string.
"""

NULL_COUNTS: FactTable[str, Prunes] = FactTable(
    sources.SKIPPING,
    {
        "tinyint": ("t.tiny is null", "yes"),
        "smallint": ("t.small is null", "yes"),
        "int": ("t.k is null", "yes"),
        "bigint": ("t.id is null", "yes"),
        "float": ("t.fl is null", "yes"),
        "double": ("t.db is null", "yes"),
        "decimal": ("t.de is null", "yes"),
        "string": ("t.s is null", "yes"),
        "varchar": ("t.v is null", "yes"),
        "char": ("t.c is null", {"iceberg": "yes"}),
        "boolean": ("t.flag is null", "yes"),
        "binary": ("t.bin is null", "yes"),
        "date": ("t.dt is null", "yes"),
        "timestamp": ("t.ts is null", "yes"),
        "timestamp_ntz": ("t.ntz is null", "yes"),
        "array": ("t.arr is null", "no"),
        "map": ("t.m is null", "no"),
        "variant": ("t.va is null", "yes"),
        "struct": ("t.st is null", "no"),
    },
)
"""By the name of a type: whether `IS NULL` prunes by the null counts of a data column. `char`: as in STATISTICS."""
