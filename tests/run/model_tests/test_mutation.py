"""Which changes of a MERGE its unit tests notice, on real Spark."""

import pytest

from merge_runner import Project
from merge_runner.engine.driver.driver_source import GivenDriver
from merge_runner.errors import ProblemsError
from merge_runner.run.model_tests.mutation import mutation_check
from merge_runner.run.results.events import Events

YML = """
sources: [{name: raw, tables: [{name: s, columns: [{name: id, data_type: int}, {name: v, data_type: int}]}]}]
models:
  - {name: fct, columns: [{name: id, data_type: int}, {name: v, data_type: int}]}
unit_tests:
  - name: larger values win
    model: fct
    given:
      - {input: this, rows: [{id: 1, v: 1}, {id: 2, v: 5}]}
      - {input: "source('raw', 's')", rows: [{id: 1, v: 2}, {id: 2, v: 4}]}
    expect: {rows: [{id: 1, v: 2}, {id: 2, v: 5}]}
  - name: new rows are added
    model: fct
    given: [{input: "source('raw', 's')", rows: [{id: 3, v: 3}]}]
    expect: {rows: [{id: 3, v: 3}]}
"""
MERGE = """
merge into {{ this }} as t using {{ source('raw', 's') }} as s on t.id = s.id
when matched and s.v > t.v  -- survives: equal values are equal
then update set *
when not matched and s.v is not null then insert *
"""


def check(root, driver=None):
    return mutation_check(Project.load(root).prepared, "fct", 2, Events(lambda _: None), GivenDriver(driver))


@pytest.mark.spark
def test_what_no_test_notices_survives_unless_its_line_explains_it(make_project, driver):
    report = check(make_project({"models/fct.sql": MERGE, "models/m.yml": YML}, "iceberg"), driver)
    found = {change.name: change for change in report.changes}
    assert found["clause 1"].noticed_by == "larger values win"
    assert found["clause 2"].noticed_by == "new rows are added"
    assert found["clause 2 value v"].noticed_by == "new rows are added"
    assert found["clause 1 comparison 1"].explained == "equal values are equal"
    assert [(change.words, str(change.place)) for change in report.surviving] == [
        ("WHEN NOT MATCHED THEN INSERT without its condition", "models/fct.sql:5:22")
    ]
    assert not report.ok
    assert len(report.changes) - len(report.surviving) == 9


@pytest.mark.spark
def test_nothing_is_changed_where_a_test_does_not_pass(make_project, driver):
    files = {"models/fct.sql": MERGE, "models/m.yml": YML.replace("{id: 3, v: 3}]}\n", "{id: 4, v: 3}]}\n", 1)}
    report = check(make_project(files), driver)
    assert list(report.failing) == ["new rows are added"]
    assert report.changes == ()
    assert not report.ok


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"models/other.sql": MERGE, "models/m.yml": YML.split("models:", maxsplit=1)[0]}, "unknown-model"),
        ({"models/fct.sql": MERGE, "models/m.yml": YML.split("unit_tests:", maxsplit=1)[0]}, "no-unit-tests"),
        ({"models/fct.sql": "select 1 as id"}, "not-a-merge"),
    ],
)
def test_a_model_that_cannot_be_checked(make_project, files, code):
    with pytest.raises(ProblemsError) as raised:
        check(make_project(files))
    assert [problem.code for problem in raised.value.problems] == [code]
