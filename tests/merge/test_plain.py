"""The trees that are made without a parser are those that sqlglot would make."""

from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from merge_runner.merge.expression import Reader, another_form, reading
from merge_runner.merge.plain import plain_tree
from merge_runner.merge.syntax import keywords
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.level import Level, is_plain
from merge_runner.merge.syntax.operand import Remarks
from merge_runner.merge.syntax.sql import tokenize

from .corpus import entries, statement
from .spark_keywords import recorded

WORDS = st.sampled_from(
    ["t", "s", "a_1", "_x", "Id", "date", "values", "current_date", "null", "select", "not", "if", "`q`"]
)
NAMES = st.builds("{}.{}".format, WORDS, WORDS)
BLANKS = st.sampled_from(["", " ", "\n  ", " /* c */ "])
OPERATORS = st.sampled_from(["=", "==", "<=>", "<", "<=", ">", ">=", "<>", "+"])


def read(sql, start, stop):
    """What sqlglot makes of the tokens."""
    return Reader(sql, Remarks())._read(start, stop)


def same(one, other):
    def places(tree):
        return [(node.name, node.meta.get("start"), node.meta.get("end")) for node in tree.find_all(exp.Identifier)]

    return repr(one) == repr(other) and places(one) == places(other)


@given(NAMES, BLANKS, OPERATORS, BLANKS, NAMES)
def test_comparisons(left, before, operator, behind, right):
    sql = tokenize(f"{left}{before}{operator}{behind}{right}")
    tree = plain_tree(sql, 0, len(sql.tokens))
    assert tree is None or same(tree, read(sql, 0, len(sql.tokens)))


@given(NAMES)
def test_columns(name):
    sql = tokenize(name)
    tree = plain_tree(sql, 0, len(sql.tokens))
    assert tree is None or same(tree, read(sql, 0, len(sql.tokens)))


def test_every_part_of_the_corpus():
    made = 0
    for entry in entries("accept"):
        sql = tokenize(statement(entry))
        for start in range(len(sql.tokens)):
            for size in (3, 7):
                tree = plain_tree(sql, start, start + size) if start + size <= len(sql.tokens) else None
                if tree is not None:
                    made += 1
                    assert same(tree, read(sql, start, start + size))
    assert made > 100


def walked(sql, aliased):
    """What walking one level finds."""
    remarks = Remarks()
    level = Level(sql, 0, len(sql.tokens), remarks, aliased=aliased)
    level._walk()
    return remarks, level.todo, level.queries, level.ands, level.has_or


def test_there_is_nothing_to_walk_in_plain_levels():
    words = {*recorded()["keywords"], *keywords.AMBIGUOUS_NAMES, "a", "`q`", "interval", "r", "x", "${p}", "`${=p}`"}
    plain = 0
    for word in words:
        for text in (f"{word}.a", f"a.{word}", f"{word}.a = b.c", f"a.{word} <=> b.c", f"a.b >= {word}.{word}"):
            sql = tokenize(text)
            if is_plain(sql, 0, len(sql.tokens)):
                plain += 1
                for aliased in (False, True):
                    assert walked(sql, aliased) == (Remarks(), [], [], [], False), text
    assert plain > 500


PARTS = st.sampled_from(
    [
        *("a.b", "'it''s'", '"x"', "''", "`q`", "${p}", "${=p}.c", "table", "(", "table u", "!<", "!>", "/* c */"),
        *("-- c\n", "1", "tables", "'--'", "'/*'", " ", "\n", "and", "="),
    ]
)


@given(st.lists(PARTS, min_size=1).map(" ".join))
def test_what_sqlglot_is_given_as_it_is_would_not_be_changed(text):
    try:
        sql = tokenize(text)
    except MergeSyntaxError:
        return
    if sql.tokens:
        assert reading(sql, 0, len(sql.tokens)) == another_form(sql, 0, len(sql.tokens))
