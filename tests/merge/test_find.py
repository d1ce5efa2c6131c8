import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.merge.find import holds_merge


@pytest.mark.parametrize(
    "text",
    [
        "merge into {{ this }} as t using s on true when matched then delete",
        "MERGE INTO t",
        "{{ config(unique_key=['id']) }}\n\nmerge\n  into t",
        "merge with schema evolution into t",
        "Merge With\tSchema /* c */ Evolution -- d\n Into t",
        "merge {% if evolve %}with schema evolution{% endif %} into t",
        "merge {# a comment #} into t",
        "with c as (select 'it''s' as a) merge into t",
        "-- it's an upsert\nmerge into t",
        "-- merges \\\n still a comment\nmerge into t",
        "/* a /* nested */ merge into x */ merge into t",
        "{% if is_full_refresh() %}merge into t{% endif %}",
        "select `merge` from u; merge into t",
        '{% set x = "it\'s" %} merge into t',
        "{{ config(post_hook='optimize {{ this }}') }} merge into t using s on t.a = 'x' when matched then delete",
        "{% set tag = '%} %}' %} merge into t using s on t.a = 'x' when matched then delete",
        "merge {{ log('}} x') }} into t",
        "(merge into t)",
    ],
)
def test_a_merge_is_found(text):
    assert holds_merge(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "select 1",
        "-- merge into t\nselect 1",
        "-- a \\\n merge into t\nselect 1",
        "/* merge into t */ select 1",
        "/* a /* b */ merge into t */ select 1",
        "/* merge into t",
        "{# merge into t #} select 1",
        "select 'merge into t'",
        'select "merge into t"',
        "select 'it''s a merge into t'",
        "select 'a\\' merge into t'",
        "select `merge into t`",
        "{{ config(post_hook='merge into x') }} select 1",
        "{{ log(merge into) }} select 1",
        "{{ config(post_hook='optimize {{ this }}; merge into x') }} select 1",
        "{% set x = 'merge into t' %} select 1",
        "select merge, into from t",
        "select t.merge into",
        "mergeinto t",
        "merge intot",
        "merge_into t",
        "merge with evolution into t",
        "merge",
    ],
)
def test_other_text_holds_none(text):
    assert not holds_merge(text)


@given(st.text(alphabet="merginto '\"`{}#%-/*\\\n", max_size=80))
def test_any_text_gets_an_answer(text):
    assert holds_merge(text) in (True, False)
    assert holds_merge("/* " + text.replace("/*", "").replace("*/", "").replace("*", "") + " */") is False
