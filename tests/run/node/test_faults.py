"""What a run makes of what goes wrong: tests/run/node/faults.yml, on the fake engine."""

import fcntl
import json
from pathlib import Path

import pytest

from merge_runner.api import Project
from merge_runner.cli.host import Host
from merge_runner.cli.main import main
from merge_runner.engine.driver.driver import Waits
from tests.dbt_schemas import schema_errors
from tests.fake_engine import FakeDriver, Lake, Starts
from tests.fake_engine.projects import model_files
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("faults.yml"))


def last_part(unique_id):
    return unique_id.split(".")[2]  # a data test has a hash after it


def results_of(root):
    """The results in run_results.json by name."""
    document = json.loads((root / "target/run_results.json").read_text())
    assert schema_errors(document) == []
    return {last_part(each["unique_id"]): each for each in document["results"]}


def journal_of(root):
    """The events of the last invocation in the journal."""
    events = [json.loads(line) for line in (root / "target/journal.jsonl").read_text().splitlines()]
    starts = [number for number, event in enumerate(events) if event["event"] == "invocation_started"]
    return events[starts[-1] :]


def open_locks(root):
    """The locks of tables that somebody holds."""
    for path in (root / "warehouse/.locks").glob("*.lock"):
        with path.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield path.name


@pytest.fixture
def run(make_project):
    """Runs a case, a run after the other, on one lake."""

    def runs(case):
        root, lake = make_project(model_files(case["models"])), Lake()
        for number, each in enumerate([case, *case.get("then", ())]):
            for name, config in each.get("config", {}).items():
                changed = {name: {**(case["models"][name] or {}), "config": config}}
                (root / f"models/{name}.sql").write_text(model_files(changed)[f"models/{name}.sql"])
            faults = each.get("drivers", [each.get("faults", {})])
            drivers = [FakeDriver(lake, one, answers=case.get("answers")) for one in faults]
            invoke(root, each, drivers, "build" if number == 0 else "retry")
            check(root, each, drivers, lake)
            for name in each.get("config", {}):
                (root / f"models/{name}.sql").write_text(model_files(case["models"])[f"models/{name}.sql"])

    return runs


def invoke(root, each, drivers, command):
    """Build with a driver that is given or with those that are started; other commands by the command line."""
    command = each.get("command", command)
    if command != "build":
        with pytest.raises(SystemExit) as end:
            main([command, *each.get("options", ()), "--project-dir", str(root)], Host(start=Starts(*drivers)))
        failed = any(text.startswith("error") for text in each["results"].values())
        assert end.value.code == (1 if failed else 0)
        return
    loaded = Project.load(root, full_refresh=each.get("full_refresh", False))
    given = drivers[0] if "drivers" not in each else None
    project = Project(loaded.prepared, Starts(*drivers))
    options = {"lint": False, "threads": 1, "driver": given, **each.get("args", {})}
    if "ends" in each:
        with pytest.raises(BaseException) as raised:  # its name is in the case
            project.build(**options)
        assert type(raised.value).__name__ == each["ends"]
    else:
        project.build(**options)


def check(root, each, drivers, lake):
    """Compare what the run has left with the case."""
    results = results_of(root)
    found = {name: f"{result['status']} {result['message'] or ''}".strip() for name, result in results.items()}
    expected = {name: " ".join(text.split()) for name, text in each["results"].items()}
    shown = {name: " ".join(found.get(name, "").split())[: len(text)] for name, text in expected.items()}
    assert shown == expected, found
    assert len(found) == len(expected)
    for name, tries in each.get("attempts", {}).items():
        assert results[name]["adapter_response"]["attempts"] == tries, name
    for name, result in results.items():
        warning = each.get("warnings", {}).get(name)
        found = result["adapter_response"].get("warnings", "")
        assert (found[: len(warning)] if warning else found) == (warning or ""), name
    assert [list(open_locks(root)), [driver.groups for driver in drivers if driver.groups]] == [[], []]
    unused = each.get("left_over_drivers", 0)
    assert [driver.faults.left for driver in drivers if driver.faults.left] == []
    assert sum(not driver.statements for driver in drivers) >= unused
    for name, commits in each.get("commits", {}).items():
        assert lake.operations(name) == commits, name
    for beginning, times in each.get("statements", {}).items():
        sent = [text.lower().strip() for driver in drivers for text in driver.statements]
        assert sum(text.startswith(beginning) for text in sent) == times, beginning
    if not each.get("nothing"):
        check_events(root, each, results)


def check_events(root, each, results):
    """Compare the events of the run with its results and with the case."""
    events = journal_of(root)
    finished = {last_part(event["node"]): event["result"] for event in events if event["event"] == "node_finished"}
    assert {name: result["status"] for name, result in finished.items()} == {
        name: result["status"] for name, result in results.items()
    }
    began = [last_part(event["node"]) for event in events if event["event"] == "node_started"]
    assert set(began) == {name for name, result in results.items() if result["status"] != "skipped"}
    if "ran" in each:
        assert began == each["ran"]
    retried = {}
    for event in events:
        if event["event"] == "node_retried":
            retried.setdefault(last_part(event["node"]), []).append([event["kind"], event["attempt"]])
    assert retried == each.get("retried", {})
    said = [event["message"] for event in events if event["event"] == "message"]
    assert all(any(text.startswith(words) for text in said) for words in each.get("said", ())), said


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_what_goes_wrong(run, case):
    run(case)


def retried(make_project, faults, waits, config="", **options):
    """Build `m` on a driver with these waits; return its pauses and its message."""
    events, driver = [], FakeDriver(faults=faults, waits=waits)
    project = Project.load(make_project(model_files({"m": {"config": config}, "other": {}})))
    try:
        project.build(lint=False, driver=driver, on_event=events.append, **options)
    except KeyboardInterrupt:
        assert "interrupts" in str(faults)
    messages = {
        event.data["name"]: event.data["result"]["message"] for event in events if event.event == "node_finished"
    }
    return [event.data["pause"] for event in events if event.event == "node_retried"], messages["m"]


def test_pauses_double_up_to_the_longest_and_are_spread(make_project):
    waits = Waits(first_pause=1e-4, longest_pause=4e-4)
    pauses, _ = retried(make_project, {"m": ["conflict"] * 5}, waits, "retries=4")
    for pause, longest in zip(pauses, [1e-4, 2e-4, 4e-4, 4e-4], strict=True):
        assert longest / 2 <= pause <= longest


def test_no_pause_goes_beyond_the_timeout_of_the_model(make_project):
    waits = Waits(first_pause=600.0, longest_pause=600.0)
    pauses, message = retried(make_project, {"m": ["conflict"]}, waits, "timeout=0.5")
    assert 0 <= pauses[0] <= 0.5
    assert message.startswith(("stopped after its timeout of 0.5 s", "1 inserted"))


def test_a_stopped_run_ends_a_pause(make_project):
    waits = Waits(first_pause=600.0, longest_pause=600.0)
    faults = {"m": ["conflict"], "other": ["interrupts"]}
    _, message = retried(make_project, faults, waits, threads=2)
    assert message == "cancelled; nothing was committed [cancelled]"
