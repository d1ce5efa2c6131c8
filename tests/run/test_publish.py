"""What `publish` does with what it finds, without Spark; tests/run/test_branches.py has real tables."""

import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from merge_runner import Project
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.tables.branches import Branch
from merge_runner.errors import ProblemsError
from merge_runner.run import publish as module

MERGE = "merge into {{ this }} t using (UPSTREAM) s on t.id = s.id when not matched then insert *"
FILES = {
    "models/zero.sql": MERGE.replace("UPSTREAM", "select 1 as id"),
    "models/after.sql": MERGE.replace("UPSTREAM", "select * from {{ ref('zero') }}"),
    "models/last.sql": MERGE.replace("UPSTREAM", "select * from {{ ref('after') }}"),
}
RESULTS = {
    "metadata": {"invocation_id": "i"},
    "args": {"which": "build", "branch": "ci"},
    "results": [{"unique_id": "model.shop.zero", "status": "success"}],
}


class Tables:
    """Tables by their models' names: the state of the branch of each, None for a table without it."""

    def __init__(self, states, breaks_at=None):
        self.states = states
        self.breaks_at = breaks_at
        self.calls = []

    def find(self, _session, table, name):
        state = self.states[table.identifier]
        return None if state is None else Branch(table, name, 2, 1, state)

    def forward(self, _session, branch):
        self._call("forward", branch.table)
        self.states[branch.table.identifier] = "published"

    def drop(self, _session, table, _name):
        self._call("drop", table)
        self.states[table.identifier] = None

    def _call(self, what, table):
        if self.breaks_at == (what, table.identifier):
            raise EngineError("gone", "the catalog has gone")
        self.calls.append(f"{what} {table.identifier}")


@pytest.fixture
def publish(make_project, monkeypatch):
    root = make_project(FILES, "iceberg")

    @contextmanager
    def session():
        yield SimpleNamespace(conf={})

    driver = SimpleNamespace(session=session)

    def run(states, breaks_at=None, results=None, **options):
        tables = Tables(dict(zip(("zero", "after", "last"), states, strict=True)), breaks_at)
        for name, fake in (
            ("find_branch", tables.find),
            ("fast_forward", tables.forward),
            ("drop_branch", tables.drop),
        ):
            monkeypatch.setattr(module, name, fake)
        monkeypatch.setattr(module, "table_exists", lambda *_: True)
        if results is not None:
            (root / "target").mkdir(exist_ok=True)
            (root / "target/run_results.json").write_text(json.dumps(results))
        events = []
        outcome = Project.load(root).publish("ci", driver=driver, on_event=events.append, **options)
        told = [event.data.get("message") for event in events if event.level == "error"]
        return outcome, tables, told

    return run


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
def test_parents_first_and_then_the_branches_go(publish, states, calls):
    outcome, tables, _ = publish(states)
    assert (outcome.ok, tables.calls) == (True, calls)


def test_all_or_none_that_moved(publish):
    outcome, tables, told = publish(("ahead", "moved", "moved"))
    assert (outcome.ok, tables.calls, len(told)) == (False, [], 2)
    assert [name.rpartition(".")[2] for name in outcome.moved] == ["after", "last"]


@pytest.mark.parametrize(
    ("breaks_at", "calls", "again"),
    [
        (
            ("forward", "after"),
            ["forward zero"],
            ["forward after", "forward last", "drop zero", "drop after", "drop last"],
        ),
        (
            ("drop", "after"),
            ["forward zero", "forward after", "forward last", "drop zero"],
            ["drop after", "drop last"],
        ),
    ],
)
def test_what_breaks_off_goes_on_with_the_same_command(publish, breaks_at, calls, again):
    outcome, tables, told = publish(("ahead",) * 3, breaks_at)
    assert (outcome.ok, tables.calls) == (False, calls)
    assert "the catalog has gone [gone]" in told[0]
    outcome, tables, _ = publish(tuple(tables.states.values()))
    assert (outcome.ok, tables.calls) == (True, again)


def test_no_table_has_the_branch(publish):
    with pytest.raises(ProblemsError, match="no-branch"):
        publish((None, None, None))
    assert publish((None, None, None), drop=True)[0].ok


def test_drop_asks_nobody_how_the_build_went(publish):
    failed = {**RESULTS, "results": [{"unique_id": "model.shop.zero", "status": "error"}]}
    outcome, tables, _ = publish(("ahead", "moved", None), results=failed, drop=True)
    assert (outcome.ok, tables.calls) == (True, ["drop zero", "drop after"])


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
def test_how_the_build_of_the_branch_went(publish, unique_id, status, branch, ok):
    args = {"which": "build", "branch": branch}
    results = {**RESULTS, "args": args, "results": [{"unique_id": unique_id, "status": status}]}
    outcome, tables, told = publish(("ahead", None, None), results=results)
    assert (outcome.ok, bool(tables.calls), outcome.undone) == (ok, ok, [] if ok else [unique_id])
    assert bool(told) is not ok
