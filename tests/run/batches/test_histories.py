"""Events that come in any order, builds at any time, batches that fail: the table ends as one run over all would make it.

An event is late by the number of batches between its own and the one that it comes in. Those that are late by at most
`lookback` are in the table in the end, once.
"""

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from merge_runner.plan.batches.window import parsed_window
from tests.fake_engine import FakeDriver, Lake
from tests.run.batches.batch_projects import answers, batch_files, run_at, window_of

BEGIN = datetime(2024, 1, 1, tzinfo=timezone.utc)
DAYS = 5
HOURS = 24 * DAYS
MANY = settings.default.max_examples >= 100
FORMATS = ["delta", pytest.param("iceberg", marks=pytest.mark.nightly)]
HISTORIES = settings(max_examples=200 if MANY else 10, suppress_health_check=[HealthCheck.function_scoped_fixture])
"""A history takes up to a second."""
WORDS = st.sampled_from([None, None, "fails", "conflict", "transient after", "unknown after", "lost", "lost after"])


@dataclass(frozen=True)
class Event:
    """A version of a row: when it happened and when it comes, in hours from the first batch on."""

    id: int
    at: int
    comes: int
    value: int


@dataclass(frozen=True)
class Build:
    """A command at an hour, and what happens to its MERGEs in turn."""

    hour: int
    command: str
    faults: tuple
    threads: int


@st.composite
def histories(draw, lookback, versions):
    """Events, at most `lookback` batches late, and builds in their order; some ids come in several versions."""
    events = []
    for id in range(draw(st.integers(1, 8))):
        at = draw(st.integers(0, HOURS - 1))
        last = min(HOURS, (at // 24 + lookback + 1) * 24) - 1
        events += [Event(id, at, draw(st.integers(at, last)), value) for value in range(draw(st.integers(1, versions)))]
    build = st.builds(
        Build,
        st.integers(1, HOURS - 1) | st.integers(1, DAYS - 1).map(lambda day: 24 * day),
        st.sampled_from(["build", "build", "retry"]),
        st.lists(WORDS, max_size=6).map(tuple),
        st.integers(1, 2),
    )
    return events, sorted(draw(st.lists(build, max_size=6)), key=lambda build: build.hour)


def time_of(hour):
    return BEGIN + timedelta(hours=hour)


def newest(events):
    """The last version of each row that has come."""
    rows = {}
    for event in sorted(events, key=lambda event: (event.comes, event.value)):
        rows[event.id] = event
    return rows


class Source:
    """The events, as a MERGE reads them at an hour."""

    def __init__(self, events):
        self.events, self.hour = events, 0

    def window(self, text):
        window = parsed_window(window_of(text))
        return newest(
            event
            for event in self.events
            if event.comes <= self.hour and window.start <= time_of(event.at) < window.end
        )

    def upsert(self, text, rows):
        merged = {row.id: row for row in rows} | self.window(text)
        return tuple(merged.values()), {"inserted": len(merged) - len(rows), "updated": 1}

    def append(self, text, rows):
        added = self.window(text)
        return (*rows, *added.values()), {"inserted": len(added)}


def play(make_project, format, events, builds, merge, config):
    """Run the builds and then, when all has come, one that nothing happens to; return the rows of the table."""
    root, lake, source = make_project(batch_files({"m": {"config": config}}, format)), Lake(), Source(events)
    merges = {"m": lambda text, rows: merge(source, text, rows)}
    last = Build(HOURS, "build", (), 2)
    for number, build in enumerate([*builds, last]):
        source.hour = build.hour
        driver = FakeDriver(lake, {"m": list(build.faults)}, answers=answers(), merges=merges)
        command = build.command if number else "build"
        run_at(root, time_of(build.hour), driver, command, no_lint=True, threads=build.threads)
    shutil.rmtree(root)
    return sorted(lake["m"].contents, key=lambda event: (event.id, event.value))


@pytest.mark.parametrize("format", FORMATS)
@HISTORIES
@given(data=st.data())
def test_rows_are_those_of_one_run_over_all_events(make_project, format, data):
    lookback = data.draw(st.integers(0, 2), "lookback")
    at_once = data.draw(st.integers(1, 3), "batches at once")
    mode = data.draw(st.sampled_from(["auto", "off"]), "concurrent batches")
    events, builds = data.draw(histories(lookback, versions=3), "history")
    config = f"lookback={lookback}, batches_at_once={at_once}, concurrent_batches='{mode}'"
    rows = play(make_project, format, events, builds, Source.upsert, config)
    assert rows == sorted(newest(events).values(), key=lambda event: event.id)


@pytest.mark.parametrize("format", FORMATS)
@HISTORIES
@given(data=st.data())
def test_no_batch_that_is_over_is_merged_twice(make_project, format, data):
    """Rows are appended, so that a batch that ran twice shows; builds are made when batches are over."""
    at_once = data.draw(st.integers(1, 3), "batches at once")
    events, builds = data.draw(histories(lookback=0, versions=1), "history")
    over = [Build(build.hour // 24 * 24, build.command, build.faults, build.threads) for build in builds]
    rows = play(
        make_project,
        format,
        events,
        [build for build in over if build.hour],
        Source.append,
        f"batches_at_once={at_once}",
    )
    assert rows == sorted(events, key=lambda event: event.id)


# On Iceberg two builds of one process have to take turns: it does not refuse the later of two commits of one batch.
@pytest.mark.parametrize(
    ("format", "mode"),
    [
        ("delta", "auto"),
        *(pytest.param(*pair, marks=pytest.mark.nightly) for pair in (("delta", "off"), ("iceberg", "off"))),
    ],
)
@HISTORIES
@given(data=st.data())
def test_two_builds_at_once_commit_each_batch_once(make_project, format, mode, data):
    events, builds = data.draw(histories(lookback=0, versions=1), "history")
    config = f"concurrent_batches='{mode}'"
    root, lake, source = make_project(batch_files({"m": {"config": config}}, format)), Lake(), Source(events)
    merges = {"m": source.append}
    source.hour = HOURS
    pairs = [*zip(builds[::2], builds[1::2], strict=False), [Build(HOURS, "build", (), 2)]]
    for pair in pairs:
        drivers = [FakeDriver(lake, {"m": list(build.faults)}, answers=answers(), merges=merges) for build in pair]
        # The other one finds the tables of the first one in its own catalog, as a process does: by their folders.
        with ThreadPoolExecutor(2) as pool:
            runs = [
                pool.submit(
                    run_at,
                    *(root, time_of(max(1, build.hour // 24) * 24), driver),
                    target_path=f"target{number}",
                    no_lint=True,
                    threads=build.threads,
                )
                for number, (build, driver) in enumerate(zip(pair, drivers, strict=True))
            ]
            for run in runs:
                run.result()
    shutil.rmtree(root)
    assert sorted(lake["m"].contents, key=lambda event: event.id) == sorted(events, key=lambda event: event.id)
