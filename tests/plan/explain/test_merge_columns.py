"""What `explain` says of the columns of a MERGE."""

import pytest

from merge_runner.lineage.edge import Table
from merge_runner.lineage.merge import merge_lineage
from merge_runner.merge.parse import parse
from merge_runner.plan.explain.merge_columns import columns_read, columns_written, lines

WIDE = tuple(f"c{number}" for number in range(12))
TABLES = {
    "t": Table("shop.t", ("id", "a", "b", "n"), True),
    "s": Table("shop.s", ("id", "a", "b", "n"), True),
    "wide": Table("shop.wide", ("id", *WIDE), True),
    "source": Table("shop.source", ("id", *WIDE), True),
}
CASES = [
    (
        "merge into t using s on t.id = s.id when matched then update set a = s.a, n = t.n + s.n when not matched then insert *",
        [
            "reads shop.s: a, b, id, n",
            "reads shop.t: id, n",
            "copies shop.s: id, a, b",
            "writes n from shop.s.n (identity), shop.s.n (transformation), shop.t.n (transformation)",
        ],
    ),
    (
        "merge into t using s on t.id = s.id when matched then update set a = s.b, b = upper(s.b)",
        [
            "reads shop.s: b, id",
            "reads shop.t: id",
            "writes a from shop.s.b (identity)",
            "writes b from shop.s.b (transformation)",
        ],
    ),
    ("merge into t using s on t.id = s.id when matched then delete", ["reads shop.s: id", "reads shop.t: id"]),
    (
        "merge into wide t using source s on t.id = s.id when matched then update set "
        + ", ".join(f"{name} = s.{name} + 1" for name in WIDE),
        [
            "reads shop.source: c0, c1, c10, c11, c2, c3, c4 and 6 more columns",
            "reads shop.wide: id",
            *(f"writes c{number} from shop.source.c{number} (transformation)" for number in range(6)),
            "writes 6 more columns: merge-runner lineage m",
        ],
    ),
]


def lineage(sql):
    statement = parse(sql)
    return merge_lineage(statement, TABLES[statement.target.parts[-1]], lambda parts: TABLES.get(parts[-1]))


@pytest.mark.parametrize(("sql", "expected"), CASES, ids=[each[0][:60] for each in CASES])
def test_lines(sql, expected):
    assert list(lines(lineage(sql), "m")) == expected


def test_json():
    found = lineage("merge into t using s on t.id = s.id when matched and s.n > 0 then update set a = s.b")
    assert columns_read(found) == {"shop.s": ("b", "id", "n"), "shop.t": ("id",)}
    assert columns_written(found) == {
        "a": [
            {"relation": "shop.s", "column": "b", "type": "direct", "subtype": "identity"},
            {"relation": "shop.s", "column": "n", "type": "indirect", "subtype": "conditional"},
        ]
    }
