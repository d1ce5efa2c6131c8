"""The macros of a file, read without Jinja."""

from __future__ import annotations

import pytest

from merge_runner.template.static.macro_definitions import macro_definitions
from merge_runner.text import SourceText


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{% macro a() %}{% endmacro %}\n{%- macro  b(x, y='%}') -%}{%- endmacro -%}", ["a", "b"]),
        ("{% macro a() %}{% macro inner() %}{% endmacro %}{% endmacro %}", ["a"]),
        ("{# {% macro a() %}{% endmacro %} #}", []),
        ("{% raw %}{% macro a() %}{% endmacro %}{% endraw %}{% macro b() %}{% endmacro b %}", ["b"]),
        ("""{{ "{% macro a() %}{% endmacro %}" }}""", []),
        ("{% set x = '{% macro a() %}' %}{%\nmacro\nb() %}{% endmacro %}", ["b"]),
        ("{% if true %}{% macro a() %}{% endmacro %}{% endif %}", ["a"]),
        ("{% macros %}{% macro", []),
        ("{% endmacro %}{% macro a() %}{% endmacro %}", ["a"]),
        ("select 1", []),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert [macro.name for macro in macro_definitions(SourceText("m.sql", text))] == names


def test_a_definition_has_the_place_of_its_name_and_its_whole_text() -> None:
    source = SourceText("macros/m.sql", "-- about\n{%- macro a(x) %}{{ x }}{% endmacro -%}\n")
    (macro,) = macro_definitions(source)
    assert str(macro.place) == "macros/m.sql:2:11"
    assert macro.text == "{%- macro a(x) %}{{ x }}{% endmacro -%}"
