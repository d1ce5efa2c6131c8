"""A var that pyproject.toml declares as a number, date or boolean takes no other value."""

from datetime import date, datetime

import pytest

from merge_runner.errors import Problems
from merge_runner.project.declared_vars import typed_vars
from merge_runner.project.load import load

DECLARED = {
    **{"days": 7, "share": 0.5, "all": True, "since": date(2024, 1, 1), "at": datetime(2024, 1, 1, 12)},
    **{"region": "EU", "names": ["a"], "odd": float("nan")},
}


@pytest.mark.parametrize(
    ("name", "given", "taken"),
    [
        ("days", 9, 9),
        ("days", 9.5, 9.5),
        ("days", "9", 9),
        ("days", " -9 ", -9),
        ("share", "1e3", 1000.0),
        ("all", False, False),
        ("all", "False", False),
        ("since", date(2024, 2, 1), date(2024, 2, 1)),
        ("since", "2024-02-01", date(2024, 2, 1)),
        ("at", "2024-02-01 10:00:00", datetime(2024, 2, 1, 10)),
        ("region", 5, 5),
        ("names", "x", "x"),
        ("odd", "x", "x"),
        ("new", "'; drop", "'; drop"),
    ],
)
def test_a_value_of_the_type_is_taken(name, given, taken):
    problems = Problems()
    found = typed_vars(DECLARED, {name: given}, None, problems)
    assert not list(problems)
    assert found == {**DECLARED, name: taken}
    assert type(found[name]) is type(taken)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        *(("days", given) for given in ("1 or true", True, None, "nan", "", [1], date(2024, 1, 1))),
        *(("all", given) for given in (1, "yes please", "")),
        *(("since", given) for given in ("yesterday", 20240101, datetime(2024, 1, 1), "2024-01-01'")),
        *(("at", given) for given in (date(2024, 1, 1), "noon")),
    ],
)
def test_any_other_is_a_problem_that_does_not_show_it(name, given):
    problems = Problems()
    typed_vars(DECLARED, {name: given}, None, problems)
    (problem,) = problems
    assert problem.code == "invalid-vars"
    assert f'the var "{name}" is declared as a' in problem.message
    assert "1 or true" not in str(problem)


def test_the_problem_is_at_the_declaration(make_project):
    text = '[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.vars]\ndays = 7\n'
    root = make_project({"pyproject.toml": text})
    assert load(root, env={}, vars={"days": "8"}).vars == {"days": 8}
    with pytest.raises(Exception, match=r"pyproject.toml:4:1.*declared as a number") as raised:
        load(root, env={}, vars={"days": "many"})
    assert "--vars 'days: 15'" in raised.value.problems[0].hint
