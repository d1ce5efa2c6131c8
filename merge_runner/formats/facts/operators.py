"""Comparisons of a bare column with literals, by operator."""

from __future__ import annotations

from merge_runner.formats.facts import sources
from merge_runner.formats.facts.table import FactTable, Prunes, Varies

OPERATORS: FactTable[str, Prunes] = FactTable(
    sources.SKIPPING,
    {
        "=": ("t.k = 100", "yes"),
        "<=>": ("t.k <=> 100", "yes"),
        "<": ("t.k < 100", "yes"),
        "<=": ("t.k <= 100", "yes"),
        ">": ("t.k > 100", "yes"),
        ">=": ("t.k >= 100", "yes"),
        "<>": ("t.k <> 100", "seldom"),
        "in": ("t.k in (100, 101)", "yes"),
        "not in": ("t.k not in (100, 101)", {"delta": "no", "iceberg": "seldom"}),
        "not in of one value": ("t.k not in (100)", "seldom"),
        "between": ("t.k between 100 and 101", "yes"),
        "not between": ("t.k not between 20 and 250", "yes"),
        "is null": ("t.k is null", "yes"),
        "is not null": ("t.k is not null", "seldom"),
        "<=> null": ("t.k <=> null", "yes"),
        "like prefix": ("t.s like 'v12%'", "yes"),
        "like prefix-suffix": ("t.s like 'v12%3'", "yes"),
        "like exact": ("t.s like 'v123'", "yes"),
        "like suffix": ("t.s like '%3'", "no"),
        "like contains": ("t.s like '%v12%'", "no"),
        "like underscore": ("t.s like 'v12_'", "no"),
        "like prefix underscore": ("t.s like 'v12_%'", "no"),
        "rlike": ("t.s rlike '^v12'", "no"),
        "startswith": ("startswith(t.s, 'v12')", "yes"),
        "endswith": ("endswith(t.s, '3')", "no"),
        "contains": ("contains(t.s, 'v12')", "no"),
        "not like": ("t.s not like 'v0%'", {"delta": "no", "iceberg": "yes"}),
        "ilike": ("t.s ilike 'v12%'", "no"),
        "like all": ("t.s like all ('v12%', '%3')", "yes"),
        "like any": ("t.s like any ('v12%', 'v123')", "yes"),
        "not =": ("not (t.k = 100)", "seldom"),
        "not >=": ("not (t.k >= 100)", "yes"),
        "not <=>": ("not (t.k <=> 100)", "seldom"),
    },
)
"""Operators on a data column."""

PARTITION_OPERATORS: FactTable[str, Prunes] = FactTable(
    sources.PARTITION_FILTERS,
    {
        "=": ("t.n = 4", "yes"),
        "<=>": ("t.n <=> 4", "yes"),
        "<": ("t.n < 4", "yes"),
        "<=": ("t.n <= 4", "yes"),
        ">": ("t.n > 4", "yes"),
        ">=": ("t.n >= 4", "yes"),
        "<>": ("t.n <> 4", "yes"),
        "in": ("t.n in (4, 5)", "yes"),
        "not in": ("t.n not in (4, 5)", "yes"),
        "not in of one value": ("t.n not in (4)", "yes"),
        "between": ("t.n between 4 and 5", "yes"),
        "not between": ("t.n not between 4 and 7", "yes"),
        "is null": ("t.region is null", "yes"),
        "is not null": ("t.region is not null", "yes"),
        "<=> null": ("t.region <=> null", "yes"),
        "like prefix": ("t.region like 'nor%'", "yes"),
        "like prefix-suffix": ("t.region like 'nor%h'", "yes"),
        "like exact": ("t.region like 'north'", "yes"),
        "like suffix": ("t.region like '%h'", {"delta": "yes", "iceberg": "no"}),
        "like contains": ("t.region like '%ort%'", {"delta": "yes", "iceberg": "no"}),
        "like underscore": ("t.region like 'nort_'", {"delta": "yes", "iceberg": "no"}),
        "like prefix underscore": ("t.region like 'nor_%'", {"delta": "yes", "iceberg": "no"}),
        "rlike": ("t.region rlike '^nor'", {"delta": "yes", "iceberg": "no"}),
        "startswith": ("startswith(t.region, 'nor')", "yes"),
        "endswith": ("endswith(t.region, 'h')", {"delta": "yes", "iceberg": "no"}),
        "contains": ("contains(t.region, 'ort')", {"delta": "yes", "iceberg": "no"}),
        "not like": ("t.region not like 'nor%'", "yes"),
        "ilike": ("t.region ilike 'nor%'", {"delta": "yes", "iceberg": "no"}),
        "like all": ("t.region like all ('nor%', '%h')", "yes"),
        "like any": ("t.region like any ('nor%', 'north')", "yes"),
        "not =": ("not (t.n = 4)", "yes"),
        "not >=": ("not (t.n >= 4)", "yes"),
        "not <=>": ("not (t.n <=> 4)", "yes"),
    },
    table="parts",
)
"""Operators on an (identity) partition column: on Delta all prune, on Iceberg only those that it has itself."""

TEXTS: FactTable[str, Prunes] = FactTable(
    sources.SKIPPING,
    {
        "like %%": ("t.s like 'v12%%'", Varies("yes", {"3.5": "no", "4.0": "no"})),
        "in strings": ("t.k in ('100', '101')", Varies("yes", {"3.5": "no"})),
    },
)
"""Texts that not every line of Spark brings into a form that prunes."""
