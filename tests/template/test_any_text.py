"""Whatever an author writes, there is a text or there are problems with places; never another exception."""

from __future__ import annotations

import warnings
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from merge_runner.errors import ProblemsError
from merge_runner.template.context import Context
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText

pytestmark = pytest.mark.fuzz("Jinja")

MACROS = SourceText(
    "macros/m.sql",
    "{% macro m(x=1) %}<{{ x }}{{ caller() if caller is defined }}>{% endmacro %}"
    "{% macro r(x) %}{{ return(x) }}{% endmacro %}{% macro fail() %}{{ 1 / 0 }}{% endmacro %}",
)
WORDS = """
1 -1 1.5 'a' none true [] {} () [1,'a'] {'k':[1]} x this target ref var config m r fail env_var log return exceptions
is_full_refresh range(3) namespace() dict joiner() self loop caller varargs model_name x.y ref('a') var('days')
var('nope') env_var('TOKEN') env_var('NOPE') this.schema source('s','t') source('no_s','t') ref('no_a') config(a=1)
config(a=ref('a')) config(a=m) config({'b':x}) config.get('a') m(2) m r([1]) fail() cycler(1) '%s' '{}'.format
'{0.__class__}' adapter adapter.dispatch zip([1],'a') fromjson('{}') fromyaml tojson toyaml model model.config flags builtins builtins.ref execute print set
[].append 'a'.join target.items() exceptions.raise_compiler_error caller() loop.index ''.__class__

+ - * / // % ** ~ == < in and or

upper literal identifier join int float tojson map('upper') map('upper')|list sort length default(1) attr('x')
groupby('x') round replace('a','b') first last sum list string reject('none')|list batch(2)|list dictsort format(1)
center(9) nope indent max unique|list select('odd') trim items|list xmlattr urlize truncate(1) abs reverse slice(2)|list
"""
ATOMS, OPERATORS, FILTERS = (words.split() for words in WORDS.split("\n\n"))
EXPRESSIONS = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(OPERATORS), inner),
        st.builds("{}|{}".format, inner, st.sampled_from(FILTERS)),
        st.builds(
            "{}{}".format,
            inner,
            st.sampled_from([".x", "['k']", "[0]", "[1:]", "()", "(1)", "(a=1)", "(*[1])", "(**{'a': 1})"]),
        ),
        st.builds("({})({})".format, inner, inner),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds(
            "{} is {}".format,
            inner,
            st.sampled_from(["defined", "none", "odd", "string", "sameas 1", "nope", "in [1]"]),
        ),
    ),
    max_leaves=5,
)
OUTPUTS = st.builds("{{{{ {} }}}}".format, EXPRESSIONS)
BLOCKS = [
    "{{% if {0} %}}{1}{{% else %}}{2}{{% endif %}}",
    "{{% for x in {0} %}}{1}{{% else %}}{2}{{% endfor %}}",
    "{{% for x in {0} if x recursive %}}{1}{{{{ loop([x]) }}}}{{% endfor %}}",
    "{{% set x %}}{1}{{% endset %}}{2}",
    "{{% set x = {0} %}}{2}",
    "{{% set x, y = {0} %}}{2}",
    "{{% set ns = namespace() %}}{{% set ns.a = {0} %}}{1}",
    "{{% do {0} %}}{1}",
    "{{% print {0}, {0} %}}{1}",
    "{{% macro q(x, y={0}) %}}{1}{{% endmacro %}}{{{{ q(1) }}}}{2}",
    "{{% macro q(x) %}}{1}{{{{ q(x) }}}}{{% endmacro %}}{{{{ q(1) }}}}{2}",
    "{{% call m({0}) %}}{1}{{% endcall %}}{2}",
    "{{% call(i) fail() %}}{1}{{% endcall %}}{2}",
    "{{% filter upper %}}{1}{{% endfilter %}}{2}",
    "{{% filter {0} %}}{1}{{% endfilter %}}",
    "{{% with x = {0} %}}{1}{{% endwith %}}{2}",
]
VALID = st.recursive(
    OUTPUTS | st.sampled_from(["a", "\n", "{# c #}", "{% raw %}{{{% endraw %}", "\x00", "\x85", "\u2028", ""]),
    lambda inner: (
        st.builds(str.format, st.sampled_from(BLOCKS), EXPRESSIONS, inner, inner)
        | st.builds("{}{}".format, inner, inner)
    ),
    max_leaves=5,
)
DAMAGE = [
    "",
    "{",
    "}",
    "%",
    "#}",
    "%}",
    "}}",
    "{%",
    "{{",
    "{#",
    "'",
    "(",
    ")",
    "|",
    ".",
    "=",
    "-",
    "\ud800",
    "endif",
    " include 'x' ",
    "extends x",
]


@st.composite
def damaged(draw: st.DrawFn) -> str:
    text = draw(VALID)
    at = draw(st.integers(0, len(text)))
    return text[:at] + draw(st.sampled_from(DAMAGE)) + text[at + draw(st.integers(0, 2)) :]


TEXTS = VALID | VALID | damaged()


def assert_text_or_problems(text: str, context: Context) -> None:
    source = SourceText("models/m.sql", text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            rendered = Templates([MACROS]).render(source, replace(context, this=None))
        except ProblemsError as error:
            assert error.problems
            for problem in error.problems:
                assert problem.place is not None
                assert problem.place.path in ("models/m.sql", "macros/m.sql")
                assert "hunter2" not in str(problem)
        else:
            for offset in range(len(rendered.text)):
                assert rendered.place(offset, offset + 1).path == "models/m.sql"


@given(TEXTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_renders_or_has_problems(context: Context, text: str) -> None:
    assert_text_or_problems(text, context)


@pytest.mark.nightly
@given(TEXTS)
@settings(max_examples=10_000, deadline=None)
def test_any_of_many_texts_renders_or_has_problems(context: Context, text: str) -> None:
    assert_text_or_problems(text, context)


@pytest.mark.parametrize(
    "text",
    [
        "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
        "{{ " + "-" * 5000 + "1 }}",
        "{{ " + " + ".join(["x"] * 5000) + " }}",
        "{% if true %}" * 300 + "{% endif %}" * 300,
        "{% for i in [1] %}" * 30 + "{% endfor %}" * 30,
        "{{ " + "9" * 5000 + " }}",
        "{{ '\\N{no such name}' }}",
    ],
    ids=lambda text: text[:24],
)
def test_a_template_beyond_what_python_can_compile_is_a_problem(text: str, context: Context) -> None:
    with pytest.raises(ProblemsError) as caught:
        Templates().render(SourceText("models/m.sql", text), context)
    assert {problem.code for problem in caught.value.problems} <= {
        "jinja-syntax",
        "jinja-runtime",
        "undefined-name",
        "recursion",
    }
