"""The flights project built on Spark, its tables against numbers that are computed from the CSV files alone.

Two warehouses: one is built for the whole year at once, the other window by window for a few days of it.
"""

import datetime as dt
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from . import expected
from .expected import END_OF_CORRECTIONS, ROOT, YEAR

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(bool(expected.missing_files()), reason="the data is missing: run `make data`"),
]

MERGES = tuple(expected.tables())

NEW_YEAR = (dt.date(2013, 1, 1), dt.date(2013, 1, 2))
OVER_THE_END_OF_MARCH = (dt.date(2013, 3, 31), dt.date(2013, 4, 2))
IN_APRIL = (dt.date(2013, 4, 2), dt.date(2013, 4, 3))
BOTH_AT_ONCE = (dt.date(2013, 3, 31), dt.date(2013, 4, 3))
BEFORE_ALL_CORRECTIONS = dt.date(2013, 1, 3)

PROFILES = """
flights:
  target: test
  outputs:
    test:
      master: local[*]
      schema: {schema}
      warehouse: {warehouse}
      threads: 2
"""


@dataclass(frozen=True)
class Warehouse:
    """A warehouse of its own for the project. Its schema is its own too, since all tests share one catalog."""

    spark: Any
    folder: Path
    schema: str

    def build(self, window, as_of=END_OF_CORRECTIONS, command="build"):
        """What each merge says of itself, by model, once all nodes have succeeded."""
        from merge_runner import Project
        from merge_runner.engine.session import Driver

        profiles = PROFILES.format(schema=self.schema, warehouse=self.folder / "warehouse")
        (self.folder / "profiles.yml").write_text(profiles, encoding="utf-8")
        project = Project.load(
            ROOT,
            vars={"from": window[0], "to": window[1], "as_of": as_of},
            profiles_dir=self.folder,
            target_path=str(self.folder / "target"),
        )
        run = getattr(project, command)(driver=Driver(self.spark, self.folder / "warehouse", classic=True))
        assert [result for result in run.results if result.status not in ("success", "pass")] == []
        return {name: run[name].adapter_response for name in MERGES}

    def differences(self, *windows, as_of=END_OF_CORRECTIONS):
        """The tables that do not hold what they should after `windows`: found and wanted fingerprint."""
        wanted = {name: expected.fingerprint(rows) for name, rows in expected.tables(*windows, as_of=as_of).items()}
        found = {name: self.fingerprint(name) for name in wanted}
        return {name: (found[name], wanted[name]) for name in wanted if found[name] != wanted[name]}

    def fingerprint(self, table):
        frame = self.spark.table(f"{self.schema}.{table}")
        texts = ", ".join(_as_text(column) for column in frame.schema)
        codes = frame.selectExpr(f"crc32(concat_ws('|', {texts})) as code")
        row = codes.selectExpr("count(*) as rows", "coalesce(sum(code), 0) as checksum").first()
        return expected.Fingerprint(**row.asDict())


def _as_text(column):
    """SQL for what `expected.text` does."""
    value = f"unix_seconds({column.name})" if column.dataType.simpleString() == "timestamp" else column.name
    return f"coalesce(cast({value} as string), '~')"


def changes(responses):
    """Rows inserted, updated and deleted, by model, where there are any."""
    kinds = ("rows_inserted", "rows_updated", "rows_deleted")
    counts = {name: tuple(response[kind] for kind in kinds) for name, response in responses.items()}
    return {name: count for name, count in counts.items() if any(count)}


@dataclass
class History:
    """What the builds of one warehouse changed, and how far its tables were off behind them."""

    changes: dict[str, dict[str, tuple[int, int, int]]] = field(default_factory=dict)
    differences: dict[str, dict[str, Any]] = field(default_factory=dict)


@pytest.fixture(scope="module")
def year(spark, tmp_path_factory):
    warehouse = Warehouse(spark, tmp_path_factory.mktemp("year"), "flights_year")
    responses = warehouse.build(YEAR)
    return History({"year": changes(responses)}, {"year": warehouse.differences(YEAR)})


@pytest.fixture(scope="module")
def windows(spark, tmp_path_factory):
    warehouse = Warehouse(spark, tmp_path_factory.mktemp("windows"), "flights_windows")
    history = History()
    warehouse.build(NEW_YEAR, BEFORE_ALL_CORRECTIONS)
    warehouse.build(OVER_THE_END_OF_MARCH, command="run")
    warehouse.build(IN_APRIL, command="run")
    history.differences["one by one"] = warehouse.differences(NEW_YEAR, BOTH_AT_ONCE, as_of=BEFORE_ALL_CORRECTIONS)
    history.changes["again, at once"] = changes(warehouse.build(BOTH_AT_ONCE, command="run"))
    history.changes["corrected"] = changes(warehouse.build(NEW_YEAR, command="run"))
    history.differences["corrected"] = warehouse.differences(NEW_YEAR, BOTH_AT_ONCE)
    history.changes["older knowledge"] = changes(warehouse.build(NEW_YEAR, BEFORE_ALL_CORRECTIONS, command="run"))
    return history


def test_the_whole_year_gives_the_expected_tables(year):
    assert year.differences["year"] == {}


def test_a_first_build_only_inserts(year):
    rows = {name: (len(table), 0, 0) for name, table in expected.tables(YEAR).items()}
    assert year.changes["year"] == rows


def test_windows_one_by_one_give_the_tables_of_all_at_once_even_where_they_cut_a_month(windows):
    assert windows.differences["one by one"] == {}


def test_a_window_built_again_changes_no_row(windows):
    assert windows.changes["again, at once"] == {}


def test_late_corrections_reach_the_facts_and_all_that_is_made_of_them(windows):
    assert windows.changes["corrected"] == {
        "fct_flight": (0, 3, 0),
        "fct_cancellation": (1, 0, 1),
        "agg_route_day": (0, 3, 0),
        "agg_airport_day": (0, 2, 0),
        "agg_carrier_month": (0, 3, 0),
        "agg_plane_month": (0, 2, 0),
        "agg_weather_month": (0, 1, 0),
    }
    assert windows.differences["corrected"] == {}


def test_what_was_known_earlier_does_not_undo_a_correction(windows):
    assert windows.changes["older knowledge"] == {}
