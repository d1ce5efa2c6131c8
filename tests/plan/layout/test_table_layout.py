"""What YAML declares of a table's columns and checks, as its DDL needs it."""

from pydantic import TypeAdapter

from merge_runner.plan.layout.table_layout import table_checks, table_columns
from merge_runner.project.schema.properties import ModelProperties


def declared(**properties):
    return TypeAdapter(ModelProperties).validate_python({"name": "fct", **properties})


def test_a_column_is_not_null_by_itself_or_by_its_table():
    found = declared(
        columns=[
            {"name": "id", "data_type": "int"},
            {"name": "At"},
            {"name": "v", "constraints": [{"type": "not_null"}]},
            {"name": "w", "constraints": [{"type": "unique"}]},
        ],
        constraints=[{"type": "primary_key", "columns": ["id"]}, {"type": "not_null", "columns": ["`at`"]}],
    )
    assert [(column.name, column.nullable) for column in table_columns(found)] == [
        ("id", False),
        ("At", False),
        ("v", False),
        ("w", True),
    ]


def test_checks_of_columns_and_table_have_names():
    found = declared(
        columns=[
            {
                "name": "n",
                "constraints": [
                    {"type": "not_null"},
                    {"type": "check", "expression": "n > 0"},
                    {"type": "check", "name": "few", "expression": "n < 9"},
                ],
            }
        ],
        constraints=[{"type": "check", "expression": "n <> 5"}],
    )
    assert table_checks(found) == {"n_check_1": "n > 0", "few": "n < 9", "fct_check_0": "n <> 5"}


def test_nothing_is_declared():
    assert (table_columns(None), table_checks(None)) == ((), {})
