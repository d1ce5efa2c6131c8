"""The tolerant reading of statements against the parser."""

from itertools import chain
from pathlib import Path

import pytest

from merge_runner.lsp.syntax.statements import statements
from merge_runner.merge.parse import parse
from merge_runner.merge.syntax.error import MergeSyntaxError
from tests.yaml_data import read_yaml

CORPUS = Path(__file__).parents[2] / "merge/accept"
ODD = (
    "IDENTIFIER",
    "AS USING",
    "AS ON",
    "values AS any",
    "INTO left",
    "t limit",
    "INTO merge",
    "INTO t WITH USING",
    "1t",
    "RECURSIVE as ",
)
"""Keywords as names, and names that only Spark works out."""


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        yield from chain.from_iterable(map(texts, value.values() if isinstance(value, dict) else value))


def merges():
    for file in sorted(CORPUS.glob("*.yml")):
        for text in texts(read_yaml(file)):
            if "merge" in text.lower() and not any(word in text for word in ODD):
                try:
                    yield text, parse(text)
                except MergeSyntaxError:
                    continue


def test_aliases_are_those_that_the_parser_finds():
    compared = 0
    for text, parsed in merges():
        read = statements(text)
        assert read.merge is not None, text
        found = [relation.qualifier for relation in read.merge.relations]
        assert found == [parsed.target.qualifier, parsed.source.qualifier], text
        assert [cte.qualifier for cte in read.ctes][: len(parsed.ctes)] == [cte.name for cte in parsed.ctes], text
        compared += 1
    assert compared > 100


@pytest.mark.parametrize(
    ("text", "qualifiers"),
    [
        ("select * from s changes from version 1 to version 2 as c join u on c.id = u.id", ["c", "u"]),
        ("select * from {{ ref('s') }} changes from version {{ var('from') }} c, u", ["c", "u"]),
        ("select * from s changes from timestamp date'2024-01-01' exclusive with (a = 1) where ", ["s"]),
        ("select * from s changes where changes.", ["changes"]),
    ],
)
def test_the_changes_of_a_table_are_one_relation(text, qualifiers):
    assert [relation.qualifier for relation in statements(text).selects[0].relations] == qualifiers


@pytest.mark.parametrize(
    ("text", "outputs"),
    [
        (
            "select a, t.b, c as d, e f, count(*) g, h + 1, `i j`, t.*, * from t",
            ["a", "b", "d", "f", "g", None, "i j", None, None],
        ),
        ("select distinct a from t union select b from u", ["a"]),
        (
            "select case when a then b end as x, cast(a as date) y, {{ m() }} as z, {{ m() }} from t",
            ["x", "y", "z", None],
        ),
        ("select struct(a, b).c, array(1)[0] d, 'x' e, -1 from t", ["c", "d", "e", None]),
        ("select ", []),
    ],
)
def test_what_a_select_gives_is_named(text, outputs):
    assert [output.name for output in statements(text).selects[0].outputs] == outputs
