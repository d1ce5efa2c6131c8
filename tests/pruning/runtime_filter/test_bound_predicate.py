"""Values as literals and as a condition: cases in bound_predicates.yml, and what holds of all of them."""

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.formats.types import parse_type
from merge_runner.pruning.runtime_filter.bound_literal import OutOfRangeError, exact_type, literal_of_text, literal_type
from merge_runner.pruning.runtime_filter.bound_predicate import (
    MOST_RANGES,
    BoundValues,
    KeyedLiteral,
    ValueRange,
    bound_predicate,
    merge_ranges,
)
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "bound_predicates.yml")


def values(kind, keys, null=False):
    told = []
    for key in sorted(set(keys) - {None}):
        literal = kind.literal(key)
        if literal is not None:
            told.append(ValueRange(KeyedLiteral(key, literal), KeyedLiteral(key, literal)))
    return BoundValues(tuple(told), kind.step, null and None in keys)


@pytest.mark.parametrize("case", CASES)
def test_bound_predicate(case):
    name, of = case["type"], case.get("of", case["type"])
    kind = literal_type(parse_type(name), parse_type(of if of != "decimal" else "decimal(10,1)"))
    if "keys" not in case:
        assert kind is None
        return
    keys = [Decimal(key) if "decimal" in of and key is not None else key for key in case["keys"]]
    if case.get("out_of_range"):
        with pytest.raises(OutOfRangeError):
            values(kind, keys)
        return
    listed, ranges = case.get("listed", 1), case.get("ranges", MOST_RANGES)
    found = bound_predicate("t.p", values(kind, keys, case.get("with_null", False)), most_values=listed, ranges=ranges)
    assert (found.text, found.words) == (case["text"], case["words"])


@pytest.mark.parametrize(
    ("kind", "text", "literal"),
    [
        ("int", "-5", "-5"),
        ("bigint", "9223372036854775807", "9223372036854775807L"),
        ("smallint", "7", "7S"),
        ("smallint", "40000", None),
        ("int", "1_000", None),
        ("int", " 5", None),
        ("int", "٣", None),
        ("date", "2024-02-29", "DATE '2024-02-29'"),
        ("date", "2023-02-29", None),
        ("date", "0000-01-01", None),
        ("date", "+12024-01-02", None),
        ("date", "20240102", None),
        ("decimal(5,2)", "-1.50", "CAST('-1.50' AS DECIMAL(5, 2))"),
        ("decimal(5,2)", "1000.00", None),
        ("decimal(5,2)", "0E-10", None),
        ("boolean", "true", "true"),
        ("boolean", "TRUE", None),
        ("timestamp", "-1000001", "TIMESTAMP '1969-12-31 23:59:58.999999Z'"),
        ("timestamp", "2024-01-02 00:00:00", None),
        ("timestamp_ntz", "2024-01-02 00:00:00", None),
        ("string", "a", "'a'"),
        ("string", "", "''"),
        ("string", "it's", "CAST(X'69742773' AS STRING)"),
        ("string", "a\\", "CAST(X'615c' AS STRING)"),
        ("string", "a\n", "CAST(X'610a' AS STRING)"),
        ("string", "${env:HOME}", "CAST(X'247b656e763a484f4d457d' AS STRING)"),
        ("string", "\udcff", None),
        ("string collate UTF8_LCASE", "a", None),
        ("char(3)", "a  ", None),
        ("varchar(3)", "a", None),
        ("double", "0.0", None),
        ("binary", "00", None),
    ],
)
def test_a_text_as_a_literal_of_its_type(kind, text, literal):
    parsed = exact_type(kind)
    assert (literal_of_text(parsed, text) if parsed is not None else None) == literal


@given(st.sets(st.integers(-(10**6), 10**6), min_size=1, max_size=200), st.integers(1, 300))
def test_every_value_passes_and_the_ends_are_values(keys, listed):
    kind = literal_type(parse_type("int"), parse_type("int"))
    text = bound_predicate("p", values(kind, keys), most_values=listed).text
    passed = [key for key in keys if _passes(text, key)]
    assert sorted(passed) == sorted(keys)
    assert text.count("BETWEEN") + text.count("=") <= MOST_RANGES


@given(st.sets(st.binary(max_size=20), min_size=1, max_size=100), st.integers(1, 40))
def test_every_text_passes(texts, most):
    kind = literal_type(parse_type("string"), parse_type("string"))
    text = bound_predicate("p", values(kind, {each.hex() for each in texts}), most_values=0, ranges=most).text
    ends = [each.split(" BETWEEN ")[-1].split(" = ")[-1].split(" AND ") for each in text.strip("()").split(" OR p")]
    assert len(ends) <= most
    literals = {each: kind.literal(each.hex()) for each in texts}
    for each in texts:
        assert any(_first(literals, pair[0]) <= each <= _first(literals, pair[-1]) for pair in ends), text


BYTES = st.lists(
    st.sampled_from([b"a", b"b", b"\x80", b"\xc3", "é".encode(), b"\xe2\x82", "\ufffd".encode(), "𐀀".encode(), b"\x00"])
).map(b"".join)


@given(BYTES, BYTES, BYTES)
def test_the_ends_of_a_text_meet_the_statistics_of_each_file_that_has_it(one, text, other):
    kind = literal_type(parse_type("string"), parse_type("string"))
    low, high = map(bytes.fromhex, kind.ends(text.hex()))
    assert low <= text <= high
    # What is no UTF-8 is U+FFFD in the statistics of a file.
    smallest, largest = (each.decode("utf-8", "replace").encode() for each in (min(one, text), max(text, other)))
    assert smallest <= high and low <= largest


def test_a_text_beyond_all_characters_has_no_ends():
    kind = literal_type(parse_type("string"), parse_type("string"))
    with pytest.raises(OutOfRangeError):
        kind.ends("61F48FBFBF")
    assert kind.ends("6100") == ("6100", "6100")


def test_ranges_that_overlap_are_one():
    def range_(first, last):
        return ValueRange(KeyedLiteral(first, str(first)), KeyedLiteral(last, str(last)))

    merged = merge_ranges([range_(5, 9), range_(1, 3), range_(3, 3), range_(2, 4), range_(10, 10), range_(6, 7)])
    assert merged == (range_(1, 4), range_(5, 9), range_(10, 10))


def _first(literals, literal):
    return next(each for each, said in literals.items() if said.strip("()") == literal.strip("()"))


def _passes(text, key):
    for part in text.strip("()").split(" OR "):
        words = part.split()
        if words[1] == "=" and key == int(words[2]):
            return True
        if words[1] == "BETWEEN" and int(words[2]) <= key <= int(words[4]):
            return True
        if words[1] == "IN" and key in {int(word.strip("(),")) for word in words[2:]}:
            return True
    return False
