"""What a run makes of models with batches: tests/run/batches/runs.yml, on the fake engine."""

import threading
from pathlib import Path

import pytest

from tests.fake_engine import FakeDriver, Lake, Starts
from tests.fake_engine.lake import Table
from tests.run.batches.batch_projects import add_window, answers, batch_files, run_at, window_of
from tests.run.node.test_faults import journal_of, last_part, open_locks, results_of
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("runs.yml"))


def days_of(batches):
    """Batches as `01-01 new success`, one of several days as `01-01 to 01-03 new success`."""
    for batch in batches:
        yield f"{batch['start'][5:]} to {batch['end'][5:]} {batch['reason']} {batch['status']}"


def words(lines):
    return [" ".join(line.split()) for line in lines]


def run_case(make_project, case, format):
    root, lake = make_project(batch_files(case["models"], format)), Lake()
    for number, run in enumerate([case, *case.get("then", ())]):
        for path, text in batch_files(run.get("models", {}), format).items():
            (root / path).write_text(text)
        for name in run.get("rows_of_others", ()):
            table = f"ice.shop.{name}" if format == "iceberg" else f"shop.{name}"
            lake.tables[table] = Table(table, {"id": "bigint", "at": "date"}, {"format": format})
        drivers = [
            FakeDriver(
                lake, faults, answers=answers(run.get("newest")), merges=dict.fromkeys(case["models"], add_window)
            )
            for faults in run.get("drivers", [run.get("faults", {})])
        ]
        invoke(root, run, drivers, "build" if number == 0 else "retry")
        check(root, run, drivers, lake)


def invoke(root, run, drivers, command):
    options = {"no_lint": True, "threads": 1, **run.get("options", {})}
    arguments = (root, run.get("now", "2024-01-05"), Starts(*drivers), run.get("command", command))
    if "ends" in run:
        with pytest.raises(BaseException) as raised:  # its name is in the case
            run_at(*arguments, **options)
        assert type(raised.value).__name__ == run["ends"]
    else:
        run_at(*arguments, **options)


def check(root, run, drivers, lake):
    """Compare what the run has left with the case."""
    results = results_of(root)
    expected = {name: " ".join(text.split()) for name, text in run["results"].items()}
    told = {name: " ".join(f"{result['status']} {result['message'] or ''}".split()) for name, result in results.items()}
    assert {name: told.get(name, "")[: len(text)] for name, text in expected.items()} == expected, told
    assert told.keys() == expected.keys()
    for name, batches in run.get("batches", {}).items():
        assert list(days_of(results[name]["adapter_response"]["batches"])) == words(batches), name
    for name, windows in run.get("merged", {}).items():
        rows = list(lake[name].contents) if name in {table.short for table in lake.tables.values()} else []
        assert [row.replace("2024-", "") for row in rows] == windows, name
    assert [list(open_locks(root)), [driver.groups for driver in drivers if driver.groups]] == [[], []]
    assert [driver.faults.left for driver in drivers if driver.faults.left] == []
    for beginning, times in run.get("statements", {}).items():
        sent = [text.lower().strip() for driver in drivers for text in driver.statements]
        assert sum(text.startswith(beginning) for text in sent) == times, beginning
    events = journal_of(root)
    finished = {
        last_part(event["node"]): event["result"]["status"] for event in events if event["event"] == "node_finished"
    }
    assert finished == {name: result["status"] for name, result in results.items()}
    batches = sum(event["event"] == "node_batch_finished" for event in events)
    assert batches <= sum(len(result["adapter_response"].get("batches", ())) for result in results.values())


@pytest.mark.parametrize("format", ["delta", "iceberg"])
@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_what_a_run_makes_of_batches(make_project, case, format):
    run_case(make_project, case, format)


class Bug(BaseException):
    """A bug of merge-runner, which is no error of an engine."""


def test_a_bug_in_a_batch_is_raised_when_all_has_a_result(make_project):
    root = make_project(batch_files({"m": None, "below": {"parents": ["m"], "plain": True}}))

    def observe(_session, text):
        if "date'2024-01-02' as at" in text and "merge into" in text:
            raise Bug("odd")

    driver = FakeDriver(answers=answers(), merges={"m": add_window}, observe=observe)
    with pytest.raises(Bug):
        run_at(root, "2024-01-05", driver, no_lint=True, threads=1)
    results = results_of(root)
    assert results["m"]["status"] == "partial success"
    assert "internal error: Bug: odd" in results["m"]["message"]
    assert results["below"]["message"] == "skipped because m failed"


MODES = [
    # (mode, whether batches may match rows of each other, how many run at the same time)
    ("auto", False, 2),
    ("auto", True, 1),
    ("on", True, 2),
    ("off", False, 1),
]


@pytest.mark.parametrize("format", ["delta", "iceberg"])
@pytest.mark.parametrize(("mode", "overlaps", "most"), MODES)
def test_how_many_batches_run_at_the_same_time(make_project, format, mode, overlaps, most):
    """The first batch, which creates the table, runs alone; a batch waits a moment for another one to begin."""
    models = {"m": {"config": f"concurrent_batches='{mode}'", "overlaps": overlaps}}
    root, other, running, peaks = make_project(batch_files(models, format)), threading.Event(), set(), []
    guard = threading.Lock()

    def observe(_session, text):
        if not text.lstrip().startswith("merge into"):
            return
        window = window_of(text)
        with guard:
            running.add(window)
            peaks.append((window, len(running)))
            if len(running) == 2:
                other.set()
        if window != "2024-01-01/2024-01-02":
            other.wait(5 if most == 2 else 0.2)

    def merge(text, rows):
        with guard:
            running.remove(window_of(text))
        return add_window(text, rows)

    driver = FakeDriver(answers=answers(), merges={"m": merge}, observe=observe)
    run_at(root, "2024-01-05", driver, no_lint=True, threads=4)
    assert max(count for _, count in peaks) >= 2 if most == 2 else {count for _, count in peaks} == {1}
    assert peaks[0] == ("2024-01-01/2024-01-02", 1)
    assert sorted(driver.lake["m"].contents) == [f"2024-01-0{day}/2024-01-0{day + 1}" for day in range(1, 5)]
