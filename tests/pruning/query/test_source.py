"""What is known of the rows of queries: columns, keys and what follows from their restrictions, each as data."""

from pathlib import Path

import pytest

from merge_runner.formats.types import parse_type
from merge_runner.merge.parse import parse
from merge_runner.merge.read_query import read_expression
from merge_runner.pruning.layout.layout import TableColumn, TableLayout
from merge_runner.pruning.logic.canonical import condition
from merge_runner.pruning.logic.term import Col
from merge_runner.pruning.query.query_facts import query_facts
from merge_runner.pruning.query.read_using import inserted_columns, source_facts
from merge_runner.pruning.query.source import KnownTable
from tests.yaml_data import read_yaml

HERE = Path(__file__).parent
COLUMNS = (
    TableColumn("id", parse_type("bigint"), False),
    TableColumn("dt", parse_type("date"), False),
    TableColumn("region", parse_type("string"), True),
    TableColumn("ts", parse_type("timestamp"), True),
    TableColumn("amount", parse_type("decimal(10,2)"), True),
    TableColumn("n", parse_type("int"), True),
    TableColumn("st", parse_type("struct<a:int,b:string>"), True),
)
TABLES = {
    "s": KnownTable(TableLayout(columns=COLUMNS, complete=True)),
    "u": KnownTable(TableLayout(columns=COLUMNS, complete=True, unique=(frozenset({"id"}),))),
    "v": KnownTable(TableLayout(), "-- a view\nselect id, dt from u where dt >= '2024-01-01';"),
    "loop": KnownTable(TableLayout(), "select * from loop"),
    "w": KnownTable(TableLayout()),
}


def lookup(parts):
    return TABLES.get(parts[-1].lower())


def cases(name):
    return [pytest.param(case, id=case["query"]) for case in read_yaml(HERE / f"{name}.yml")]


def described(column):
    nullable = {True: " null", False: " not null", None: " ?"}[column.nullable]
    return f"{column.name or '-'} {column.data_type or '?'}{nullable}"


def expected(text):
    """What `described` says, where the data leaves out ` null` and the type of what has none."""
    for part in (part.strip() for part in split(text)):
        if part.endswith(" ?") and part.count(" ") == 1:
            yield f"{part} ?"  # neither type nor nullability
        else:
            yield part if part.endswith((" null", " ?")) else f"{part} null"


@pytest.mark.parametrize("case", cases("columns"))
def test_columns(case):
    facts = query_facts(case["query"], lookup)
    if case["columns"] is None:
        assert facts.columns is None
        return
    assert facts.columns is not None
    assert [described(column) for column in facts.columns] == list(expected(case["columns"]))


def split(text):
    """The parts between commas that are inside no brackets."""
    depth, parts = 0, [""]
    for char in text:
        depth += (char in "(<") - (char in ")>")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


@pytest.mark.parametrize("case", cases("unique"))
def test_unique(case):
    found = query_facts(case["query"], lookup).unique
    assert {tuple(sorted(key)) for key in found} == {tuple(key) for key in case["keys"]}


@pytest.mark.parametrize("case", cases("implied"))
def test_implied(case):
    facts = query_facts(case["query"], lookup).facts

    def resolve(node):
        parts = [part.name for part in node.parts]
        return Col(0, parts[0], tuple(parts[1:]))

    for key, answer in {"implied": True, "not_implied": False, "unknown": None}.items():
        for text in case.get(key, ()):
            assert facts.implies(condition(read_expression(text).expression, resolve)) is answer, text


def test_a_view_that_names_itself_is_unreadable():
    assert not query_facts("select * from loop", lookup).readable


@pytest.mark.parametrize(
    "text", ["select", "select * from s pivot (max(n) for region in ('a'))", "select * from s |> where n > 1", ""]
)
def test_what_cannot_be_read_is_said_to_be_unreadable(text):
    assert not query_facts(text, lookup).readable


def test_deep_nesting_ends():
    union = " union all ".join(["select n from s"] * 3000)
    assert not query_facts(union, lookup).readable
    many = " and ".join(f"n <> {i}" for i in range(3000))
    assert len(query_facts(f"select n from s where {many}", lookup).restrictions) == 3000


MERGE = "merge into t using {} as x on t.id = x.id when not matched then {}"


@pytest.mark.parametrize(
    ("using", "insert", "wanted"),
    [
        ("s", "insert (k, d, c) values (x.id, date(ts), 'a')", "k bigint, d date, c string"),
        ("(select id, dt as d from s)", "insert *", "id bigint, d date"),
        ("unheard_of", "insert (k, d) values (x.id, cast(x.d as int))", "k ?, d int"),
        ("unheard_of", "insert *", None),
    ],
)
def test_inserted_columns(using, insert, wanted):
    statement = parse(MERGE.format(using, insert))
    found = inserted_columns(statement, source_facts(statement, lookup))
    described = found and ", ".join(f"{column.name} {column.data_type or '?'}" for column in found)
    assert described == wanted


def test_ctes_in_front_of_the_merge_are_seen():
    statement = parse("with c(k) as (select id from u) merge into t using c on t.id = c.k when matched then delete")
    facts = source_facts(statement, lookup)
    assert [column.name for column in facts.columns] == ["k"]
    assert facts.is_unique(frozenset({"k"}))
