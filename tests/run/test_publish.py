"""What `publish` does with what it finds, on the fake engine; tests/run/builds/test_branches.py has real tables."""

import json

import pytest

from merge_runner import Project
from merge_runner.errors import ProblemsError
from tests.fake_engine import FakeDriver, Lake
from tests.fake_engine.projects import model_files

NAMES = ("zero", "after", "last")
FILES = model_files({"zero": {"tests": ["unique"]}, "after": {"parents": ["zero"]}, "last": {"parents": ["after"]}})
RESULTS = {
    "metadata": {"invocation_id": "i"},
    "args": {"which": "build", "branch": "ci"},
    "results": [{"unique_id": "model.shop.zero", "status": "success"}],
}


class Shop:
    """A project whose tables are there, on main and, by the states of their branches, on `ci`."""

    def __init__(self, root, lake):
        self.root, self.lake = root, lake
        self.events = []

    def build(self, branch=None, select=(), driver=None):
        project = Project.load(self.root)
        return project.build(select, branch=branch, lint=False, driver=driver or FakeDriver(self.lake))

    def publish(self, faults=None, results=None, **options):
        if results is not None:
            (self.root / "target/run_results.json").write_text(json.dumps(results))
        self.events.clear()
        driver = FakeDriver(self.lake, faults)
        outcome = Project.load(self.root).publish("ci", driver=driver, on_event=self.events.append, **options)
        assert driver.faults.left == {}
        return outcome

    def calls(self):
        """What was done to tables, in order."""
        words = {"table_published": "forward", "branch_dropped": "drop"}
        done = [(words[event.event], event.data["table"]) for event in self.events if event.event in words]
        return [f"{word} {table.rpartition('.')[2]}" for word, table in done]

    def told(self):
        return [event.data["message"] for event in self.events if event.level == "error"]

    def branches(self):
        return [name for name in NAMES if self.lake[name].branches]


@pytest.fixture
def shop(make_project):
    def make(states=("ahead",) * 3):
        """`ahead`, `published`, `moved`, or None for a table without the branch."""
        made = Shop(make_project(FILES, "iceberg"), Lake())
        assert made.build().ok
        for name, state in zip(NAMES, states, strict=True):
            table = made.lake[name]
            if state is not None:
                table.branches["ci"] = table.copied()
            if state in ("ahead", "moved"):
                made.lake.commit(table.branches["ci"], "MERGE")
            if state == "moved":
                made.lake.commit(table, "WRITE")
        return made

    return make


@pytest.mark.parametrize(
    ("states", "calls"),
    [
        (
            ("ahead", "ahead", "ahead"),
            ["forward zero", "forward after", "forward last", "drop zero", "drop after", "drop last"],
        ),
        (("published", None, "ahead"), ["forward last", "drop zero", "drop last"]),
        (("published", None, None), ["drop zero"]),
    ],
)
def test_parents_first_and_then_the_branches_go(shop, states, calls):
    made = shop(states)
    assert (made.publish().ok, made.calls(), made.branches()) == (True, calls, [])


def test_all_or_none_that_moved(shop):
    made = shop(("ahead", "moved", "moved"))
    outcome = made.publish()
    assert (outcome.ok, made.calls(), len(made.told())) == (False, [], 2)
    assert [name.rpartition(".")[2] for name in outcome.moved] == ["after", "last"]
    assert made.branches() == [*NAMES]


@pytest.mark.parametrize(
    ("place", "calls", "again"),
    [
        (
            "publish after",
            ["forward zero"],
            ["forward after", "forward last", "drop zero", "drop after", "drop last"],
        ),
        (
            "drop after",
            ["forward zero", "forward after", "forward last", "drop zero"],
            ["drop after", "drop last"],
        ),
    ],
)
def test_what_breaks_off_goes_on_with_the_same_command(shop, place, calls, again):
    made = shop()
    outcome = made.publish({place: ["transient"]})
    assert (outcome.ok, made.calls()) == (False, calls)
    assert "Could not find BlockManager" in made.told()[0]
    assert (made.publish().ok, made.calls()) == (True, again)


def test_a_table_that_was_moved_before_the_answer_was_lost_counts_as_published(shop):
    made = shop()
    outcome = made.publish({"publish after": ["lost after"]})
    assert (outcome.ok, made.calls(), len(outcome.left)) == (False, ["forward zero"], 2)
    outcome = made.publish()
    assert (outcome.ok, len(outcome.already), made.calls()[0]) == (True, 2, "forward last")


def test_a_main_that_moves_while_tables_are_published_stops_it(shop):
    made = shop()
    assert not made.publish({"publish after": ["conflict"]}).ok
    outcome = made.publish()
    assert [name.rpartition(".")[2] for name in outcome.moved] == ["after"]
    assert made.lake.operations("last")[-1] == "MERGE"
    assert len(made.lake["last"].branches["ci"].commits) > len(made.lake["last"].commits)


def test_no_table_has_the_branch(shop):
    made = shop((None, None, None))
    with pytest.raises(ProblemsError, match="no-branch"):
        made.publish()
    assert made.publish(drop=True).ok


def test_what_a_build_writes_on_a_branch_is_published_with_its_rows(shop):
    made = shop((None, None, None))
    before = {name: made.lake.operations(name) for name in NAMES}
    assert made.build("ci").ok
    assert {name: made.lake.operations(name) for name in NAMES} == before
    assert made.publish().ok
    assert {name: made.lake.operations(name) for name in NAMES} == {name: [*before[name], "MERGE"] for name in NAMES}


def test_a_build_whose_audit_fails_is_not_published(shop):
    made = shop((None, None, None))
    failing = FakeDriver(made.lake, failures={"zero": 3})
    assert not made.build("ci", driver=failing).ok
    outcome = made.publish()
    assert (outcome.ok, made.calls()) == (False, [])
    assert "has left unique_zero_id, after, last failed or skipped; nothing is published" in made.told()[0]


def test_drop_asks_nobody_how_the_build_went(shop):
    failed = {**RESULTS, "results": [{"unique_id": "model.shop.zero", "status": "error"}]}
    made = shop(("ahead", "moved", None))
    assert made.publish(results=failed, drop=True).ok
    assert made.calls() == ["drop zero", "drop after"]


@pytest.mark.parametrize(
    ("unique_id", "status", "branch", "ok"),
    [
        ("model.shop.zero", "success", "ci", True),
        ("model.shop.zero", "warn", "ci", True),
        ("model.shop.zero", "error", "ci", False),
        ("model.shop.zero", "fail", "ci", False),
        ("model.shop.zero", "skipped", "ci", False),
        ("model.shop.zero", "error", "another", True),
        ("model.shop.zero", "error", None, True),
        ("model.shop.gone", "error", "ci", True),
    ],
)
def test_how_the_build_of_the_branch_went(shop, unique_id, status, branch, ok):
    args = {"which": "build", "branch": branch}
    results = {**RESULTS, "args": args, "results": [{"unique_id": unique_id, "status": status}]}
    made = shop(("ahead", None, None))
    outcome = made.publish(results=results)
    assert (outcome.ok, bool(made.calls()), outcome.undone) == (ok, ok, [] if ok else [unique_id])
    assert bool(made.told()) is not ok
