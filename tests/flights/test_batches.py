"""The flights project's model with monthly batches, against numbers that are computed from the CSV files alone."""

import datetime as dt
import itertools

import pytest

from merge_runner import Project

from . import expected
from .project_copy import copy_of_days

pytestmark = [
    pytest.mark.spark,
    pytest.mark.nightly,
    pytest.mark.skipif(bool(expected.missing_files()), reason="the data is missing: run `make data`"),
]
WINDOW = (dt.date(2013, 1, 30), dt.date(2013, 2, 2))
PROFILES = """
flights:
  outputs:
    test: {{master: 'local[*]', schema: {schema}, warehouse: {warehouse}, threads: 2}}
"""


def carrier_days():
    """The rows of agg_carrier_day."""

    def key(flight):
        return flight.flight_date, flight.carrier

    flights = sorted(expected.all_flights(expected.END_OF_CORRECTIONS, WINDOW), key=key)
    for (day, carrier), of_day in itertools.groupby(flights, key):
        group = list(of_day)
        late = sum(max(flight.arr_delay, 0) for flight in group if flight.arr_delay is not None)
        yield day, carrier, len(group), sum(flight.status == "cancelled" for flight in group), late


def test_each_month_is_a_batch(driver, tmp_path):
    root = copy_of_days(tmp_path / "flights", "2013,1,30,", "2013,1,31,", "2013,2,1,")
    profiles = PROFILES.format(schema=f"flights_batches_{tmp_path.name}", warehouse=tmp_path / "warehouse")
    (root / "profiles.yml").write_text(profiles, encoding="utf-8")
    values = {"from": WINDOW[0].isoformat(), "to": WINDOW[1].isoformat(), "batches": True}

    def build(*select, start, end):
        project = Project.load(root, vars=values)
        exclude = ["resource_type:test", "resource_type:unit_test"]
        options = {"event_time_start": start, "event_time_end": end}
        results = project.build(select=select, exclude=exclude, driver=driver, lint=False, **options)
        assert results.ok, [result.message for result in results.results]
        batches = results["agg_carrier_day"].response.batches
        return [(batch["start"], batch["end"], batch["rows"]) for batch in batches]

    rows = list(carrier_days())
    months = [sum(row[0].month == month for row in rows) for month in (1, 2)]
    both = [("2013-01-01", "2013-03-01", len(rows))]
    assert build("+agg_carrier_day", start="2013-01-01", end="2013-03-01") == both
    # The same months again, one by one: nothing changes.
    assert build("agg_carrier_day", start="2013-02-10", end="2013-02-11") == [("2013-02-01", "2013-03-01", 0)]
    with driver.session() as session:
        name = Project.load(root, vars=values).graph.model("model.flights.agg_carrier_day").relation
        table = session.table(str(name)).orderBy("flight_date", "carrier").collect()
        assert [tuple(row) for row in table] == rows
        session.sql(f"DELETE FROM {name} WHERE flight_date >= '2013-02-01'")
    assert build("agg_carrier_day", start="2013-02-01", end="2013-03-01") == [("2013-02-01", "2013-03-01", months[1])]
