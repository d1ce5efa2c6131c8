"""What is said about property files once they are put together."""

from merge_runner.api import Project


def test_a_misspelled_type_is_a_warning_at_its_place(make_project):
    yml = """\
version: 2
models:
  - name: m
    columns: [{name: id, data_type: integr}]
seeds:
  - name: s
    columns:
      - name: id
        data_type: bigin
sources:
  - name: raw
    tables: [{name: t, columns: [{name: id, data_type: stirng}]}]
"""
    files = {"models/m.sql": "select 1 as id", "models/m.yml": yml, "seeds/s.csv": "id\n1\n"}
    found = [problem for each in Project.load(make_project(files)).graph.warnings.values() for problem in each]
    assert {(str(problem.place), problem.code, problem.hint) for problem in found} == {
        ("models/m.yml:4:37", "unknown-type", 'did you mean "integer"?'),
        ("models/m.yml:9:20", "unknown-type", 'did you mean "bigint"?'),
        ("models/m.yml:12:56", "unknown-type", 'did you mean "string"?'),
    }
