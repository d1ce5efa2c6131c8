import pytest

from merge_runner.merge.parse import parse
from merge_runner.pruning.predicate.tautology import truth


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("true", True),
        ("FALSE", False),
        ("1 = 1", True),
        ("1 = 1.0", True),
        ("1 = 0", False),
        ("2 > 1", True),
        ("'a' = 'a'", True),
        ("'a' <=> 'a'", True),
        ("not (1 <> 1)", True),
        ("t.a = 1 or true", True),
        ("t.a = 1 or not false", True),
        ("(true and (1 = 1))", True),
        ("t.a = 1 or false", None),
        ("'a' = 'A'", None),
        ("'1' = 1", None),
        ("null", None),
        ("null = null", None),
        ("not null", None),
        ("t.a = t.a", None),
        ("t.true", None),
    ],
)
def test_truth(condition, expected):
    statement = parse(f"merge into t using s on t.id = s.id when matched and {condition} then delete")
    assert statement.clauses[0].condition is not None
    assert truth(statement.clauses[0].condition.expression) is expected
