"""Whatever goes wrong in whatever DAG: after enough retries each MERGE is committed exactly once, after its parents."""

import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from merge_runner.api import Project
from merge_runner.cli.host import Host
from merge_runner.cli.main import main
from tests.fake_engine import FakeDriver, Lake, Starts
from tests.fake_engine.projects import model_files
from tests.run.node.test_faults import journal_of, last_part, open_locks, results_of

MOST_RUNS = 25
"""More than a project with the faults below can need."""
WORDS = st.sampled_from(
    [None, "conflict", "fails"]
    + [word + after for word in ("transient", "unknown", "broken", "lost") for after in ("", " after")]
)


@st.composite
def dags(draw):
    """Models by name with their parents, in a topological order; some have little patience or hooks."""
    names = [f"m{number}" for number in range(draw(st.integers(1, 5)))]
    return {
        name: {
            "parents": draw(st.lists(st.sampled_from(names[:number]), unique=True)) if number else [],
            "config": draw(st.sampled_from(["", "retries=0", "on_error='continue'", "post_hook='call tidy()'"])),
        }
        for number, name in enumerate(names)
    }


@st.composite
def scripts(draw):
    """A DAG, and the faults of each of the drivers that run it, one after the other."""
    models = draw(dags())
    statements = st.sampled_from([place for name in models for place in (name, name, f"create {name}")] + ["call tidy"])
    reads = st.sampled_from([f"{what} of {name}" for name in models for what in ("commits", "layout")])
    faults = st.builds(
        lambda *parts: {place: words for part in parts for place, words in part.items()},
        st.dictionaries(statements, st.lists(WORDS, max_size=3), max_size=4),
        st.dictionaries(
            reads, st.lists(st.sampled_from([None, "transient", "broken", "fails"]), max_size=3), max_size=2
        ),
        st.dictionaries(st.sampled_from(["session 1", "session 2"]), st.just(["lost"]), max_size=1),
    )
    return models, draw(st.lists(faults, min_size=1, max_size=4)), draw(st.integers(1, 3))


@given(scripts())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_after_enough_retries_each_merge_is_committed_once(make_project, script):
    models, faults, threads = script
    root, lake = make_project(model_files(models)), Lake()
    left = [FakeDriver(lake, each, answers={"call tidy": []}) for each in faults]
    used = []

    def next_driver():
        """Return the next driver of the script, after the last one a driver without faults."""
        used.append(left.pop(0) if left else FakeDriver(lake, answers={"call tidy": []}))
        return used[-1]

    drivers = Starts(more=next_driver)
    Project(Project.load(root).prepared, drivers).build(lint=False, threads=threads)
    check(root, models, lake, used)
    for _ in range(MOST_RUNS):
        if all(result["status"] in ("success", "no-op") for result in results_of(root).values()):
            break
        with pytest.raises(SystemExit):
            main(["retry", "--quiet", "--project-dir", str(root)], Host(start=drivers))
        check(root, models, lake, used)
    else:
        raise AssertionError(results_of(root))
    assert {name: lake.operations(name).count("MERGE") for name in models} == dict.fromkeys(models, 1)
    shutil.rmtree(root)


def check(root, models, lake, used):
    """What holds after each run, however it has ended."""
    results, events = results_of(root), journal_of(root)
    assert [list(open_locks(root)), [driver.groups for driver in used if driver.groups]] == [[], []]
    finished = {last_part(each["node"]): each["result"] for each in events if each["event"] == "node_finished"}
    assert {name: each["status"] for name, each in finished.items()} == {
        name: each["status"] for name, each in results.items()
    }
    for name, result in results.items():
        merges = lake.operations(name).count("MERGE")
        assert merges == 1 if result["status"] in ("success", "no-op") else merges <= 1, result
        assert "nothing was committed" not in (result["message"] or "") or merges == 0, result
        assert "had committed as version" not in (result["message"] or "") or merges == 1, result
    order = [name for name, operation in lake.commits if operation == "MERGE"]
    for number, name in enumerate(order):
        for parent in models[name]["parents"]:
            assert parent in order[:number] or models[parent]["config"] == "on_error='continue'"
