"""The trees that are made without a parser are those that sqlglot would make."""

from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from merge_runner.merge.expression import Reader
from merge_runner.merge.plain import plain_tree
from merge_runner.merge.syntax.operand import Remarks
from merge_runner.merge.syntax.sql import tokenize

from .corpus import entries, statement

WORDS = st.sampled_from(
    ["t", "s", "a_1", "_x", "Id", "date", "values", "current_date", "null", "select", "not", "if", "`q`"]
)
NAMES = st.builds("{}.{}".format, WORDS, WORDS)
BLANKS = st.sampled_from(["", " ", "\n  ", " /* c */ "])
OPERATORS = st.sampled_from(["=", "==", "<=>", "<", "<=", ">", ">=", "<>", "+"])


def read(sql, start, stop):
    """What sqlglot makes of the tokens."""
    return Reader(sql, Remarks())._read(start, stop, exp.Condition)


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
