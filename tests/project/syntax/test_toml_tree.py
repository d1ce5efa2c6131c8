"""TOML files as data with places."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.errors import Problems
from merge_runner.project.syntax.toml_tree import toml_tree
from merge_runner.text import Place, SourceText


def read(text):
    problems = Problems()
    tree = toml_tree(SourceText("pyproject.toml", dedent(text)), problems)
    return tree, [str(problem) for problem in problems]


def test_keys_and_values_are_found_in_every_form_of_table():
    tree, found = read("""\
        top = 1.10          # a comment with "quotes" = [x]
        dotted.key = 'a'
        [tool."merge-runner".models]
        format = "delta"
        staging = { materialized = "view", x.tags = [1, [2]] }

        [[tool.hatch]]
        a = 1
        [[tool.hatch]]
        b = \"\"\"
        [not.a.table]
        c = 3 \\\\\"\"\"\"\"
        list = [
          "one",  # ]
          2,
        ]
        [tool.hatch.below]
        d = 1979-05-27 07:32:00
        """)
    assert found == []
    assert tree.text(("top",)) == "1.10"
    assert tree.key_place(("dotted", "key")) == Place("pyproject.toml", 2, 8, 2, 11)
    models = ("tool", "merge-runner", "models")
    assert tree.place(models) == Place("pyproject.toml", 3, 1, 3, 29)
    assert tree.key_place(models) == Place("pyproject.toml", 3, 22, 3, 28)
    assert tree.key_place((*models, "staging", "x", "tags")) == Place("pyproject.toml", 5, 38, 5, 42)
    assert tree.text((*models, "staging", "x", "tags", 1, 0)) == "2"
    assert tree.place(("tool", "hatch", 0, "a")).line == 8
    assert tree.place(("tool", "hatch", 1, "list", 1)) == Place("pyproject.toml", 15, 3, 15, 4)
    assert tree.text(("tool", "hatch", 1, "below", "d")) == "1979-05-27 07:32:00"


def test_a_table_is_a_tree_of_its_own():
    tree = read("[tool.merge-runner]\nname = 'a'\n")[0].at("tool", "merge-runner")
    assert tree.data == {"name": "a"}
    assert tree.key_place(("name",)) == Place("pyproject.toml", 2, 1, 2, 5)
    assert tree.place(("profile",)) == Place("pyproject.toml", 1, 1, 1, 20)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\nb = = 2\n", "pyproject.toml:2:5: not TOML: Invalid value [toml-syntax]"),
        ("a = 1\na = 2\n", "pyproject.toml:2:6: not TOML: Cannot overwrite a value [toml-syntax]"),
        (
            "[tool]\n+tags = 'a'\n",
            "pyproject.toml:2:1: not TOML: Invalid statement [toml-syntax]\n"
            "    quote a key that starts with +, or leave the + out",
        ),
    ],
)
def test_what_is_not_toml_is_told_with_its_place(text, message):
    tree, found = read(text)
    assert tree is None
    assert found == [message]


_KEY = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6) | st.sampled_from(["a", "b-c", "d_1"])
_LEAF = st.integers(-99, 99) | st.booleans() | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)
_LIST = st.lists(_LEAF | st.lists(_LEAF, max_size=2) | st.dictionaries(_KEY, _LEAF, max_size=2), max_size=3)
_TABLE = st.recursive(
    st.dictionaries(_KEY, _LEAF | _LIST, max_size=3),
    lambda inner: st.dictionaries(_KEY, _LEAF | _LIST | inner, max_size=3),
    max_leaves=8,
)


def key(draw, name):
    plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    quoted = [json.dumps(name, ensure_ascii=False)] + ([f"'{name}'"] if "'" not in name else [])
    return draw(st.sampled_from(quoted + ([name] if plain else [])))


def inline(draw, value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key(draw, name)} = {inline(draw, each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        gap = draw(st.sampled_from([" ", "\n  ", " # ] comment\n"]))
        return f"[{gap}" + f",{gap}".join(inline(draw, each) for each in value) + f"{gap}]"
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return draw(st.sampled_from([text, f'""{text}""']))
    return json.dumps(value)


def lines(draw, table, header):
    """A table in one of the forms that TOML has for it: pairs, dotted keys, inline tables, headers."""
    later = []
    for name, value in table.items():
        form = draw(st.sampled_from(["inline", "dotted", "header"])) if isinstance(value, dict) and value else "inline"
        if form == "header":
            later.append((name, value))
        elif form == "dotted":
            outer = key(draw, name)
            for inner, each in value.items():
                yield f"{outer} . {key(draw, inner)} = {inline(draw, each)}"
        else:
            yield f"{key(draw, name)}={inline(draw, value)}  # a comment"
    for name, value in later:
        path = [*header, key(draw, name)]
        yield f"[ {'.'.join(path)} ]"
        yield from lines(draw, value, path)


def leaves(data, at=()):
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for step, value in items:
        yield (*at, step), value
        yield from leaves(value, (*at, step))


@st.composite
def documents(draw):
    table = draw(_TABLE)
    return table, "\n".join(lines(draw, table, []))


@given(documents())
def test_every_key_and_value_is_found_where_it_stands(document):
    data, text = document
    source = SourceText("pyproject.toml", text)
    problems = Problems()
    tree = toml_tree(source, problems)
    assert not list(problems)
    assert tree.data == data

    def written(place):
        return text[source.offset(place.line, place.column) : source.offset(place.end_line, place.end_column)]

    for path, value in leaves(data):
        if isinstance(path[-1], str):
            name = written(tree.key_place(path))
            assert (json.loads(name) if name[0] == '"' else name.strip("'") if name[0] == "'" else name) == path[-1]
        if isinstance(value, bool | int):
            assert json.loads(written(tree.place(path))) == value


def test_a_text_that_is_nested_without_end_is_a_problem():
    problems = Problems()
    assert toml_tree(SourceText("pyproject.toml", "a = " + "[" * 5000), problems) is None
    assert [(problem.code, str(problem.place)) for problem in problems] == [("toml-syntax", "pyproject.toml:1:1")]
