"""What is rendered without Jinja is what Jinja renders, with the same way back."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from merge_runner.template.static.plain_render import plain_render
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText

from .test_scan import CONTEXT

TEMPLATES = Templates()
PIECES = st.sampled_from(
    [
        "{{ config(format='delta', tags=['a', \"b\"]) }}",
        "{{config(scan='full')}}",
        "{{ config(a=1) -}}",
        "{{ ref('a') }}",
        "{{ref( 'p', 'b' )}}",
        "{{- ref('a') }}",
        "{{ changes('a') }}",
        "{{changes( 'p', 'a b' )}}",
        "{{ source('s', 't') }}",
        "{{ source('s', 't') -}}",
        "{{ this }}",
        "{{ this.schema }}",
        "{{ this\n}}",
        "{{ var('v') }}",
        "{{ target.name }}",
        "{# a comment #}",
        "select 1",
        "\n",
        "  ",
        "{ } {",
        "'{{ ref(\"x\") }}'",
        "é🦊",
    ]
)


@given(st.lists(PIECES, max_size=8))
def test_it_is_what_jinja_renders(pieces):
    source = SourceText("models/m.sql", "".join(pieces))
    plain = plain_render(source, CONTEXT)
    if plain is None:
        return
    rendered = TEMPLATES._rendering(CONTEXT).render(source)
    assert plain.text == rendered.text
    assert plain.captured == rendered.captured
    for start in range(len(plain.text) + 1):
        assert plain.place(start) == rendered.place(start)
        for end in range(start + 1, min(start + 9, len(plain.text) + 1)):
            assert plain.place(start, end) == rendered.place(start, end)
            assert plain.map.is_authored(start, end) == rendered.map.is_authored(start, end)


def test_ordinary_models_are_rendered_without_jinja():
    text = "{{ config(unique_key='id') }}\nmerge into {{ this }} t using {{ ref('a') }} s on true"
    assert plain_render(SourceText("m.sql", text), CONTEXT).text.endswith("merge into s.m t using a s on true")


def test_what_does_not_exist_is_left_to_jinja():
    def nothing(name):
        raise LookupError(name)

    assert plain_render(SourceText("m.sql", "{{ ref('a') }}"), replace(CONTEXT, resolve_ref=nothing)) is None
    assert plain_render(SourceText("m.sql", "{{ this }}"), replace(CONTEXT, this=None)) is None
