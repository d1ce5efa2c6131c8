"""What the tables of the flights project must hold, computed from the CSV files alone: no Spark, no SQL.

`tables` gives every table as rows of plain Python values in the order of its declared columns: dates as date,
timestamps as datetime in UTC, decimals as Decimal with the declared scale. `text` and `fingerprint` turn rows
into what a table in Spark can be compared with, without bringing its rows to Python.
"""

from __future__ import annotations

import csv
import datetime as dt
import functools
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
FILES = ("airlines.csv", "airports.csv", "planes.csv", "flights.csv", "weather.csv")

Row = tuple[Any, ...]
Window = tuple[dt.date, dt.date]
"""The days from the first date, inclusive, to the second, exclusive."""

YEAR: Window = (dt.date(2013, 1, 1), dt.date(2014, 1, 1))
END_OF_CORRECTIONS = dt.date(2015, 1, 1)
LATE_FROM_MINUTES = 15


class Flight(NamedTuple):
    """A row of fct_flight."""

    flight_date: dt.date
    flight_month: dt.date
    carrier: str
    flight: int
    origin: str
    dest: str
    tailnum: str | None
    scheduled_hour: dt.datetime
    scheduled_at: dt.datetime
    status: str
    dep_delay: int | None
    arr_delay: int | None
    air_time_minutes: int | None
    distance_miles: int
    updated_at: dt.datetime


class Weather(NamedTuple):
    """A row of fct_weather_hour."""

    observed_month: dt.date
    observed_date: dt.date
    origin: str
    observed_at: dt.datetime
    condition: str
    temperature_f: Decimal | None
    dew_point_f: Decimal | None
    humidity_percent: Decimal | None
    wind_direction_degrees: int | None
    wind_speed_mph: Decimal | None
    wind_gust_mph: Decimal | None
    precipitation_in: Decimal | None
    pressure_mb: Decimal | None
    visibility_miles: Decimal | None


@dataclass(frozen=True)
class Fingerprint:
    """How many rows a table has, and the sum of the CRC-32 of their texts, which no order of rows changes."""

    rows: int
    checksum: int


def missing_files() -> list[str]:
    """The names of the data files that are not there."""
    return [name for name in FILES if not (DATA / name).is_file()]


def tables(*windows: Window, as_of: dt.date = END_OF_CORRECTIONS) -> dict[str, list[Row]]:
    """Every table, by name, once an empty warehouse was built for `windows`, in whatever order.

    `as_of`: corrections made before this day count.
    """
    flights, weather = all_flights(as_of, *windows), all_weather(*windows)
    return {
        "dim_airline": _airlines(),
        "dim_airport": _airports(),
        "dim_plane": _planes(),
        "dim_route": _routes(flights),
        "fct_flight": list(flights),
        "fct_weather_hour": list(weather),
        "fct_cancellation": _cancellations(flights),
        "agg_route_day": _route_days(flights),
        "agg_airport_day": _airport_days(flights, weather),
        "agg_carrier_month": _carrier_months(flights),
        "agg_plane_month": _plane_months(flights),
        "agg_weather_month": _weather_months(flights, weather),
        "top_route_month": _top_routes(flights),
    }


def text(value: Any) -> str:
    """A value as Spark's `cast(… as string)` writes it, a timestamp as seconds since 1970, NULL as `~`."""
    if value is None:
        return "~"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dt.datetime):
        return str(int(value.timestamp()))
    return str(value)


def fingerprint(rows: Iterable[Row]) -> Fingerprint:
    """The fingerprint of rows whose texts are joined by `|`."""
    codes = [zlib.crc32("|".join(map(text, row)).encode()) for row in rows]
    return Fingerprint(len(codes), sum(codes))


def read(path: Path, *windows: Window) -> Iterator[dict[str, Any]]:
    """The rows of a CSV file by column name; `NA` and an empty field are None.

    `windows`: the rows of these days alone.
    """
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file)  # DictReader takes twice as long, and there are 337,000 flights
        names = next(rows)
        if windows:  # two days take a fifth of a second where all of the year takes seconds
            parts = itemgetter(*map(names.index, ("year", "month", "day")))
            days = {(str(day.year), str(day.month), str(day.day)) for window in windows for day in _days(window)}
            rows = (row for row in rows if parts(row) in days)
        for row in rows:
            yield dict(zip(names, (None if value in ("NA", "") else value for value in row), strict=True))


@functools.cache
def all_flights(as_of: dt.date = END_OF_CORRECTIONS, *windows: Window) -> tuple[Flight, ...]:
    """Every flight of the windows, with the corrections made before `as_of`."""
    flights = list(_reported(*windows))
    position = {(f.flight_date, f.carrier, f.flight, f.origin): index for index, f in enumerate(flights)}
    for key, (dep_delay, arr_delay, corrected_at) in _latest_corrections(as_of).items():
        if windows and not _in_any(windows, key[0]):
            continue
        flight = flights[position[key]]
        status = _status(dep_delay, arr_delay)
        flights[position[key]] = flight._replace(
            status=status,
            dep_delay=dep_delay,
            arr_delay=arr_delay,
            air_time_minutes=flight.air_time_minutes if status == "flown" else None,
            updated_at=corrected_at,
        )
    return tuple(flights)


@functools.cache
def all_weather(*windows: Window) -> tuple[Weather, ...]:
    """Every hour of weather of the windows."""
    return tuple(_weather(row) for row in read(DATA / "weather.csv", *windows))


class _Correction(NamedTuple):
    dep_delay: int | None
    arr_delay: int | None
    corrected_at: dt.datetime


_Key = tuple[dt.date, str, int, str]


def _latest_corrections(as_of: dt.date) -> dict[_Key, _Correction]:
    latest: dict[_Key, _Correction] = {}
    for row in read(ROOT / "seeds" / "flight_correction.csv"):
        key = (dt.date.fromisoformat(row["flight_date"]), row["carrier"], int(row["flight"]), row["origin"])
        new = _Correction(_int(row["dep_delay"]), _int(row["arr_delay"]), _instant(row["corrected_at"]))
        known = new.corrected_at < dt.datetime.combine(as_of, dt.time(), dt.timezone.utc)
        if known and (key not in latest or latest[key].corrected_at < new.corrected_at):
            latest[key] = new
    return latest


@functools.cache
def _reported(*windows: Window) -> tuple[Flight, ...]:
    return tuple(_flight(row) for row in read(DATA / "flights.csv", *windows))


def _flight(row: dict[str, Any]) -> Flight:
    day = _day(row)
    hour = _instant(row["time_hour"])
    scheduled_at = hour + dt.timedelta(minutes=int(row["minute"]))
    dep_delay, arr_delay = _int(row["dep_delay"]), _int(row["arr_delay"])
    return Flight(
        flight_date=day,
        flight_month=day.replace(day=1),
        carrier=row["carrier"],
        flight=int(row["flight"]),
        origin=row["origin"],
        dest=row["dest"],
        tailnum=row["tailnum"],
        scheduled_hour=hour,
        scheduled_at=scheduled_at,
        status=_status(dep_delay, arr_delay),
        dep_delay=dep_delay,
        arr_delay=arr_delay,
        air_time_minutes=_int(row["air_time"]),
        distance_miles=int(row["distance"]),
        updated_at=scheduled_at,
    )


def _status(dep_delay: int | None, arr_delay: int | None) -> str:
    return "cancelled" if dep_delay is None else "diverted" if arr_delay is None else "flown"


def _weather(row: dict[str, Any]) -> Weather:
    wind = row["wind_speed"] if row["wind_speed"] is not None and float(row["wind_speed"]) < 200 else None
    if float(row["precip"]) > 0:
        condition = "snow" if row["temp"] is not None and float(row["temp"]) <= 32 else "rain"
    elif float(row["visib"]) < 3:
        condition = "fog"
    elif wind is not None and float(wind) >= 25:
        condition = "wind"
    else:
        condition = "fair"
    day = _day(row)
    return Weather(
        observed_month=day.replace(day=1),
        observed_date=day,
        origin=row["origin"],
        observed_at=_instant(row["time_hour"]),
        condition=condition,
        temperature_f=_decimal(row["temp"], 2),
        dew_point_f=_decimal(row["dewp"], 2),
        humidity_percent=_decimal(row["humid"], 2),
        wind_direction_degrees=_int(row["wind_dir"]),
        wind_speed_mph=_decimal(wind, 2),
        wind_gust_mph=_decimal(row["wind_gust"], 2),
        precipitation_in=_decimal(row["precip"], 2),
        pressure_mb=_decimal(row["pressure"], 1),
        visibility_miles=_decimal(row["visib"], 2),
    )


def _airlines() -> list[Row]:
    return [(row["carrier"], row["name"]) for row in read(DATA / "airlines.csv")]


def _airports() -> list[Row]:
    rows = {}
    for path in (DATA / "airports.csv", ROOT / "seeds" / "airport_override.csv"):
        for row in read(path):
            place = (_decimal(row["lat"], 6), _decimal(row["lon"], 6), int(row["alt"]), int(row["tz"]))
            rows[row["faa"]] = (row["faa"], row["name"], *place, row["tzone"])
    return list(rows.values())


def _planes() -> list[Row]:
    rows = []
    for row in read(DATA / "planes.csv"):
        maker = row["manufacturer"]
        for name in ("AIRBUS", "MCDONNELL DOUGLAS"):
            if maker.startswith(name):
                maker = name
        built, engines, seats, speed = (_int(row[name]) for name in ("year", "engines", "seats", "speed"))
        rows.append(
            (row["tailnum"], built, row["type"], maker, row["model"], engines, seats, speed, row["engine"], True)
        )
    return rows


def _routes(flights: Iterable[Flight]) -> list[Row]:
    return [
        (
            *route,
            max(f.distance_miles for f in group),
            min(f.flight_date for f in group),
            max(f.flight_date for f in group),
        )
        for route, group in _grouped(flights, lambda f: (f.origin, f.dest)).items()
    ]


def _cancellations(flights: Iterable[Flight]) -> list[Row]:
    return [
        (f.flight_date, f.carrier, f.flight, f.origin, f.dest, f.tailnum, f.scheduled_at, f.updated_at)
        for f in flights
        if f.status == "cancelled"
    ]


def _route_days(flights: Iterable[Flight]) -> list[Row]:
    groups = _grouped(flights, lambda f: (f.flight_month, f.flight_date, f.origin, f.dest))
    return [(*key, *_punctuality(group)) for key, group in groups.items()]


def _airport_days(flights: Iterable[Flight], weather: Iterable[Weather]) -> list[Row]:
    at = {(hour.origin, hour.observed_at): hour for hour in weather}
    rows = []
    for key, group in _grouped(flights, lambda f: (f.flight_date, f.origin)).items():
        hours = [at[f.origin, f.scheduled_hour] for f in group if (f.origin, f.scheduled_hour) in at]
        winds = [hour.wind_speed_mph for hour in hours if hour.wind_speed_mph is not None]
        sights = [hour.visibility_miles for hour in hours if hour.visibility_miles is not None]
        rows.append((*key, *_punctuality(group), max(winds, default=None), min(sights, default=None)))
    return rows


def _carrier_months(flights: Iterable[Flight]) -> list[Row]:
    names = dict(_airlines())
    groups = _grouped(flights, lambda f: (f.flight_month, f.carrier))
    return [(*key, names[key[1]], *_punctuality(group), _miles_flown(group)) for key, group in groups.items()]


def _plane_months(flights: Iterable[Flight]) -> list[Row]:
    register = {row[0]: row for row in _planes()}
    rows = []
    known = (f for f in flights if f.tailnum is not None)
    for key, group in _grouped(known, lambda f: (f.flight_month, f.tailnum)).items():
        plane = register.get(key[1])
        maker, model, seats = (plane[3], plane[4], plane[6]) if plane else (None, None, None)
        flown = sum(f.status == "flown" for f in group)
        minutes = sum(f.air_time_minutes or 0 for f in group)
        miles = _miles_flown(group)
        rows.append((*key, maker, model, seats, len(group), flown, minutes, miles, seats and seats * miles))
    return rows


def _weather_months(flights: Iterable[Flight], weather: Iterable[Weather]) -> list[Row]:
    condition = {(hour.origin, hour.observed_at): hour.condition for hour in weather}
    groups = _grouped(flights, lambda f: (f.flight_month, condition.get((f.origin, f.scheduled_hour), "unknown")))
    return [(*key, *_punctuality(group)) for key, group in groups.items()]


def _top_routes(flights: Iterable[Flight]) -> list[Row]:
    best: dict[Row, Row] = {}
    routes = _grouped(flights, lambda f: (f.flight_month, f.origin, f.dest))
    for (month, origin, dest), group in sorted(routes.items(), key=lambda item: (-len(item[1]), item[0][2])):
        best.setdefault((month, origin), (month, origin, dest, len(group), _late(group)))
    return list(best.values())


def _punctuality(group: list[Flight]) -> Row:
    """flights, cancelled, diverted, late, dep_delay_minutes, arr_delay_minutes, mean_arr_delay"""
    departures = [f.dep_delay for f in group if f.dep_delay is not None]
    arrivals = [f.arr_delay for f in group if f.arr_delay is not None]
    mean = _decimal(sum(arrivals) / len(arrivals), 2) if arrivals else None
    cancelled = sum(f.status == "cancelled" for f in group)
    diverted = sum(f.status == "diverted" for f in group)
    return len(group), cancelled, diverted, _late(group), sum(departures), sum(arrivals), mean


def _late(group: list[Flight]) -> int:
    return sum(f.arr_delay is not None and f.arr_delay >= LATE_FROM_MINUTES for f in group)


def _miles_flown(group: list[Flight]) -> int:
    return sum(f.distance_miles for f in group if f.status == "flown")


def _grouped(flights: Iterable[Flight], key: Callable[[Flight], Row]) -> dict[Row, list[Flight]]:
    groups: dict[Row, list[Flight]] = defaultdict(list)
    for flight in flights:
        groups[key(flight)].append(flight)
    return groups


def _in_any(windows: Iterable[Window], day: dt.date) -> bool:
    return any(start <= day < end for start, end in windows)


def _days(window: Window) -> Iterator[dt.date]:
    return (window[0] + dt.timedelta(days) for days in range((window[1] - window[0]).days))


def _day(row: dict[str, Any]) -> dt.date:
    return dt.date(int(row["year"]), int(row["month"]), int(row["day"]))


@functools.cache
def _instant(value: str) -> dt.datetime:
    """A timestamp like 2013-01-01T10:00:00Z."""
    return dt.datetime.strptime(value, "%Y-%m-%dT%H:%M:%S%z")


def _int(value: str | None) -> int | None:
    return None if value is None else int(value)


def _decimal(value: str | float | None, scale: int) -> Decimal | None:
    """As Spark casts a double to a decimal: its shortest text, rounded half up."""
    return None if value is None else Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
