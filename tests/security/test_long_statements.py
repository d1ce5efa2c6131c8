"""Statements of SQL of 100 KB that take the square of their length, or more, where each part is held against all."""

from __future__ import annotations

import json

import pytest

from tests.security.bounded_run import run

MERGE = "merge into t using {} on {} when matched then {}"


def on(condition: str) -> str:
    return MERGE.format("s", condition, "delete")


def using(query: str) -> str:
    return MERGE.format(f"({query}) s", "t.a1 = s.a1", "delete")


def joined(mark: str, part: str, count: int) -> str:
    return mark.join(part.format(i=i, j=i + 1) for i in range(count))


STATEMENTS = {
    "fields": on("t" + ".a" * 20_000 + " = s.a"),
    "quoted_fields": on("t" + ".`a`" * 20_000 + " = s.a"),
    "elements": on("t.a" + "[0]" * 20_000 + " = s.a"),
    "casts": on("t.a" + "::int" * 10_000 + " = s.a"),
    "fields_in_a_query": using("select x" + ".a" * 20_000 + " as a1 from x"),
    "fields_in_set": MERGE.format("s", "t.a = s.a", "update set t" + ".a" * 20_000 + " = s.a"),
    "same_column_in_set": MERGE.format("s", "t.a = s.a", "update set " + joined(", ", "t.c = s.c", 8_000)),
    "joins": using("select x0.a1 from x x0" + joined("", " join x x{j} on x0.a = x{j}.a", 4_000)),
    "comma_joins": using("select x0.a1 from x x0" + joined("", ", x x{j}", 4_000)),
    "laterals": using("select x.a1 from x" + joined("", " lateral view explode(x.b) l{i} as c{i}", 3_000)),
    "and_in_where": using("select a1 from x where " + joined(" and ", "a{i} = {i}", 8_000)),
    "or_in_where": using("select a1 from x where " + joined(" or ", "a{i} = {i}", 8_000)),
    "stars": using(
        "with c0 as (select 1 as a1, 2 as b)"
        + joined("", ", c{j} as (select l.*, r.* from c{i} l cross join c{i} r)", 30)
        + " select * from c30"
    ),
    "equalities_in_where": using(
        f"select {joined(', ', 'a{i}', 4_000)} from x where {joined(' and ', 'a{i} = b{i}', 4_000)}"
    ),
    "differences_in_when": MERGE.format("s", "t.a = s.a", "update set *").replace(
        "matched", f"matched and ({joined(' or ', 't.b{i} <> s.b{i}', 5_000)})"
    ),
    "group_by": using(
        f"select {joined(', ', 'a{i} as b{i}', 6_000)}, a1 from x group by {joined(', ', 'b{i}', 6_000)}"
    ),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_long_statement_is_linted_soon(tmp_path, name):
    (tmp_path / "a.sql").write_text(STATEMENTS[name])
    ended = run(tmp_path, "lint", "--no-cache", "--format", "json", "a.sql")
    assert ended.returncode in (0, 1), ended.stderr
    assert [merge["target"] for merge in json.loads(ended.stdout)["merges"]] == ["t"]


@pytest.mark.parametrize("name", ["fields", "elements", "casts"])
def test_a_name_that_is_too_long_is_not_read(tmp_path, name):
    (tmp_path / "a.sql").write_text(STATEMENTS[name])
    merge = json.loads(run(tmp_path, "lint", "--no-cache", "--format", "json", "a.sql").stdout)["merges"][0]
    assert (merge["verdict"], merge["reason"]) == ("unknown", "lint cannot read this expression")
