"""Plain scalars of YAML."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta, timezone

import pytest

from merge_runner.project.syntax.yaml_scalar import plain_scalar


@pytest.mark.parametrize("text", ["no", "NO", "off", "on", "yes", "y", "N", "Yes", "tRUE"])
def test_only_true_and_false_are_booleans(text):
    assert plain_scalar(text) == text


@pytest.mark.parametrize("text", ["true", "True", "TRUE", "false", "False", "FALSE"])
def test_true_and_false_are_booleans_in_three_spellings(text):
    assert plain_scalar(text) is (text.lower() == "true")


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_null_has_its_usual_spellings(text):
    assert plain_scalar(text) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("-12", -12), ("+3", 3), ("0x1F", 31), ("1.10", 1.1), ("-0.5", -0.5), (".5", 0.5), ("1.0e+3", 1000.0)],
)
def test_numbers_are_those_on_which_both_yaml_versions_agree(text, number):
    value = plain_scalar(text)
    assert value == number
    assert type(value) is type(number)


@pytest.mark.parametrize(
    "text", ["012", "1_000", "12:30", "0o14", "0b101", "1e3", "12e4567", "1.2.3", "1-2", "-", "+", "."]
)
def test_what_only_one_yaml_version_takes_for_a_number_stays_text(text):
    assert plain_scalar(text) == text


def test_infinities_and_nan_are_floats():
    assert plain_scalar(".inf") == math.inf
    assert plain_scalar("-.INF") == -math.inf
    assert math.isnan(plain_scalar(".nan"))


def test_a_number_of_more_digits_than_python_converts_stays_text():
    assert plain_scalar("9" * 5000) == "9" * 5000


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2013-01-31", date(2013, 1, 31)),
        ("2013-01-31 12:05:00", datetime.fromisoformat("2013-01-31 12:05:00")),
        ("2013-01-31T12:05:00.25", datetime.fromisoformat("2013-01-31 12:05:00.250000")),
        ("2013-01-31T12:05:00Z", datetime(2013, 1, 31, 12, 5, tzinfo=timezone.utc)),
        ("2013-01-31 12:05:00 -05:30", datetime(2013, 1, 31, 12, 5, tzinfo=timezone(-timedelta(hours=5, minutes=30)))),
    ],
)
def test_dates_and_timestamps_are_values(text, value):
    assert plain_scalar(text) == value


@pytest.mark.parametrize(
    "text", ["2013-02-30", "2013-01-31 25:00:00", "2013-01-31 12:00:00.123456789", "2013-01-31 12:00:00 +99:00"]
)
def test_a_date_that_cannot_be_or_would_lose_digits_stays_text(text):
    assert plain_scalar(text) == text
