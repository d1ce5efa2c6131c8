"""Values as literals and as a condition: cases in bound_predicates.yml, and what holds of all of them."""

from decimal import Decimal
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.formats.types import parse_type
from merge_runner.pruning.runtime_filter import bound_predicate as module
from merge_runner.pruning.runtime_filter.bound_literal import OutOfRangeError, literal_type
from merge_runner.pruning.runtime_filter.bound_predicate import (
    MOST_RANGES,
    BoundValues,
    Told,
    ValueRange,
    bound_predicate,
)

CASES = yaml.safe_load((Path(__file__).parent / "bound_predicates.yml").read_text(encoding="utf-8"))


def values(kind, keys, null=False):
    told = []
    for key in sorted(set(keys) - {None}):
        literal = kind.literal(key)
        if literal is not None:
            told.append(ValueRange(Told(key, literal), Told(key, literal)))
    return BoundValues(tuple(told), kind.step, null and None in keys)


@pytest.mark.parametrize("case", CASES)
def test_bound_predicate(case, monkeypatch):
    monkeypatch.setattr(module, "MOST_RANGES", case.get("ranges", MOST_RANGES))
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
    found = bound_predicate("t.p", values(kind, keys, case.get("with_null", False)), listed=case.get("listed", 1))
    assert (found.text, found.words) == (case["text"], case["words"])


@given(st.sets(st.integers(-(10**6), 10**6), min_size=1, max_size=200), st.integers(1, 300))
def test_every_value_passes_and_the_ends_are_values(keys, listed):
    kind = literal_type(parse_type("int"), parse_type("int"))
    text = bound_predicate("p", values(kind, keys), listed=listed).text
    passed = [key for key in keys if _passes(text, key)]
    assert sorted(passed) == sorted(keys)
    assert text.count("BETWEEN") + text.count("=") <= MOST_RANGES


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
