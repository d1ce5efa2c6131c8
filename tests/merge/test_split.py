"""An expression of a statement, cut further: spans are those of the statement's text."""

import pytest

from merge_runner.merge.parse import parse
from merge_runner.merge.split import comparison_sides, equality_sides, split


def merge(on, clause="WHEN MATCHED THEN DELETE"):
    return parse(f"MERGE INTO t USING s ON {on} {clause}")


@pytest.mark.parametrize(
    ("condition", "sides"),
    [
        ("t.a = s.a", ("t.a", "=", "s.a")),
        ("t.a == s.a", ("t.a", "==", "s.a")),
        ("t.a <=> s.a + 1", ("t.a", "<=>", "s.a + 1")),
        ("t.a IS NOT DISTINCT FROM s.a", ("t.a", "<=>", "s.a")),
        ("( ( t.a = (s.a) ) )", ("t.a", "=", "(s.a)")),
        ("(t.a) = (s.a)", ("(t.a)", "=", "(s.a)")),
        ("(t.a IS NOT DISTINCT FROM s.a)", ("t.a", "<=>", "s.a")),
        ("t.a < s.a", ("t.a", "<", "s.a")),
        ("f(t.a = 1) >= s.a", ("f(t.a = 1)", ">=", "s.a")),
        ("t.a = s.a OR t.b", None),
        ("t.a AND s.a = t.a", None),
        ("NOT t.a = s.a", None),
        ("! t.a = s.a", None),
        ("t.a = s.a = t.b", None),
        ("t.a BETWEEN 1 AND 2 = s.a", None),
        ("t.a IS NULL", None),
        ("t.a OR t.b IS NOT DISTINCT FROM s.b", None),
        ("NOT t.a IS NOT DISTINCT FROM s.a", None),
        ("t.a = t.b IS NOT DISTINCT FROM s.a", None),
        ("t.a IS DISTINCT FROM s.a", None),
        ("t.a", None),
        ("(t.a)", None),
    ],
)
def test_sides_of_a_comparison(condition, sides):
    parsed = merge(f"({condition})" if " AND s" in condition else condition)
    found = comparison_sides(parsed.on[0])
    told = found and (found[0].of(parsed.text), found[1], found[2].of(parsed.text))
    assert told == sides
    equality = equality_sides(parsed.on[0])
    if sides is None or sides[1] not in ("=", "==", "<=>"):
        assert equality is None
    else:
        assert (equality[0].of(parsed.text), equality[1].of(parsed.text)) == (sides[0], sides[2])


@pytest.mark.parametrize(
    ("condition", "parts"),
    [
        ("t.a = 1", ["t.a = 1"]),
        ("t.a = 1 AND s.b BETWEEN 1 AND 2 AND (t.c OR t.d)", ["t.a = 1", "s.b BETWEEN 1 AND 2", "(t.c OR t.d)"]),
    ],
)
def test_a_condition_of_when_is_split_as_on_is(condition, parts):
    parsed = merge("t.id = s.id", f"WHEN MATCHED AND {condition} THEN DELETE")
    found = split(parsed.clauses[0].condition)
    assert [part.text for part in found] == parts
    assert [part.span.of(parsed.text) for part in found] == parts
    assert [part.expression for part in found] == [each.expression for each in merge(condition).on]
