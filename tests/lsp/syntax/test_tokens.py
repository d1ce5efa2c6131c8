"""Tokens of SQL with Jinja, half written or not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.lsp.syntax.statements import statements
from merge_runner.lsp.syntax.tokens import call_at, scanned
from tests.lsp.cases import ROOT

MODEL = (ROOT / "models/facts/fct_flight.sql").read_text(encoding="utf-8")
PIECES = [
    "{{ ",
    " }}",
    "{% if x %}",
    "{#",
    "#}",
    "ref('",
    "'",
    '"',
    "(",
    ")",
    ",",
    "select ",
    "from ",
    "a",
    ".",
    "\n",
    "--",
    "*",
]


@given(
    st.lists(st.sampled_from([*PIECES, "with ", "merge into ", "using ", " as ", "`", "config(a=", "[", "}"])).map(
        "".join
    )
)
def test_any_text_has_tokens_that_are_parts_of_it(text):
    scan = scanned(text)
    statements(text)

    assert all(text[token.start : token.end] == token.text for token in scan.tokens)
    for offset in range(len(text) + 1):
        scan.token_at(offset)
        call_at(scan, offset)


@pytest.mark.parametrize(
    ("text", "callee", "argument"),
    [
        ("select 1 from {{ ref('|", "ref", 0),
        ("select 1 from {{ ref('stg_|\nwhere {{ in_window('f.x') }}", "ref", 0),
        ("{{ source('raw', '|') }}", "source", 1),
        ("{{ config(a=[1, 2], b=|) }}", "config", 1),
        ("{{ config(a=f(1, |)) }}", "f", 1),
        ("-- {{ ref('|') }}", "ref", 0),
        ("select '{{ var(\"|\") }}'", "var", 0),
        ("{{ config(x={'a': {'b': 1}}, c=|) }}", "config", 1),
        ("{{ ref('a') }} |", None, None),
    ],
)
def test_a_cursor_is_in_a_call(text, callee, argument):
    before, _, after = text.partition("|")
    call = call_at(scanned(before + after), len(before))

    assert (call and call.name.text, call and call.argument_at(len(before))) == (callee, argument)


def test_a_model_reads_what_it_names():
    read = statements(MODEL)

    assert [(each.kind, [r.qualifier for r in each.relations]) for each in read.selects] == [
        ("merge", ["t", "s"]),
        ("select", ["f"]),
    ]
    assert [output.name for output in read.selects[1].outputs][-2:] == ["distance_miles", "updated_at"]


QUERY = """\
with a as (select x, y z, count(*) n, f(1) from b.c), d(q) as (select * from a)
merge with schema evolution into {{ this }}
using (select d.*, u.k as kk from d join {{ source('r', 'u') }} u on u.x = d.q where exists (select 1 from e)) as s on s.
when matched then update set a = s.b when not matched then insert (a, ) values (s.a)
"""


def test_what_a_query_gives_is_read_by_position():
    read = statements(QUERY)

    assert [(cte.qualifier, [o.name for o in cte.query.outputs], cte.columns) for cte in read.ctes] == [
        ("a", ["x", "z", "n", None], ()),
        ("d", [None], ("q",)),
    ]
    assert [r.subject.kind for r in read.merge.relations] == ["this", "query"]
    source = read.merge.relations[1].query
    assert [(o.qualifier, o.name, o.star) for o in source.outputs] == [("d", None, True), ("u", "kk", False)]
    assert [span.of(QUERY).strip() for span in read.merge.target_lists] == ["a = s.b", "a,"]
