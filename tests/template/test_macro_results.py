"""A macro that returned a result before returns it again, wherever a new call would."""

from __future__ import annotations

from dataclasses import replace

import pytest

from merge_runner.errors import ProblemsError
from merge_runner.reads import Asked, Reads
from merge_runner.template.macro_results import MacroResults
from merge_runner.template.static.macro_definitions import macro_definitions
from merge_runner.template.static.plain_macros import plain_macros
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText

MACROS = """
{% macro start() %}{{ var('start', 'never') }}{% endmacro %}
{% macro window(column, end=none) %}{{ column }} >= {{ start() }}{% if end %} and < {{ end }}{% endif %}{% endmacro %}
{% macro named(a) %}{{ a }} of {{ model_name }}{% endmacro %}
{% macro names(a) %}{{ named(a) }}{% endmacro %}
{% macro needed(a) %}{{ a }} {{ var('needed') }}{% endmacro %}
"""
CONDITIONAL = "{% if var('days') == 3 %}{% macro sometimes(a) %}{{ a }}{% endmacro %}{% endif %}"
EACH = [
    ("{{ window('a') }}", {}),
    ("{{ window('a', end='b') }}", {}),
    ("{{ window(1) }}", {}),
    ("{{ window(true) }}", {}),
    ("{{ window('1') }}", {}),
    ("{{ window(column='a') }}", {}),
    ("{{ window(['a']) }}", {}),
    ("{{ window('a') }}", {"vars": {"start": "2020-01-01"}}),
    ("{{ window('a') }}", {"vars": {}}),
    ("{{ window('a') }}", {"vars": {"start": 1}}),
    ("{{ window('a') }}", {"vars": {"start": True}}),
    ("{{ window('a') }}", {"macros": {"start": "another"}}),
    ("{{ names('a') }}", {}),
    ("{{ names('a') }}", {"model_name": "another"}),
    ("{{ needed('a') }}", {"vars": {"needed": "x"}}),
    ("{{ needed('a') }}", {"vars": {}}),
    ("{{ needed('a') }}", {"vars": {"needed": "y"}}),
    ("{{ sometimes('a') }}", {"vars": {"days": 3}}),
    ("{{ sometimes('a') }}", {"vars": {"days": 4}}),
]


FILES = [SourceText("macros/m.sql", MACROS), SourceText("macros/c.sql", CONDITIONAL)]


def templates():
    return Templates(FILES)


def outcome(project, text, context, changes):
    """The rendered text with what it captures and reads, or what is wrong with it."""
    reads = Reads()
    changed = replace(context, **changes)
    with reads.collected() as read:
        asking = replace(changed, vars=Asked(changed.vars, "var", reads))
        try:
            rendered = project.render(SourceText("models/m.sql", text), asking)
        except ProblemsError as error:
            return error.problems
    return rendered.text, rendered.captured, rendered.place(0, len(rendered.text)), read


@pytest.mark.parametrize("order", [EACH, EACH[::-1]])
def test_a_result_is_that_of_a_project_which_has_rendered_nothing(context, order):
    project = templates()
    for text, changes in (*order, *order):
        assert outcome(project, text, context, changes) == outcome(templates(), text, context, changes)


@pytest.mark.parametrize(
    ("name", "args", "is_kept"),
    [
        ("window", ("a", None, 1, 1.5, True), True),
        ("window", (["a"],), False),
        ("named", ("a",), False),
        ("names", ("a",), False),
        ("sometimes", ("a",), False),
        ("nobody", ("a",), False),
    ],
)
def test_results_are_kept_that_depend_on_simple_arguments_and_vars_alone(context, name, args, is_kept):
    definitions = {macro.name: macro for source in FILES for macro in macro_definitions(source)}
    files = {macro.name: source for source in FILES for macro in macro_definitions(source)}
    results = MacroResults(plain_macros(definitions.values()), definitions, files)
    call = results.call(name, args, {}, context)
    assert (call is not None) == is_kept
    if call is not None:
        results.put(call, "the result")
        assert results.get(call) == "the result"
        assert results.call(name, args, {"end": "x"}, context) != call
