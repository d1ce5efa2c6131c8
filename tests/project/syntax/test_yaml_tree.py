"""YAML files as data with places."""

from __future__ import annotations

import datetime
from textwrap import dedent

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.errors import Problems
from merge_runner.project.syntax import yaml_compose
from merge_runner.project.syntax.yaml_tree import yaml_tree
from merge_runner.text import Place, SourceText


def read(text, *, clean=True):
    """The tree of a text, and the problems with it as their messages say them."""
    problems = Problems()
    tree = yaml_tree(SourceText("a.yml", dedent(text)), problems)
    found = [str(problem) for problem in problems]
    if clean:
        assert found == []
        return tree
    return tree, found


def test_an_empty_file_has_no_data():
    assert read("").data is None
    assert read("# only a comment\n").data is None
    assert read("").place(("models", 0)) == Place("a.yml", 1, 1)


def test_places_are_those_of_keys_and_values():
    tree = read("""\
        models:
          - name: a
            config: {tags: [x, "y"]}
        """)
    assert tree.data == {"models": [{"name": "a", "config": {"tags": ["x", "y"]}}]}
    assert tree.key_place(("models", 0, "config")) == Place("a.yml", 3, 5, 3, 11)
    assert tree.place(("models", 0, "config", "tags", 1)) == Place("a.yml", 3, 24, 3, 27)
    assert tree.place(("models", 0)) == Place("a.yml", 2, 5)


def test_the_place_of_what_is_not_there_is_that_of_what_is_around_it():
    tree = read("models:\n  - name: a\n")
    assert tree.place(("models", 0, "columns", 3)) == tree.place(("models", 0))


def test_columns_count_characters_and_lines_those_of_editors():
    tree = read("é: 'ü'\nb: \"\u2028\"\nc: 1\n")
    assert tree.place(("é",)) == Place("a.yml", 1, 4, 1, 7)
    assert tree.key_place(("c",)) == Place("a.yml", 3, 1, 3, 2)


def test_keys_are_text_as_written():
    assert read("1.10: a\ntrue: b\nno: c\n2013-01-01: d\n").data == {
        "1.10": "a", "true": "b", "no": "c", "2013-01-01": "d",
    }  # fmt: skip


def test_the_text_of_a_scalar_is_as_written():
    tree = read("a: 1.10\nb: '1.10'\nc: [TRUE]\nd:\ne: 2013-01-01\n")
    assert tree.data == {"a": 1.1, "b": "1.10", "c": [True], "d": None, "e": datetime.date(2013, 1, 1)}
    assert [tree.text((key,)) for key in "abcde"] == ["1.10", "1.10", None, None, "2013-01-01"]
    assert tree.text(("c", 0)) == "TRUE"


def test_quotes_and_tags_decide_over_the_looks_of_a_scalar():
    assert read("a: !!str 1.10\nb: ! '12'\nc: !!int '3'\nd: !!float 2\ne: !!timestamp '2013-01-01'\n").data == {
        "a": "1.10", "b": "12", "c": 3, "d": 2.0, "e": datetime.date(2013, 1, 1),
    }  # fmt: skip


def test_anchors_aliases_and_merge_keys_work():
    tree = read("""\
        base: &base {format: csv, options: &o {header: true}}
        one: {<<: *base, format: json}
        two: {<<: [{x: 1}, *base], y: *o}
        """)
    assert tree.data["one"] == {"format": "json", "options": {"header": True}}
    assert tree.data["two"] == {"x": 1, "format": "csv", "options": {"header": True}, "y": {"header": True}}
    assert tree.key_place(("one", "options")) == tree.key_place(("base", "options"))


def test_a_quoted_merge_key_is_a_plain_key():
    assert read("a: {'<<': {b: 1}}").data == {"a": {"<<": {"b": 1}}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a: 1\nb: 2\na: 3\n",
            'a.yml:3:1: the key "a" appears twice in one mapping, first in line 1 [duplicate-key]\n'
            "    remove it in line 1 or in line 3",
        ),
        (
            "a: {{ x }}\n",
            "a.yml:1:4: a key must be text, not a collection [invalid-key]\n"
            '    quote the text that holds {{ }}: "{{ … }}"',
        ),
        ("? [a]\n: b\n", "a.yml:1:3: a key must be text, not a collection [invalid-key]"),
        ("a\n---\nb\n", "a.yml:2:1: a second YAML document begins here [several-documents]\n    keep one per file"),
        ("a: *b\n", "a.yml:1:4: the alias *b has no anchor &b that ends before it [unknown-alias]"),
        ("a: &b [*b]\n", "a.yml:1:8: the alias *b has no anchor &b that ends before it [unknown-alias]"),
        (
            "a: !!python/name:os.system x\n",
            "a.yml:1:4: the YAML tag !!python/name:os.system is not supported [unknown-tag]\n"
            "    write the value without a tag",
        ),
        ("a: !!int x\n", "a.yml:1:4: this is no int [invalid-value]"),
        ("<<: 3\n", "a.yml:1:5: << must be followed by a mapping or a list of mappings [invalid-value]"),
        (
            "a: b: c\n",
            'a.yml:1:5: not YAML: mapping values are not allowed in this context [yaml-syntax]\n'
            '    quote a text that holds ": "',
        ),
        (
            "a:\n\t- x\n",
            "a.yml:2:1: not YAML: found character that cannot start any token [yaml-syntax]\n"
            "    indent with spaces, and quote a text that starts with a sign such as @ ` or %",
        ),
        (
            "a: {b\nc: d\n",
            "a.yml:2:2: not YAML: did not find expected ',' or '}' "
            "(while parsing a flow mapping that begins in line 1) [yaml-syntax]\n"
            "    a bracket is not closed, or a comma is missing",
        ),
        (
            "a: 'x\n",
            "a.yml:2:1: not YAML: found unexpected end of stream "
            "(while scanning a quoted scalar that begins in line 1) [yaml-syntax]\n"
            "    a quote is not closed",
        ),
        (
            "a: \x00\n",
            "a.yml:1:4: the character U+0000 is not allowed in YAML [yaml-syntax]\n"
            '    write it as an escape in a "quoted" text',
        ),
        ("- " * 101 + "a", "a.yml:1:201: more than 100 levels of nesting [yaml-too-deep]"),
    ],
)  # fmt: skip
def test_a_problem_names_its_place_and_what_to_do(text, message):
    assert read(text, clean=False)[1] == [message]


def test_reading_goes_on_behind_a_duplicate_key():
    tree, found = read("a: 1\na: 2\nb: 3\nb: 4\n", clean=False)
    assert tree.data == {"a": 1, "b": 3}
    assert len(found) == 2


def test_aliases_that_multiply_are_stopped():
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
    )
    tree, found = read(bomb, clean=False)
    assert tree is None
    assert [line.split(": ", 1)[1] for line in found] == [
        "the aliases of this file expand to more than 100,000 values [yaml-too-large]"
    ]


def test_aliases_that_nest_too_deep_are_stopped():
    chain = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [[[*a{n - 1}]]]\n" for n in range(1, 40))
    assert read(chain, clean=False)[1] == ["a.yml:34:14: more than 100 levels of nesting [yaml-too-deep]"]


def test_an_alias_may_be_a_key():
    assert read("a: &a 1.10\n*a : x\nb: &b <<\nc: {*b : 1}\n").data == {
        "a": 1.1, "1.10": "x", "b": "<<", "c": {"<<": 1},
    }  # fmt: skip


def test_nesting_too_deep_for_any_stack_is_stopped():
    assert read("- " * 200_000 + "a", clean=False)[0] is None
    assert read("[" * 200_000, clean=False)[0] is None


_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff\ufffe\uffff"), max_size=20)
_SCALAR = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False)
    | st.dates(datetime.date(1000, 1, 1))
    | st.datetimes(datetime.datetime(1000, 1, 1))
    | _TEXT
)
_DATA = st.recursive(_SCALAR, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4))


def paths(data, at=()):
    if isinstance(data, dict):
        for key, value in data.items():
            yield (*at, key)
            yield from paths(value, (*at, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from paths(value, (*at, index))


@given(_DATA, st.booleans(), st.booleans())
def test_what_pyyaml_dumps_comes_back_and_every_key_is_found_at_its_place(data, flow, unicode):
    source = SourceText("a.yml", yaml.safe_dump(data, default_flow_style=flow, allow_unicode=unicode))
    problems = Problems()
    tree = yaml_tree(source, problems)
    assert not list(problems)
    assert tree.data == data
    for path in paths(data):
        place = tree.key_place(path)
        start = source.offset(place.line, place.column)
        written = source.text[start : source.offset(place.end_line, place.end_column)]
        assert yaml.load(written, yaml.BaseLoader) == path[-1]


@pytest.mark.parametrize("text", ["a: {b: [1, 'x', é]}\n", "a: &x {b: 1}\nc: *x\n", "", "a: |\n  b\nc: >\n  d\n"])
def test_the_parser_without_libyaml_reads_the_same(text, monkeypatch):
    fast = read(text)
    monkeypatch.setattr(yaml_compose, "_parser", yaml_compose._PythonParser)
    slow = read(text)
    assert slow.data == fast.data
    assert [slow.key_place(path) for path in paths(slow.data)] == [fast.key_place(path) for path in paths(fast.data)]
