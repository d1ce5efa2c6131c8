"""How many threads a run has, and what becomes of it where its driver is lost; no Spark runs here."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from merge_runner import Project
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.table_format.registry import table_format
from merge_runner.errors import Problem, ProblemsError
from merge_runner.run.execution.dag_run import thread_count
from merge_runner.run.node.lost_driver import NotBegunError
from merge_runner.run.results.results import Result


@pytest.mark.parametrize(
    ("wanted", "profile", "models", "cores", "threads"),
    [
        ("auto", 1, 9, 2, 2),
        ("auto", 1, 9, 16, 8),
        ("auto", 1, 3, 16, 3),
        ("auto", 1, 1, 1, 1),
        ("auto", 1, 0, 4, 1),
        (5, "auto", 1, 2, 5),
        (None, "auto", 9, 12, 6),
        (None, 4, 9, 2, 4),
    ],
)
def test_auto_is_half_the_cores_and_at_least_two_but_no_more_than_models(
    monkeypatch, wanted, profile, models, cores, threads
):
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    prepared = SimpleNamespace(files=SimpleNamespace(profile=SimpleNamespace(threads=profile)))
    assert thread_count(prepared, wanted, models) == threads


class Driver:
    """A driver that is not asked for anything."""

    table_format = staticmethod(table_format)

    def __init__(self, *lost):
        self.lost = lost
        """The nodes under which it is lost."""

    def pulse(self):
        return lambda: None

    def stop(self):
        pass


@pytest.fixture
def built(make_project, monkeypatch):
    """Builds models on drivers, the next one where one is lost; gives statuses and causes, and what ran on which."""

    def run(models, *drivers, failing=(), given=False):
        ran, left = [[] for _ in drivers], list(drivers)

        gone = set()

        def run_node(unique_id, context, _touched):
            driver, name = context.driver, unique_id.rpartition(".")[2]
            driver.made = getattr(driver, "made", context.catalog.made)
            if driver in gone:
                raise NotBegunError(EngineError("driver-lost", "the Spark driver is lost: so it is"))
            ran[drivers.index(driver)].append(name)
            if name in driver.lost:
                gone.add(driver)
            context.catalog._made.add(name)
            return Result(unique_id, "error" if name in driver.lost or name in failing else "success")

        @contextmanager
        def driving(_prepared, _events, driver, _starting):
            if driver is None and not left:
                raise ProblemsError([Problem("spark-not-started", "Spark did not start")])
            yield driver or left.pop(0)

        monkeypatch.setattr("merge_runner.run.execution.dag_run.run_node", run_node)
        monkeypatch.setattr("merge_runner.run.build.driving", driving)
        files = {}
        for number, (name, parents) in enumerate(models.items()):
            lines = [f"-- depends_on: {{{{ ref('{parent}') }}}}" for parent in parents]
            head = f"{{{{ config(materialized='table', priority={-number}) }}}} select 1 as n"  # the first one begins
            files[f"models/{name}.sql"] = "\n".join([head, *lines])
        project = Project.load(make_project(files))
        results = project.build(lint=False, threads=1, driver=drivers[0] if given else None).results
        told = {}
        for result in results:
            cause = result.cause.rpartition(".")[2] if result.cause else None
            told[result.unique_id.rpartition(".")[2]] = (result.status, cause) if cause else result.status
        return told, ran

    return run


def test_what_has_not_begun_runs_on_another_driver(built):
    models = {"a": [], "b": ["a"], "c": [], "d": ["c"]}
    statuses, ran = built(models, Driver("a"), Driver())
    assert statuses == {"a": "error", "b": ("skipped", "a"), "c": "success", "d": "success"}
    assert ran == [["a"], ["c", "d"]]


def test_a_full_refresh_on_another_driver_knows_what_the_first_one_has_made_anew(built):
    drivers = Driver("b"), Driver()
    built({"a": [], "b": [], "c": []}, *drivers)
    assert [driver.made for driver in drivers] == [set(), {"a", "b"}]


def test_three_other_drivers_are_started_at_most(built):
    drivers = [Driver(name) for name in "abcde"]
    statuses, ran = built(dict.fromkeys("abcdef", ()), *drivers)
    assert set(statuses.values()) == {"error"}
    assert statuses.keys() == set("abcdef")
    assert ran == [["a"], ["b"], ["c"], ["d"], []]


def test_what_is_below_a_failure_of_the_first_driver_does_not_run_on_the_second(built):
    models = {"bad": [], "kills": [], "late": [], "below_both": ["late", "bad"], "below": ["late"]}
    statuses, ran = built(models, Driver("kills"), Driver(), failing=("bad",))
    assert statuses["below_both"] == ("skipped", "bad")
    assert (statuses["late"], statuses["below"]) == ("success", "success")
    assert ran == [["bad", "kills"], ["late", "below"]]


@pytest.mark.parametrize("given", [True, False], ids=["a driver that was given", "no other driver"])
def test_without_another_driver_what_is_left_has_failed(built, given):
    statuses, ran = built({"a": [], "b": [], "c": ["b"]}, Driver("a"), given=given)
    assert statuses == {"a": "error", "b": "error", "c": ("skipped", "b")}
    assert ran == [["a"]]
