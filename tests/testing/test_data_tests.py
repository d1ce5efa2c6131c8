"""The queries of data tests: each row that one gives is a failure."""

import pytest

from merge_runner.relation import Relation
from merge_runner.testing.data_tests import data_test_query

ORDERS = Relation("orders", "shop")


@pytest.mark.parametrize(
    ("test", "column", "arguments", "where", "query"),
    [
        ("not_null", "id", {}, "id > 1", "SELECT * FROM (SELECT * FROM shop.orders WHERE id > 1) WHERE id IS NULL"),
        *(
            (
                name,
                None,
                {key: ["id", "a line"]},
                None,
                "SELECT id, `a line`, count(*) AS n_records FROM shop.orders GROUP BY id, `a line` HAVING count(*) > 1",
            )
            for name, key in (
                ("unique_combination", "combination_of_columns"),
                ("unique_combination_of_columns", "combination_of_columns"),
                ("unique_combination", "columns"),
            )
        ),
        (
            "unique",
            None,
            {"column_name": "concat(id, n)"},
            None,
            "SELECT concat(id, n), count(*) AS n_records FROM shop.orders WHERE concat(id, n) IS NOT NULL "
            "GROUP BY concat(id, n) HAVING count(*) > 1",
        ),
        ("not_null", None, {"column_name": "a.b"}, None, "SELECT * FROM shop.orders WHERE a.b IS NULL"),
        (
            "accepted_values",
            None,
            {"column_name": "lower(s)", "values": ["a"]},
            None,
            "SELECT lower(s), count(*) AS n_records FROM shop.orders WHERE lower(s) NOT IN ('a') GROUP BY lower(s)",
        ),
        (
            "relationships",
            None,
            {"column_name": "trim(c)", "to": Relation("dim"), "field": "id"},
            None,
            "SELECT child.from_field FROM (SELECT trim(c) AS from_field FROM shop.orders) AS child "
            "LEFT ANTI JOIN dim AS parent ON child.from_field = parent.id WHERE child.from_field IS NOT NULL",
        ),
        (
            "row_count_between",
            None,
            {"min_value": 0, "max_value": 9},
            None,
            "SELECT count(*) AS row_count FROM shop.orders HAVING count(*) < 0 OR count(*) > 9",
        ),
        (
            "recency",
            "at",
            {"datepart": "hour", "interval": 24},
            None,
            "SELECT CAST(max(at) AS TIMESTAMP) AS most_recent FROM shop.orders HAVING CAST(max(at) AS TIMESTAMP) IS NULL "
            "OR CAST(max(at) AS TIMESTAMP) < CAST(timestampadd(HOUR, -24, current_timestamp()) AS TIMESTAMP)",
        ),
        (
            "recency",
            None,
            {
                "datepart": "day",
                "interval": 1,
                "field": "a + b",
                "group_by_columns": ["region"],
                "ignore_time_component": True,
            },
            None,
            "SELECT region, CAST(max(a + b) AS DATE) AS most_recent FROM shop.orders GROUP BY region "
            "HAVING CAST(max(a + b) AS DATE) IS NULL "
            "OR CAST(max(a + b) AS DATE) < CAST(timestampadd(DAY, -1, current_timestamp()) AS DATE)",
        ),
    ],
)
def test_queries(test, column, arguments, where, query):
    assert data_test_query(test, ORDERS, column, arguments, where) == query


@pytest.mark.parametrize(
    ("test", "arguments", "message"),
    [
        ("not_null", {}, "it belongs under a column"),
        ("recency", {"datepart": "day", "interval": 1}, "it belongs under a column"),
        ("row_count_between", {}, "it needs `min_value`, `max_value` or both"),
        ("unique_combination", {}, "argument `combination_of_columns` is missing"),
    ],
)
def test_what_is_missing_is_told(test, arguments, message):
    with pytest.raises(ValueError, match=message):
        data_test_query(test, ORDERS, None, arguments, None)
