"""A statement that writes and is no MERGE, found in raw text."""

import pytest

from merge_runner.merge.find import find_statement


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("insert into {{ this }} select 1", "insert"),
        ("{{ config(tags=['a']) }}\nwith a as (select * from {{ ref('x') }}) insert into {{ this }} from a", "insert"),
        ("with a as (select {{ f(')') }} as b), c as (select 1) update t set a = 1", "update"),
        ("with/* c */a as (select 1)\n-- d\ndelete from t", "delete"),
    ],
)
def test_the_word_that_begins_it(text, word):
    found = find_statement(text)
    assert found is not None
    assert found.of(text) == word


@pytest.mark.parametrize(
    "text",
    [
        "",
        "with",
        "with a as (",
        "with a as (select 1) select * from a",
        "with a as (select 1) {% if x %} insert into t {% endif %} select 1",
        "with a as (select 1) from a insert_date",
        "{{ with_a() }} insert into t select 1",
        "select 1 as a, (2) replace",
        "with a as (select 1) (select 1) replace",
    ],
)
def test_what_may_be_a_query(text):
    assert find_statement(text) is None
