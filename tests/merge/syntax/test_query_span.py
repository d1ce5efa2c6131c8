"""The query of a text, cut out of blanks and closing semicolons; which statements are known to be queries."""

import pytest

from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.query_span import is_query, only_reads, query_span


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("select 1", "select 1"),
        ("\n  select 1\n", "select 1"),
        ("select 1;", "select 1"),
        ("select 1 ; ;\n", "select 1"),
        ("select 1; -- done", "select 1"),
        ("select 1 -- tail", "select 1 -- tail"),
        ("-- head\nselect 1; /* a; b */", "-- head\nselect 1"),
        ("select 1 -- c;", "select 1 -- c;"),
        ("select ';' as x;", "select ';' as x"),
        ("select 'it is open", "select 'it is open"),
        ("select t.merge as into from t", "select t.merge as into from t"),
        ("select insert from update", "select insert from update"),
        ("with insert as (select 1) select * from insert", "with insert as (select 1) select * from insert"),
        ("with a as (select 1) select (1) copy", "with a as (select 1) select (1) copy"),
    ],
)
def test_the_query_stands_without_blanks_and_closing_semicolons(text, query):
    assert query_span(text).of(text) == query


@pytest.mark.parametrize(
    ("text", "message", "marked"),
    [
        ("", "no statement", ""),
        ("-- only a comment\n", "no statement", ""),
        (";", "no statement", ""),
        ("select 1; select 2;", "several statements", "select"),
        (
            "with a as (select 1) merge into t using a on t.id = a.id when matched then delete",
            "found a MERGE",
            "merge into",
        ),
        ("-- rows\ninsert into t select 1", "found INSERT", "insert"),
        ("with a as (select ')' as b) insert into t select * from a", "found INSERT", "insert"),
        (
            "-- c\nwith a (b, c) as (select (1), 2), `)` (select 1) -- )\n /* ) */ DELETE from t",
            "found DELETE",
            "DELETE",
        ),
        ("WITH recursive a as (select 1)\n  insert overwrite t from a", "found INSERT", "insert"),
        ("/* a /* b */ update */ CREATE TABLE t AS SELECT 1", "found CREATE", "CREATE"),
    ],
)
def test_what_is_no_single_query_is_refused_at_its_place(text, message, marked):
    with pytest.raises(MergeSyntaxError, match=message) as caught:
        query_span(text)
    assert caught.value.span.of(text) == marked


@pytest.mark.parametrize(
    "statement",
    [
        "select 1",
        "  -- a comment\n/* another */ SELECT 1",
        "/* nested /* comment */ */ select 1",
        "values (1), (2)",
    ],
)
def test_a_statement_that_is_a_query(statement):
    assert is_query(statement)
    assert only_reads(statement)


@pytest.mark.parametrize("statement", ["show tables in shop", "describe table shop.fct", "desc shop.fct"])
def test_what_changes_nothing(statement):
    assert only_reads(statement)
    assert not is_query(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "",
        "-- nothing",
        "delete from shop.fct",
        "/* /* */ select */ drop table shop.fct",
        "with a as (select 1) insert into shop.fct select * from a",
        "from shop.a insert into shop.fct select *",
        "merge into shop.fct t using shop.a s on t.id = s.id when matched then delete",
        "restore table shop.fct to version as of 0",
        "set spark.sql.shuffle.partitions = 1",
        "add jar 'a.jar'",
        "create temporary function f as 'a.B'",
        "`select` 1",
        "${x} select 1",
        "selected",
        "select 'no end",
        "call system.rollback_to_snapshot('a', 1)",
    ],
)
def test_what_may_write(statement):
    assert not only_reads(statement)
    assert not is_query(statement)
