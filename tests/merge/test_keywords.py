"""Spark's keywords as names: none is reserved by default, so none may keep a source from being read."""

import pytest
from sqlglot import exp

from merge_runner.merge.parse import parse
from merge_runner.merge.read_query import read_query

from .spark_keywords import FILE, TEXTS, asked_of_spark, recorded, sql

RECORDED = recorded()
OPERATORS = {"AND", "BETWEEN", "CASE", "DISTINCT", "ELSE", "IF", "ILIKE", "LIKE", "NOT", "OR", "SELECT", "THEN", "WHEN"}
NOT_READ = {
    "alias, joined": {"HAVING", "LIMIT", "WHERE", "WINDOW"},
    "alias with AS": {"FROM"},
    "column alias": {"AS"},
    "joined table": {"STREAM"},
    "column": OPERATORS,
    "column in WHERE": OPERATORS,
    "column in ORDER BY": OPERATORS | {"ALL"},
    "column in GROUP BY": OPERATORS | {"ALL"},
}
"""Where a keyword may leave a query unread, which is said, or where it means what its analyzer says (GROUP BY ALL)."""


def names(where, keyword):
    """The keywords that Spark reads as a name there."""
    place = RECORDED["places"][where]
    return keyword not in place.get("refused", ()) and keyword not in place.get("otherwise", ())


def shape(text, keyword):
    """What our reader makes of the text, with the keyword's name left out; None where it cannot be read."""
    tree = read_query(text).expression
    if tree is None:
        return None
    same = keyword.casefold()

    def told(name):
        return "{}" if name.casefold() == same else name

    return (
        type(tree).__name__,
        sorted((*(told(part.name) for part in table.parts), told(table.alias)) for table in tree.find_all(exp.Table)),
        sorted(told(each.alias) for each in tree.find_all(exp.Alias, exp.CTE)),
        sorted(tuple(told(part.name) for part in column.parts) for column in tree.find_all(exp.Column)),
    )


QUERIES = [where for where, text in TEXTS.items() if not text.startswith("merge")]
CLOCK = {"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER", "LOCALTIMESTAMP", "SESSION_USER", "USER"}
"""Names that are functions without parentheses, where no column is called so."""


@pytest.mark.parametrize("where", QUERIES)
def test_a_keyword_in_a_query_is_the_name_that_spark_reads(where):
    wanted = shape(TEXTS[where].replace("{}", "zebra"), "zebra")
    assert wanted is not None
    wrong, unread = [], []
    for keyword in RECORDED["keywords"]:
        if not names(where, keyword) or (keyword in CLOCK and where.startswith("column")):
            continue
        found = shape(sql(where, keyword), keyword)
        if found is None:
            unread.append(keyword)
        elif found != wanted and keyword not in NOT_READ.get(where, ()):
            wrong.append((keyword, found))
    assert wrong == []
    assert set(unread) <= NOT_READ.get(where, set())


@pytest.mark.parametrize("where", [where for where in TEXTS if where not in QUERIES])
def test_a_keyword_in_a_merge_is_the_name_that_spark_reads(where):
    text = TEXTS[where]
    wanted = parse(text.replace("{}", "zebra"))
    for keyword in RECORDED["keywords"]:
        if not names(where, keyword):
            continue
        found = parse(sql(where, keyword))
        told = [
            "zebra" if name is not None and name.casefold() == keyword.casefold() else name
            for name in (*found.target.parts, found.target.alias, *found.source.parts, found.source.alias)
        ]
        assert told == [*wanted.target.parts, wanted.target.alias, *wanted.source.parts, wanted.source.alias], keyword
        assert all(conjunct.expression is not None for conjunct in found.on), keyword


@pytest.mark.spark
@pytest.mark.nightly
def test_spark_reads_its_keywords_as_recorded(spark, caplog):
    caplog.set_level("CRITICAL", "SQLQueryContextLogger")
    assert asked_of_spark(spark) == RECORDED, f"what Spark says now is to be written to {FILE.name}"
