"""The clock of a statement, stopped: what asks for the time, and what only looks like it."""

from datetime import date, datetime

import pytest

from merge_runner.merge.clock import stopped_clock
from merge_runner.merge.splice import splice

DAY = date(2024, 2, 1)


@pytest.mark.parametrize(
    ("text", "stopped"),
    [
        ("current_date", "DATE'2024-02-01'"),
        ("Current_Date ( ) - 1", "DATE'2024-02-01' - 1"),
        ("curdate()", "DATE'2024-02-01'"),
        ("current_timestamp() > now()", "TIMESTAMP'2024-02-01 00:00:00' > TIMESTAMP'2024-02-01 00:00:00'"),
        ("localtimestamp", "TIMESTAMP_NTZ'2024-02-01 00:00:00'"),
        ("now, curdate", "now, curdate"),
        ("s.current_date", "s.current_date"),
        ("1 as current_date", "1 as current_date"),
        ("'current_date' -- current_date", "'current_date' -- current_date"),
        ("`current_date`", "`current_date`"),
        ("current_date.x", "current_date.x"),
    ],
)
def test_what_asks_for_the_time_is_a_literal(text, stopped):
    assert splice(text, stopped_clock(text, DAY, None)) == stopped


def test_there_is_one_clock():
    moment = datetime(2024, 2, 1, 10, 30)
    assert splice("current_date, now()", stopped_clock("current_date, now()", None, moment)) == (
        "DATE'2024-02-01', TIMESTAMP'2024-02-01 10:30:00'"
    )
    assert list(stopped_clock("current_date", None, None)) == []
