"""Which names in FROM mean a CTE, and which a table: a CTE is seen by its own query, and by those inside it."""

import pytest

from merge_runner.merge.parse import parse
from merge_runner.merge.read_query import read_query
from merge_runner.pruning.runtime_filter.source_determinism import source_reading
from merge_runner.sql.ctes import named_tables


@pytest.mark.parametrize(
    ("query", "tables"),
    [
        ("select * from c", ["c"]),
        ("with c as (select * from t) select * from c", ["t"]),
        ("with c as (select * from t) select * from db.c", ["db.c", "t"]),
        ("with a as (select * from t), b as (select * from a) select * from b join A", ["t"]),
        ("with a as (select * from b), b as (select * from t) select * from a", ["b", "t"]),
        ("with c as (select * from c) select * from c", ["c"]),
        ("with recursive c as (select 1 as n union all select n + 1 from c) select * from c", []),
        ("select * from (with c as (select * from t) select * from c) as x join c", ["c", "t"]),
        ("with c as (select * from t) select * from (select * from c where id in (select id from c)) as x", ["t"]),
        ("with c as (with d as (select * from t) select * from d) select * from c join d", ["d", "t"]),
        ("select (select max(n) from u) from t where exists (with t as (select 1) select * from t)", ["t", "u"]),
        ("with c as (select * from t) select * from c union all select * from c", ["t"]),
    ],
)
def test_tables_of_a_query(query, tables):
    named = named_tables(read_query(query).expression, {})
    assert sorted({table.sql() for table, cte in named if cte is None}) == tables


@pytest.mark.parametrize(
    ("source", "tables"),
    [
        (
            "using (select x.id from (with w as (select 1 as id) select * from w) as y join w as x on x.id = y.id)",
            ["w"],
        ),
        ("using c", ["t2"]),
        ("using d", ["t2"]),
        ("using (select * from e join c)", ["e", "t2"]),
    ],
)
def test_a_source_reads_these_tables(source, tables):
    ctes = "with c as (select * from t2), d as (select * from c where id > (select max(id) from c))\n"
    text = f"merge into t {source} as s on t.id = s.id when not matched then insert *"
    merge = parse(text if "with w" in source else ctes + text)
    assert sorted(".".join(parts) for parts in source_reading(merge, lambda parts: None).tables) == tables
