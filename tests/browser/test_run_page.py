"""The page of runs in Chromium: the flights build as it ran, failures, streams, hostile names."""

import gzip
import json
from pathlib import Path

import pytest

from merge_runner.pages.runs.history import keep
from merge_runner.pages.runs.runs_page import write_report
from tests.pages.runs import batch, node, record

FLIGHTS, SECOND, COMPARED, BATCHES, MENDED = (
    json.loads(gzip.decompress(Path(__file__).with_name(f"{name}.json.gz").read_bytes()))
    for name in (
        *("flights_build", "flights_second_build", "flights_compared_build"),
        *("batches_build", "batches_second_build"),
    )
)
"""The first build of two days of flights, the build of a third day after it, and the same with `--diff`; a build of which
one batch of 81 failed, and the build after it."""
ALERT = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
VIEWS = {
    "run": "",
    "merges": f"#/run/{FLIGHTS['id']}?tab=merges",
    "nodes": f"#/run/{FLIGHTS['id']}?tab=nodes",
    "versions": f"#/run/{FLIGHTS['id']}?tab=versions",
    "history": "#/history",
    "model-history": "#/node/model.flights.fct_flight",
}


NOTHING_TO_DO = {
    **FLIGHTS,
    "seconds": 0.661,
    "spark": None,
    "nodes": [
        {**node(name, 0.003, "no-op"), "start": 0.636, "end": 0.637, "lane": 0, "ready": 0.636} for name in ("a", "b")
    ],
}
"""A build right after another."""


def report_of(folder, *records):
    for each in records:
        keep(folder, each)
    return write_report(folder)


def earlier_runs():
    """Three runs before it, that took half of the time."""
    return [
        {
            **FLIGHTS,
            "id": f"{number:08x}",
            "started_at": f"2026-11-2{number}T03:00:00.000000Z",
            "seconds": FLIGHTS["seconds"] / 2,
            "nodes": [_before(each) for each in FLIGHTS["nodes"]],
        }
        for number in range(1, 4)
    ]


def _before(entry):
    values = {key: value for key, value in entry.items() if key not in ("versions", "versions_cut")}
    return {**values, "seconds": (entry.get("seconds") or 0) / 2}


@pytest.fixture(scope="module")
def flights(tmp_path_factory):
    return report_of(tmp_path_factory.mktemp("runs"), *earlier_runs(), FLIGHTS)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1400, 420], ids=["wide", "narrow"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_accessible(page, flights, view, width, dark):
    page.open(flights, VIEWS[view], dark=dark, width=width)
    page.screenshot(f"run-{view}-{'dark' if dark else 'light'}-{'wide' if width > 1000 else 'narrow'}")
    assert page.violations() == []
    assert not {"false", "undefined", "null", "NaN", "[object Object]"} & set(page.text().splitlines())
    assert page.run("return document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"


def test_a_run_shows_its_timeline_and_what_is_slower(page, flights):
    page.open(flights)
    assert "slower than usual" in page.text()
    ran = [each for each in FLIGHTS["nodes"] if "start" in each]
    assert page.run("return document.querySelectorAll('.bar-node').length") == len(ran)
    assert page.run("return document.querySelectorAll('.bar-node.critical').length") == sum(
        each.get("critical", False) for each in ran
    )
    page.run("document.querySelector('.bar-node.critical').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    assert "critical path" in page.text(".chosen")


def test_the_timeline_is_walked_by_keys(page, flights):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    page.open(flights)
    timeline = page.driver.find_element(By.CSS_SELECTOR, ".timeline")
    ran = sorted((each for each in FLIGHTS["nodes"] if "start" in each), key=lambda each: (each["start"], each["lane"]))
    timeline.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    assert page.text(".chosen h2") == ran[1]["name"]
    assert page.run("return document.querySelector('.bar-node.taken title').textContent").startswith(ran[1]["name"])
    timeline.send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert page.text(".chosen h2") == ran[0]["name"]
    assert page.violations() == []


def test_merges_sort_by_a_click(page, flights):
    page.open(flights, VIEWS["merges"])
    page.run("[...document.querySelectorAll('thead button')].find((each) => each.textContent === 'Inserted').click()")
    first = page.text("tbody tr")
    most = max(
        (each for each in FLIGHTS["nodes"] if "rows_inserted" in each.get("response", {})),
        key=lambda each: each["response"]["rows_inserted"],
    )
    assert first.startswith(most["name"])


def test_what_a_merge_read_is_next_to_what_was_predicted(page, tmp_path):
    predicted = {"files": 1, "bytes": 2000, "rewritten_bytes": 0, "seconds": 3.0}
    merged = node("m", bytes_scanned=1000, execution_ms=4000, predicted=predicted)
    page.open(report_of(tmp_path, record(merged)), f"#/run/{record()['id']}?tab=merges")
    row = page.text("tbody tr").replace("\u00a0", " ")
    assert "1.0 kB of 2.0 kB predicted" in row
    assert "4.00 s of 3.00 s predicted" in row


def difference(**values):
    """A comparison with the version before the run, as a record has it."""
    rows = {"left": 5, "right": 4, "only_left": 2, "only_right": 1, "changed": 1}
    schema = {"only_left": [], "only_right": [], "types": {}}
    return {"equal": False, "rows": rows, "columns": {}, "schema": schema, **values}


def test_what_a_run_changed_in_each_table(page, tmp_path):
    schema = {"only_left": ["fresh"], "only_right": [], "types": {"price": ["bigint", "int"]}}
    differences = {
        "m": difference(columns={ALERT: 1}, schema=schema),
        "n": difference(rows=dict.fromkeys(("left", "right"), 1200), equal=True),
        "o": {"equal": None, "error": f"{ALERT} is new"},
    }
    nodes = [{**node(name), "difference": values} for name, values in differences.items()]
    page.open(report_of(tmp_path, record(*nodes)), f"#/run/{record()['id']}?tab=rows")
    rows = page.run("return [...document.querySelectorAll('tbody tr')].map((row) => row.innerText.split('\\t'))")
    cells = {row[0].strip(): [cell.strip().replace("\u00a0", " ") for cell in row[1:]] for row in rows}
    assert cells == {
        "m": ["different", "4", "5", "2", "1", "1", f"{ALERT} 1", "fresh, price"],
        "n": ["equal", "1,200", "1,200", "–", "–", "–", "–", "–"],
        "o": [f"{ALERT} is new", "–", "–", "–", "–", "–", "–", "–"],
    }
    assert page.violations() == []
    page.screenshot("run-rows")


def test_failures_streams_and_hostile_names(page, tmp_path):
    bad = {
        **node(ALERT, 1.0, "error"),
        "message": ALERT,
        "start": 0.0,
        "end": 1.0,
        "lane": 0,
        "ready": 0.0,
        "critical": True,
        "retries": [{"at": 0.5, "code": ALERT, "kind": "conflict", "message": ALERT, "attempt": 1, "pause": 0.5}],
    }
    batches = [
        {"id": number, "at": number, "rows": 5, "seconds": 1 + number / 10, "ok": True, "lag": 900}
        for number in range(20)
    ]
    stream = {"stream": ALERT, "batches": 20, "rows": 100, "p50": 1.0, "p99": 2.9, "recent": batches}
    path = report_of(tmp_path, record(bad, project=ALERT, streams=[stream]))
    for at in ("", "#/run/x?tab=nodes", "#/run/x?tab=streams", "#/history", f"#/node/{bad['id']}", "#/node/none"):
        page.open(path, at)
        assert page.run("return document.querySelectorAll('main img, main script').length") == 0
        assert page.violations() == []
    page.open(path, "#/run/x?tab=streams")
    page.screenshot("run-streams")
    assert "median of a batch" in page.text()


def commit(version, second, **values):
    """A commit as a record has it."""
    return {"version": str(version), "at": f"2024-05-01T10:00:{second:02}.000000Z", "operation": "MERGE", **values}


def test_versions_of_tables_with_their_writers(page, tmp_path):
    first, second = (f"{number:08x}-0000-4000-8000-000000000000" for number in (0, 1))
    own = {"node": "model.shop.m", "rows": {"inserted": 7, "copied": 0}, "files_added": 2, "bytes_added": 4000}
    snapshot = 7_213_461_094_527_109_837  # more than JavaScript's numbers hold
    old = [commit(snapshot, 1, run=first, **own), commit(1, 0, operation=ALERT)]
    new = [
        commit(4, 9, run=second, of="post_hook", node="model.shop.m"),
        commit(3, 8, run=second, **own, files_removed=1, bytes_removed=3500),
        commit(2, 5, operation="WRITE", rows={"inserted": 1}, files_added=1),
    ]
    path = report_of(
        tmp_path,
        record({**node("m"), "versions": old, "versions_cut": True}, number=0),
        record({**node("m"), "versions": new}, number=1),
    )
    page.open(path, f"#/run/{second}?tab=versions")
    rows = page.run(
        "return [...document.querySelectorAll('tbody tr')].map((each) => each.innerText.replaceAll('\\u00a0', ' ').split('\\t').map((cell) => cell.trim()))"
    )
    assert [(row[3], row[4]) for row in rows] == [
        ("MERGE", "this run (post hook)"),
        ("MERGE", "this run"),
        ("WRITE", "! another writer"),
    ]
    assert rows[1][5:] == ["7 inserted", "+2 −1", "+4.0 kB −3.5 kB"]
    assert "1 commit by another writer" in page.text()
    assert page.violations() == []
    page.go("#/node/model.shop.m")
    page.wait("return document.body.innerText.includes('Versions of the table')")
    text = page.text()
    assert str(snapshot) in text and ALERT in text and "an earlier run" not in text
    assert "There may be older commits" in text
    assert page.run("return document.querySelectorAll('main img, main script').length") == 0
    assert page.violations() == []
    page.screenshot("run-versions")


def test_a_run_of_nothing(page, tmp_path):
    page.open(report_of(tmp_path, record()))
    assert "No node ran" in page.text()
    assert page.violations() == []


def day(number, status="success", **values):
    return batch(f"2024-04-{number:02}", f"2024-04-{number + 1:02}", status, **values)


BATCHED = {
    "days": ("day", [day(27), day(28, "error", rows=None, version=None, message=ALERT), day(29, "skipped", rows=None)]),
    "reasons": (
        "day",
        [day(1, reason="lookback"), day(2, reason="asked"), day(3, reason="missing"), day(4, reason="open")],
    ),
    "joined": ("day", [batch("2024-02-28", "2024-03-02")]),
    "months": ("month", [batch("2024-05-01", "2024-06-01"), batch("2023-12-01", "2024-01-01")]),
    "years": ("year", [batch("2019-01-01", "2020-01-01"), batch("2020-01-01", "2021-01-01", "no-op")]),
    "hours": ("hour", [batch("2024-04-30T23", "2024-05-01"), batch("2024-05-01T10", "2024-05-01T11")]),
}
"""The size and the batches of models that ran at 10 o'clock on the first of May in 2024."""
CALENDARS = {
    "days": {"2024-04": {"27": "✓", "28": "✗", "29": "–"}},
    "reasons": {"2024-04": {"1": "↻", "2": "▸", "3": "◆", "4": "✓"}},
    "joined": {"2024-02": {"28": "✓", "29": "✓"}, "2024-03": {"1": "✓"}},
    "months": {"2023": {"Dec": "✓"}, "2024": {"May": "◔"}},
    "years": {"2010": {"9": "✓"}, "2020": {"0": "✓"}},
    "hours": {"2024-04-30": {"23": "✓"}, "2024-05-01": {"10": "◔"}},
}
CALENDAR = """
    const columns = [...arguments[0].querySelectorAll("thead th")].map((each) => each.textContent);
    return Object.fromEntries([...arguments[0].querySelectorAll("tbody tr")].map((row) => [row.cells[0].textContent,
        Object.fromEntries([...row.cells].slice(1).map((cell, at) => [columns[at + 1], cell.querySelector("[aria-hidden]")]).filter(([, mark]) => mark).map(([column, mark]) => [column, mark.textContent]))]));
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_calendar_of_the_batches_of_each_model(page, tmp_path, dark):
    nodes = [{**node(name), "batch_size": size, "batches": batches} for name, (size, batches) in BATCHED.items()]
    path = report_of(tmp_path, record(*nodes))
    page.open(path, f"#/run/{record()['id']}?tab=batches", dark=dark)
    calendars = page.run("return [...document.querySelectorAll('.calendar')]")
    assert dict(zip(BATCHED, (page.run(CALENDAR, each) for each in calendars), strict=True)) == CALENDARS
    assert page.run("return document.querySelectorAll('main img, main script').length") == 0
    assert "done: 1 " in page.text(".legend").replace("\n", " ") + " "
    page.run("for (const each of document.querySelectorAll('details')) each.open = true")
    assert page.violations() == []
    page.screenshot(f"run-batches-{'dark' if dark else 'light'}")
    page.open(path, "#/node/model.shop.days", width=420)
    assert page.run(CALENDAR, page.run("return document.querySelector('.calendar')")) == CALENDARS["days"]
    assert page.violations() == []
    assert page.run("return document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"


def test_a_batch_that_had_failed_is_late(page, tmp_path):
    path = report_of(tmp_path, BATCHES, MENDED)
    page.open(path, f"#/run/{BATCHES['id']}?tab=batches")
    _months, days = page.run("return [...document.querySelectorAll('.calendar')]")
    assert page.run(CALENDAR, days)["2026-10"]["21"] == "✗"
    assert "77 of 78 batches" in page.text("#tab-panel")
    ran = [entry for entry in BATCHES["nodes"] if "start" in entry]
    span = max(entry["end"] for entry in ran) - min(entry["start"] for entry in ran)
    work = sum(batch["seconds"] for entry in ran for batch in entry.get("batches", [entry]))
    assert f"{100 * work / (2 * span):.0f} %" in page.text(".tiles")
    page.open(path, "#/node/model.shop.fct_sale")
    page.wait("return document.querySelector('.calendar') !== null")
    calendar = page.run(CALENDAR, page.run("return document.querySelector('.calendar')"))
    assert {month: len(cells) for month, cells in calendar.items()} == {"2026-09": 17, "2026-10": 31, "2026-11": 30}
    assert (calendar["2026-10"]["21"], *(calendar["2026-11"][day] for day in ("28", "29", "30"))) == (
        "◆",
        "↻",
        "↻",
        "◔",
    )
    assert page.violations() == []


def test_a_model_shows_its_batches_as_the_newest_of_its_runs_has_left_them(page, tmp_path):
    runs = ([day(1), day(2, "error"), day(3, "skipped")], [day(2), day(3, "error")], [])
    for number, batches in enumerate(runs):
        keep(tmp_path, record({**node("m"), "batch_size": "day", "batches": batches}, number=number))
    page.open(write_report(tmp_path), "#/node/model.shop.m")
    page.wait("return document.querySelector('.calendar') !== null")
    calendar = page.run("return document.querySelector('.calendar')")
    assert page.run(CALENDAR, calendar) == {"2024-04": {"1": "✓", "2": "✓", "3": "✗"}}


def test_a_run_that_did_nothing_has_no_critical_path(page, tmp_path):
    page.open(report_of(tmp_path, NOTHING_TO_DO))
    assert "Nothing had to be done" in page.text() and "2 no-op" in page.text()
    assert "critical path" not in page.text() and "at work" not in page.text()
    assert page.violations() == []
    page.screenshot("nothing-to-do")
