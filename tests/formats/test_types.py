"""Types read from DDL text."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.formats.types import TYPE_NAMES, DataType, parse_type, unknown_type
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "types.yml")


@pytest.mark.parametrize(("text", "shown"), CASES)
def test_a_type_is_read_as_spark_reads_it(text, shown):
    found = parse_type(text)
    assert (None if found is None else str(found)) == shown


def _nested(inner):
    names = st.sampled_from(["a", "B", "c_1"])
    return st.one_of(
        inner.map(lambda item: DataType("array", fields=(("", item),))),
        st.tuples(inner, inner).map(lambda pair: DataType("map", fields=(("", pair[0]), ("", pair[1])))),
        st.lists(st.tuples(names, inner), max_size=3).map(lambda fields: DataType("struct", fields=tuple(fields))),
    )


PLAIN = st.sampled_from([DataType("int"), DataType("string"), DataType("decimal", 9, 2), DataType("char", length=3)])


@given(st.recursive(PLAIN, _nested, max_leaves=8))
def test_what_a_type_shows_is_read_as_the_same_type(data_type):
    assert parse_type(str(data_type)) == data_type


@given(st.text(max_size=40))
def test_any_text_is_a_type_or_none(text):
    found = parse_type(text)
    assert found is None or found.name


def test_a_deep_type_is_none_and_no_error():
    assert parse_type("array<" * 5000 + "int" + ">" * 5000) is None


@pytest.mark.parametrize(
    ("text", "leaves"), [("int", 1), ("struct<a:int,b:struct<c:int,d:date>>", 3), ("array<struct<a:int,b:int>>", 1)]
)
def test_leaves_are_those_of_structs(text, leaves):
    assert parse_type(text).leaves == leaves


@pytest.mark.parametrize(
    ("text", "close"),
    [("integr", "integer"), ("Strng", "string"), ("decimall(10, 2)", "decimal"), ("timestmp", "timestamp")],
)
def test_a_misspelled_type(text, close):
    assert unknown_type(text) == (f'Spark has no type "{text.split("(")[0]}"', f'did you mean "{close}"?')


@pytest.mark.parametrize(
    "text",
    [
        *sorted(TYPE_NAMES),
        *("BIGINT", "decimal(10,2)", "varchar(20)", "char(3)", "time(6)", "geometry(4326)", "geography", "variant"),
        *(
            "array<integr>",
            "struct<a: integr>",
            "map<string, int>",
            "interval day to second",
            "string collate UTF8_LCASE",
        ),
        *("int not null", "bigint generated always as identity", "timestamp without time zone", "`odd`", ""),
    ],
)
def test_a_type_that_spark_may_take_is_no_unknown_type(text):
    assert unknown_type(text) is None
