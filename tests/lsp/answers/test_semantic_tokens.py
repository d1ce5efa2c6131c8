"""What the names of a model are."""

from itertools import pairwise

from merge_runner.lsp.answers.semantic_tokens import semantic_tokens
from tests.lsp.cases import saved


def test_names_of_sql_and_of_sql_in_tags():
    text = "with a as (select 1 as x) select f.y, `f`.z from {{ ref('m') }} as f where {{ in_window('f.day') }} and {{ var('v') }} > b.c"
    found = [(token.span.of(text), token.kind) for token in semantic_tokens(saved().macros, text)]

    assert found == [
        ("a", "class"),
        *[("f", "variable"), ("y", "property"), ("`f`", "variable"), ("z", "property")],
        *[("ref", "function"), ("m", "class"), ("f", "variable")],
        *[("in_window", "function"), ("f", "variable"), ("day", "property"), ("var", "function"), ("v", "variable")],
    ]


def test_no_name_overlaps_another():
    for path in saved().sql_files:
        found = semantic_tokens(saved().macros, saved().text(path))
        assert all(before.span.end <= after.span.start for before, after in pairwise(found)), path
