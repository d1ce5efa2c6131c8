"""The fast path reads what it reads exactly as rendering does, and says None to the rest."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merge_runner.errors import ProblemsError
from merge_runner.relation import Relation
from merge_runner.template.capture import Capture, Ref, SourceRef
from merge_runner.template.context import Context
from merge_runner.template.static.scan import scan
from merge_runner.template.templates import Templates
from merge_runner.text import Place, SourceText


class Everything(dict[str, str]):
    """Every name has a value."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        return f"<{name}>"

    def get(self, name: str, default: object = None) -> str:
        return self[name]


TEMPLATES = Templates()
CONTEXT = Context(
    model_name="m",
    this=Relation("m", "s"),
    resolve_ref=Relation,
    resolve_source=lambda source, table: Relation(table, source),
    vars=Everything(),
    env=Everything(),
    target={"schema": "s", "name": "local"},
    full_refresh=False,
)


def model(text: str) -> SourceText:
    return SourceText("models/m.sql", text)


def read(text: str) -> Capture:
    captured = scan(model(text))
    assert captured is not None
    return captured


def test_a_file_without_jinja_says_nothing() -> None:
    assert read("select 1 -- {a} { {") == Capture()


def test_refs_and_sources_stand_in_their_order_with_the_place_of_their_call() -> None:
    captured = read("select *\nfrom {{ ref('a') }}, {{- ref( \"pkg\" , 'b', ) -}}, {{source('s','t')}}")
    assert captured.refs == (
        Ref("a", Place("models/m.sql", 2, 9, 2, 17)),
        Ref("b", Place("models/m.sql", 2, 26, 2, 45)),
    )
    assert captured.sources == (SourceRef("s", "t", Place("models/m.sql", 2, 53, 2, 68)),)
    assert captured.changes == ()


def test_a_change_feed_is_a_ref_as_well() -> None:
    captured = read("from {{ changes('a') }} join {{ ref('a') }}")
    feed = Ref("a", Place("models/m.sql", 1, 9, 1, 21))
    assert captured.changes == (feed,)
    assert captured.refs == (feed, Ref("a", Place("models/m.sql", 1, 33, 1, 41)))


def test_config_gives_values_and_the_place_of_each_key() -> None:
    captured = read(
        "{{ config(a='x', b=[1, -2.5, 'y'],\n  c={'k': (true, none)}, d=('one'), e=(), f=['p', \"q\",], g=False) }}"
    )
    assert captured.config.values == {
        "a": "x",
        "b": [1, -2.5, "y"],
        "c": {"k": (True, None)},
        "d": "one",
        "e": (),
        "f": ["p", "q"],
        "g": False,
    }
    assert captured.config.places["a"] == Place("models/m.sql", 1, 11, 1, 12)
    assert captured.config.places["c"] == Place("models/m.sql", 2, 3, 2, 4)


def test_the_last_config_wins_per_key() -> None:
    captured = read("{{ config(a=1, b=1) }}{{ config(a=2) }}")
    assert captured.config.values == {"a": 2, "b": 1}
    assert captured.config.places["a"].column == 33


def test_this_and_vars_are_noted_and_comments_are_not_read() -> None:
    captured = read("{{ this.schema }} {{ var('a') | literal }} {{ var('b', 'x')|join(', ') }} {# {{ ref('q') }} #}")
    assert (captured.uses_this, captured.vars, captured.refs) == (True, {"a", "b"}, ())


@pytest.mark.parametrize(
    "text",
    [
        "{% if true %}{{ ref('a') }}{% endif %}",
        "{{ ref(name) }}",
        "{{ changes(name) }}",
        "{{ changes('a').name }}",
        "{{ ref('a' ~ 'b') }}",
        "{{ ref('a' 'b') }}",
        "{{ ref('a\\x62') }}",
        "{{ ref('a', v=1) }}",
        "{{ source('a') }}",
        "{{ ref('a').name }}",
        "{{ my_macro() }}",
        "{{ config(a=b) }}",
        "{{ config(a=1, a=2) }}",
        "{{ config({'a': 1}) }}",
        "{{ config(a=[1 2]) }}",
        "{{ config(a={[1]: 2}) }}",
        "{{ config(a=1) ~ 'x' }}",
        "{{ config(a=007) }}",
        "{{ config(a=" + "[" * 500 + "]" * 500 + ") }}",
        "{{ ref('a') ",
        "{# never closed",
        "{{ this }",
        "{{ var('a', ref('b')) }}",
        "{{{ ref('a') }}}",
        "{{ ref('a') if true }}",
    ],
)
def test_says_none_to_what_only_jinja_can_read(text: str) -> None:
    assert scan(model(text)) is None


STRINGS = st.sampled_from(["'a'", '"b"', "''", "'b'", "'a'"])
SCALARS = STRINGS | st.sampled_from(["1", "-2", "0", "1.5", "-0.25", "true", "False", "none", "None"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.builds(
            lambda items, end: f"[{', '.join(items)}{end}]", st.lists(inner, max_size=3), st.sampled_from(["", " "])
        )
        | st.builds(lambda items: f"({','.join(items)})", st.lists(inner, max_size=3))
        | st.builds(lambda item: f"({item} , )", inner)
        | st.builds(lambda key, value: f"{{{key}: {value}}}", SCALARS, inner)
    ),
    max_leaves=6,
)
KEYS = st.sampled_from(["schema", "tags", "meta", "a", "class"])
TAGS = st.one_of(
    st.builds("ref({})".format, STRINGS),
    st.builds("ref( {} ,{})".format, STRINGS, STRINGS),
    st.builds("changes({})".format, STRINGS),
    st.builds("changes( {} ,{})".format, STRINGS, STRINGS),
    st.builds("source({},\n{})".format, STRINGS, STRINGS),
    st.builds("var({})".format, STRINGS),
    st.builds("var({}, {})".format, STRINGS, SCALARS),
    st.builds("env_var({})|upper|replace('a', 'b')".format, STRINGS),
    st.builds("var({})|string|default(1, true)".format, STRINGS),
    st.sampled_from(["this", "this.schema", "this . name", "target.schema", "model_name", "target.name|upper"]),
    st.builds(
        lambda pairs, end: f"config({', '.join(f'{key} = {value}' for key, value in pairs)}{end})",
        st.lists(st.tuples(KEYS, VALUES), max_size=3),
        st.sampled_from(["", " ", "\n"]),
    ),
)
OPENINGS, CLOSINGS = st.sampled_from(["{{ ", "{{", "{{-", "{{\n"]), st.sampled_from([" }}", "}}", " -}}", "\n}}"])
PIECES = st.one_of(
    st.builds("{}{}{}".format, OPENINGS, TAGS, CLOSINGS),
    st.sampled_from([" select ", "\n", "{# {{ ref('z') }} #}", "{#- x -#}", "{", "}", "-- é\n", "'{ {'", ""]),
)
FILES = st.lists(PIECES, max_size=6).map("".join)
TOKENS = [
    "{{",
    "}}",
    "{#",
    "#}",
    "'a'",
    "(",
    ")",
    ",",
    "[",
    "]",
    "{",
    "}",
    ":",
    "=",
    "-",
    " ",
    "1",
    "|upper",
    "~ 'a'",
    ".",
]


@st.composite
def damaged_files(draw: st.DrawFn) -> str:
    text = draw(FILES)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 2))
        text = text[:at] + draw(st.sampled_from(["", *TOKENS])) + text[at + cut :]
    return text


def assert_agrees_with_rendering(text: str) -> None:
    captured = scan(model(text))
    if captured is not None:
        try:
            rendered = TEMPLATES.render(model(text), CONTEXT).captured
        except ProblemsError as error:
            # A filter that does not exist, or does not take its arguments, captures nothing.
            assert {problem.code for problem in error.problems} <= {"undefined-name", "jinja-runtime"}
            return
        assert captured == rendered
        # 1 == True == 1.0 in Python, and not in a config.
        assert repr(captured.config.values) == repr(rendered.config.values)


@given(FILES)
def test_agrees_with_rendering(text: str) -> None:
    assert_agrees_with_rendering(text)


@given(damaged_files())
def test_agrees_with_rendering_on_damaged_files(text: str) -> None:
    assert_agrees_with_rendering(text)


@pytest.mark.nightly
@given(FILES | damaged_files())
@settings(max_examples=10_000, deadline=None)
def test_agrees_with_rendering_on_many_files(text: str) -> None:
    assert_agrees_with_rendering(text)
