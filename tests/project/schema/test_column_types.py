"""Which declared types are reported as none of Spark's: misspelled ones, and never one that Spark takes."""

import pytest

from merge_runner.api import Project
from merge_runner.formats.types import KNOWN
from merge_runner.project.schema.column_types import unknown_type


@pytest.mark.parametrize(
    ("text", "close"),
    [("integr", "integer"), ("Strng", "string"), ("decimall(10, 2)", "decimal"), ("timestmp", "timestamp")],
)
def test_a_misspelled_type(text, close):
    assert unknown_type(text) == (f'Spark has no type "{text.split("(")[0]}"', f'did you mean "{close}"?')


@pytest.mark.parametrize(
    "text",
    [
        *sorted(KNOWN),
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
def test_what_spark_may_take(text):
    assert unknown_type(text) is None


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
