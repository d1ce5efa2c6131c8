"""Rows of unit tests as queries: types, NULLs, and what is refused with row and column."""

from datetime import date, datetime

import pytest

from merge_runner.testing.rows import Rows, read_rows, rows_query

INT = {"id": "int", "day": "date"}


@pytest.mark.parametrize(
    ("rows", "types", "query"),
    [
        (
            Rows(({"id": 1}, {"day": date(2024, 1, 2)})),
            INT,
            "SELECT CAST(c0 AS int) AS id, CAST(c1 AS date) AS day FROM VALUES\n"
            "  ('1', NULL), \n  (NULL, '2024-01-02')\nAS given(c0, c1)",
        ),
        (Rows(), INT, "SELECT CAST(NULL AS int) AS id, CAST(NULL AS date) AS day WHERE false"),
        (
            Rows(({"ID": 1, "more": "it's"},)),
            {"id": None},
            "SELECT CAST(c0 AS int) AS id, CAST(c1 AS string) AS more FROM VALUES\n  ('1', 'it\\'s')\nAS given(c0, c1)",
        ),
        (
            Rows(({"big": 2**40, "flag": True, "at": datetime(2024, 1, 1, 5), "none": None},)),
            {},
            "SELECT CAST(c0 AS bigint) AS big, CAST(c1 AS boolean) AS flag, CAST(c2 AS timestamp) AS at, c3 AS none "
            "FROM VALUES\n  ('1099511627776', 'true', '2024-01-01 05:00:00', NULL)\nAS given(c0, c1, c2, c3)",
        ),
        (
            Rows(({"odd name": [1, 2.5], "s": {"a": [True]}},)),
            {},
            "SELECT from_json(c0, 'array<double>', map('mode', 'FAILFAST')) AS `odd name`, "
            "from_json(c1, 'struct<a: array<boolean>>', map('mode', 'FAILFAST')) AS s FROM VALUES\n"
            "  ('[1, 2.5]', '{\"a\": [true]}')\nAS given(c0, c1)",
        ),
    ],
    ids=["missing columns", "no rows", "names without case", "types of values", "nested"],
)
def test_rows_as_a_query(rows, types, query):
    assert rows_query(rows, types) == query


def test_a_query_gets_the_declared_types_and_the_columns_that_it_lacks():
    query = rows_query(Rows(sql="select 1 as ID, 2 as more"), INT, names=("ID", "more"))
    assert query == (
        "SELECT CAST(given.ID AS int) AS id, CAST(NULL AS date) AS day, given.more AS more "
        "FROM (\nselect 1 as ID, 2 as more\n) AS given"
    )


@pytest.mark.parametrize(
    ("rows", "types", "message"),
    [
        (Rows(({"id": 1}, {"id": "x"})), INT, "row 2, column id: 'x' is no int"),
        (Rows(({"id": 1.5},)), INT, "row 1, column id: '1.5' is no int"),
        (Rows(({"day": "tomorrow"},)), INT, "row 1, column day: 'tomorrow' is no date"),
        (Rows(({"d": "1,5"},)), {"d": "decimal(5, 2)"}, "row 1, column d: '1,5' is no decimal(5, 2)"),
        (Rows(({"n": 200},)), {"n": "tinyint"}, "row 1, column n: '200' is no tinyint"),
        (Rows(({"at": "soon"},)), {"at": "timestamp"}, "row 1, column at: 'soon' is no timestamp"),
        (Rows(({"b": "maybe"},)), {"b": "boolean"}, "row 1, column b: 'maybe' is no boolean"),
        (Rows(), {}, "no row is given, and no column is known"),
    ],
)
def test_what_its_type_does_not_hold_is_refused(rows, types, message):
    with pytest.raises(ValueError) as raised:
        rows_query(rows, types)
    assert str(raised.value) == message


def test_csv_has_a_header_and_empty_values_are_null():
    rows = read_rows('\nid, name\n1, a\n2,\n\n3,"x, y"\n', "csv")
    assert rows == Rows(({"id": "1", "name": "a"}, {"id": "2", "name": None}, {"id": "3", "name": "x, y"}), None, True)
    with pytest.raises(ValueError, match="row 1 has 1 values, and the header 2 names"):
        read_rows("a,b\n1\n", "csv")
