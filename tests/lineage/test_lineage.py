import pytest

from merge_runner.lineage.edge import Input, Table
from merge_runner.lineage.merge import merge_lineage, query_lineage
from merge_runner.merge.parse import parse
from merge_runner.merge.syntax.error import MergeSyntaxError
from tests.lineage.lineage_cases import TABLES, cases, found, lineage_of, lookup
from tests.merge.corpus import entries, statement

KINDS = ("clauses", "stars", "generated", "using", "expressions", "unresolved")
CASES = [pytest.param(case, id=f"{kind}: {case['name']}") for kind in KINDS for case in cases(kind)]


@pytest.mark.parametrize("case", CASES)
def test_each_column_has_its_inputs(case):
    expected = {key: value for key, value in case.items() if key not in ("name", "sql")}
    assert found(case["sql"].strip()) == expected


def test_the_cases_are_many_and_each_has_a_name_of_its_own():
    names = [param.id for param in CASES]
    assert len(names) >= 80
    assert len(set(names)) == len(names)


def test_a_clause_has_what_it_writes_and_what_decides_about_it():
    sql = """
    merge into t using s on t.id = s.id
    when matched and s.c = 0 then delete
    when matched and s.a > 1 then update set a = s.a
    when not matched then insert (id) values (s.id)
    """
    delete, update, insert = lineage_of(sql).clauses
    assert (delete.action, delete.columns, delete.conditions) == ("delete", (), (Input("s", "c", "conditional"),))
    assert sql[update.span.start : update.span.end] == "when matched and s.a > 1 then update set a = s.a"
    assert update.conditions == (Input("s", "a", "conditional"), Input("s", "c", "conditional"))
    assert [column.column for column in insert.columns] == ["id"]
    assert insert.conditions == ()


def test_all_inputs_of_a_column_are_its_own_and_those_of_the_rows():
    lineage = lineage_of("merge into t using s on t.id = s.id when matched then update set a = s.c")
    column = lineage.column("A")
    assert lineage.inputs(column) == (
        Input("s", "c", "identity"),
        Input("s", "id", "join"),
        Input("t", "id", "join"),
    )
    assert lineage.column("nothing") is None


def test_declared_columns_of_a_query_that_passes_on_unknown_ones():
    some, all_columns = (
        query_lineage("select * from open", lookup, Table("v", ("a", "b"), known)) for known in (False, True)
    )
    assert [each.reason for each in some.unresolved] == ["the columns of open are not all known"]
    assert all_columns.unresolved == ()
    assert some.columns == all_columns.columns
    assert {each.column: each.inputs for each in some.columns} == {
        "a": (Input("open", "a", "identity"),),
        "b": (Input("open", "b", "identity"),),
    }


def test_long_texts_are_read():
    terms = " + ".join(["s.a"] * 3000)
    long = merge_lineage(
        parse(f"merge into t using s on t.id = s.id when matched then update set a = {terms}"), Table("t"), lookup
    )
    assert long.column("a").inputs == (Input("s", "a", "transformation"),)
    branches = " union all ".join(["select k from u"] * 1000)
    assert query_lineage(branches, lookup).column("k").inputs == (Input("u", "k", "identity"),)


def test_what_is_nested_too_deeply_is_unresolved():
    nested = "(" * 40 + "select k from u" + ")" * 40  # twice as many where sqlglot is compiled
    assert query_lineage(nested, lookup).column("k").inputs == (Input("u", "k", "identity"),)
    deep = "select k from " + "(select k from " * 2000 + "u" + ")" * 2000
    assert [each.reason for each in query_lineage(deep, lookup).unresolved] == ["the query cannot be read"]


@pytest.mark.parametrize("folder", ["accept", "lenient"])
def test_every_statement_that_is_parsed_has_a_lineage(folder):
    read = 0
    for entry in entries(folder):
        sql = statement(entry)
        try:
            parsed = parse(sql)
        except MergeSyntaxError:
            continue
        read += 1
        for target in (Table("t"), TABLES["t"]):
            for gap in merge_lineage(parsed, target, lookup).all_unresolved:
                assert gap.reason, sql
                assert gap.span is None or parsed.span.start <= gap.span.start < gap.span.end <= len(sql), sql
    assert read > 0
