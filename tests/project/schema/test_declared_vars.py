"""A var that pyproject.toml declares as a number, date or boolean takes no other value."""

from datetime import date, datetime

import pytest

from merge_runner.errors import Problems
from merge_runner.project.schema.declared_vars import typed_vars
from tests.project.conftest import load

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
def test_any_other_is_a_problem_that_shows_it(name, given):
    problems = Problems()
    typed_vars(DECLARED, {name: given}, None, problems)
    (problem,) = problems
    assert problem.code == "invalid-vars"
    assert f'the var "{name}" is declared as a' in problem.message
    assert repr(str(given)) in problem.message


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("since", "2024-02-30", "there is no such day: 2024-02-30"),
        ("at", "2023-02-29 10:00:00", "there is no such day: 2023-02-29"),
        ("since", "2024-02-01'", "the value given is "),
        ("days", "9" * 60 + "x" * 60, f"the value given is {'9' * 60!r}…"),
        ("api_token", "hunter2hunter2", "and another value is given"),
        ("days", "https://me:hunter2@host/", "and another value is given"),
    ],
)
def test_what_is_wrong_is_said_without_secrets(name, given, told):
    problems = Problems()
    typed_vars({**DECLARED, "api_token": 1}, {name: given}, None, problems)
    (problem,) = problems
    assert told in problem.message
    assert "hunter2" not in str(problem)


def test_the_problem_is_at_the_declaration(make_project):
    text = '[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.vars]\ndays = 7\n'
    root = make_project({"pyproject.toml": text})
    assert load(root, env={}, vars={"days": "8"}).vars == {"days": 8}
    with pytest.raises(
        Exception, match=r"^--vars: the var .days. is declared as a number in pyproject.toml:4:1, .*many"
    ) as raised:
        load(root, env={}, vars={"days": "many"})
    assert "--vars 'days: 15'" in raised.value.problems[0].hint
