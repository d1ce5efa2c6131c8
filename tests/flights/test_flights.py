"""The flights project built on Spark, its tables against numbers that are computed from the CSV files alone.

`make test` builds two days of its flights, and what one aggregate reads. `make test-slow` builds the facts and what is made
of them by day and by month on a few days, window by window. `make test-nightly` builds all models so, and the whole year
with all tests.
"""

import datetime as dt
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.dbt_schemas import schema_errors
from tests.openlineage.validation import errors

from . import expected
from .expected import END_OF_CORRECTIONS, ROOT, YEAR
from .project_copy import copy_of_days, table_fingerprint

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(bool(expected.missing_files()), reason="the data is missing: run `make data`"),
]

DIMENSIONS = ("dim_airline", "dim_airport", "dim_plane", "dim_route")
MERGES = (
    *DIMENSIONS,
    *("fct_flight", "fct_weather_hour", "fct_cancellation"),
    *("agg_route_day", "agg_airport_day", "agg_carrier_month", "agg_plane_month", "agg_weather_month"),
    "top_route_month",
)

END_OF_JANUARY = (dt.date(2013, 1, 31), dt.date(2013, 2, 1))
OVER_THE_END_OF_JANUARY = (dt.date(2013, 1, 31), dt.date(2013, 2, 2))
NEXT_DAY = (dt.date(2013, 2, 2), dt.date(2013, 2, 3))
BOTH = (dt.date(2013, 1, 31), dt.date(2013, 2, 3))
BEFORE_CORRECTIONS = dt.date(2013, 2, 3)

AN_AGGREGATE = ("+agg_weather_month",)
NO_TESTS = ("resource_type:test", "resource_type:unit_test")
FACTS_AND_BELOW = ("fct_flight+", "fct_weather_hour+")
BY_DAY_AND_MONTH = ("+fct_cancellation", "+agg_route_day", "+agg_carrier_month")
OF_THESE = ("dim_airline", "fct_flight", "fct_cancellation", "agg_route_day", "agg_carrier_month")
WINDOWS = {
    "by day and month": (BY_DAY_AND_MONTH, BY_DAY_AND_MONTH, BY_DAY_AND_MONTH),
    "all": ((), FACTS_AND_BELOW, ("+fct_flight+",)),
}
"""What is built window by window: at first and at once, for the next day alone, and when corrections have come."""

PROFILES = """
flights:
  target: test
  outputs:
    test:
      master: local[*]
      schema: {schema}
      warehouse: {warehouse}
      threads: 2
      openlineage: {{transport: file}}
"""


@dataclass(frozen=True)
class Warehouse:
    """A warehouse of its own for the project. Its schema is its own too, since all tests share one catalog."""

    driver: Any
    folder: Path
    schema: str
    root: Path = ROOT

    def build(self, window, as_of=END_OF_CORRECTIONS, select=(), exclude=()):
        """Rows that each merge inserted, updated and deleted, by model, once all nodes have succeeded."""
        from merge_runner import Project

        profiles = PROFILES.format(schema=self.schema, warehouse=self.folder / "warehouse")
        (self.folder / "profiles.yml").write_text(profiles, encoding="utf-8")
        project = Project.load(
            self.root,
            vars={"from": window[0], "to": window[1], "as_of": as_of},
            profiles_dir=self.folder,
            target_path=str(self.folder / "target"),
        )
        run = project.build(select, exclude, driver=self.driver)
        assert [result for result in run.results if result.status not in ("success", "pass")] == []
        project.catalog()
        for name in ("run_results", "manifest", "catalog"):
            assert schema_errors(json.loads((self.folder / f"target/{name}.json").read_text())) == []
        lines = (self.folder / "target/openlineage.jsonl").read_text().splitlines()
        assert [error for line in lines for error in errors(json.loads(line))] == []
        ends = [event for event in map(json.loads, lines) if event["eventType"] == "COMPLETE"]
        assert {event["job"]["name"] for event in ends} >= {result.unique_id for result in run.results}
        responses = {result.unique_id.rpartition(".")[2]: result.adapter_response for result in run.results}
        kinds = ("rows_inserted", "rows_updated", "rows_deleted")
        return {name: tuple(responses[name][kind] for kind in kinds) for name in MERGES if name in responses}

    def differences(self, *windows, as_of=END_OF_CORRECTIONS, of=MERGES):
        """The tables `of` the project that do not hold what they should after `windows`: found and wanted fingerprint."""
        tables = expected.tables(*windows, as_of=as_of)
        wanted = {name: expected.fingerprint(tables[name]) for name in of}
        found = {name: table_fingerprint(self.driver.spark, f"{self.schema}.{name}") for name in wanted}
        return {name: (found[name], wanted[name]) for name in wanted if found[name] != wanted[name]}

    def catalog(self):
        """The types of columns by table, as catalog.json and as Spark has them."""
        nodes = json.loads((self.folder / "target/catalog.json").read_text())["nodes"].values()
        found = [each for each in nodes if each["metadata"]["type"] == "table"]
        own = {each["metadata"]["name"]: {k: c["type"] for k, c in each["columns"].items()} for each in found}
        return own, {name: dict(self.driver.spark.table(f"{self.schema}.{name}").dtypes) for name in own}


def changed(rows):
    """Of rows inserted, updated and deleted by model: the models with any."""
    return {name: counts for name, counts in rows.items() if any(counts)}


@dataclass
class History:
    """What the builds of one warehouse did to its rows, and how far its tables were off behind them."""

    models: frozenset[str] = frozenset()
    rows: dict[str, dict[str, tuple[int, int, int]]] = field(default_factory=dict)
    differences: dict[str, dict[str, Any]] = field(default_factory=dict)
    catalog: tuple[dict[str, Any], dict[str, Any]] = ({}, {})


@pytest.fixture(scope="module")
def two_days(driver, tmp_path_factory):
    """Two days as they were known then."""
    folder = tmp_path_factory.mktemp("two_days")
    root = copy_of_days(folder / "project", "2013,1,31,", "2013,2,1,")
    warehouse = Warehouse(driver, folder, "flights_two_days", root)
    history = History()
    built = warehouse.build(OVER_THE_END_OF_JANUARY, BEFORE_CORRECTIONS, AN_AGGREGATE, NO_TESTS)
    history.rows["built"] = built
    history.differences["built"] = warehouse.differences(OVER_THE_END_OF_JANUARY, as_of=BEFORE_CORRECTIONS, of=built)
    history.catalog = warehouse.catalog()
    return history


@pytest.fixture(scope="module")
def year(driver, tmp_path_factory):
    warehouse = Warehouse(driver, tmp_path_factory.mktemp("year"), "flights_year")
    history = History()
    history.rows["built"] = warehouse.build(YEAR)
    history.differences["built"] = warehouse.differences(YEAR)
    return history


@pytest.fixture(scope="module", params=["by day and month", pytest.param("all", marks=pytest.mark.nightly)])
def windows(request, driver, tmp_path_factory):
    first, of_a_day, corrected = WINDOWS[request.param]
    folder = tmp_path_factory.mktemp("windows")
    root = copy_of_days(folder / "project", "2013,1,31,", "2013,2,1,", "2013,2,2,")
    warehouse = Warehouse(driver, folder, f"flights_windows_{request.param_index}", root)
    history = History()
    names = warehouse.build(OVER_THE_END_OF_JANUARY, BEFORE_CORRECTIONS, first, NO_TESTS).keys()
    warehouse.build(NEXT_DAY, BEFORE_CORRECTIONS, of_a_day, NO_TESTS)
    history.differences["one by one"] = warehouse.differences(BOTH, as_of=BEFORE_CORRECTIONS, of=names)
    history.rows["at once"] = warehouse.build(BOTH, BEFORE_CORRECTIONS, first, (*NO_TESTS, *DIMENSIONS))
    history.rows["corrected"] = warehouse.build(END_OF_JANUARY, select=corrected, exclude=(*NO_TESTS, *DIMENSIONS))
    history.differences["corrected"] = warehouse.differences(BOTH, of=names)
    history.rows["older"] = warehouse.build(
        END_OF_JANUARY, BEFORE_CORRECTIONS, ("+fct_flight",), (*NO_TESTS, *DIMENSIONS)
    )
    history.models = frozenset(names)
    assert history.models == set(MERGES if request.param == "all" else OF_THESE)
    return history


@pytest.mark.lines
def test_two_days_give_the_expected_tables(two_days):
    assert two_days.differences["built"] == {}
    tables = expected.tables(OVER_THE_END_OF_JANUARY, as_of=BEFORE_CORRECTIONS)
    assert {"fct_flight", "fct_weather_hour", "agg_weather_month"} <= two_days.rows["built"].keys()
    assert two_days.rows["built"] == {name: (len(tables[name]), 0, 0) for name in two_days.rows["built"]}


def test_the_catalog_has_the_columns_of_the_tables(two_days):
    stored, real = two_days.catalog
    assert stored.keys() >= {"fct_flight", "agg_weather_month"}
    assert stored == real


@pytest.mark.nightly
def test_the_whole_year_gives_the_expected_tables(year):
    assert year.differences["built"] == {}


@pytest.mark.nightly
def test_a_first_build_only_inserts(year):
    assert year.rows["built"] == {name: (len(rows), 0, 0) for name, rows in expected.tables(YEAR).items()}


@pytest.mark.slow
def test_windows_one_by_one_give_the_tables_of_all_at_once_even_where_they_cut_a_month(windows):
    assert windows.differences["one by one"] == {}


@pytest.mark.slow
def test_a_window_built_again_changes_no_row(windows):
    assert windows.rows["at once"].keys() == windows.models - set(DIMENSIONS)
    assert changed(windows.rows["at once"]) == {}


@pytest.mark.slow
def test_late_corrections_reach_the_facts_and_all_that_is_made_of_them(windows):
    rows = {
        "fct_flight": (0, 3, 0),
        "fct_cancellation": (1, 0, 1),
        "agg_route_day": (0, 3, 0),
        "agg_airport_day": (0, 2, 0),
        "agg_carrier_month": (0, 3, 0),
        "agg_plane_month": (0, 3, 0),
        "agg_weather_month": (0, 2, 0),
    }
    of_models = {name: counts for name, counts in rows.items() if name in windows.models}
    assert changed(windows.rows["corrected"]) == of_models
    assert windows.differences["corrected"] == {}


@pytest.mark.slow
def test_what_was_known_earlier_does_not_undo_a_correction(windows):
    assert windows.rows["older"] == {"fct_flight": (0, 0, 0)}
