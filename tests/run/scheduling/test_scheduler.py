"""The ready queue, without Spark."""

import linecache
import signal
import sys
import threading
import time
from contextlib import contextmanager

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.run.scheduling.scheduler import EndedAtOnceError, Job, run_jobs


class Recorder:
    """Records starts, ends and skips; a node in `fails` fails, a node in `waits` waits for its event first."""

    def __init__(self, fails=(), waits=None):
        self.fails = set(fails)
        self.waits = waits or {}
        self.log = []
        self.skipped = {}
        self.lock = threading.Lock()

    def work(self, node):
        with self.lock:
            self.log.append(("start", node))
        if node in self.waits:
            assert self.waits[node].wait(10)
        with self.lock:
            self.log.append(("end", node))
        return node not in self.fails

    def skip(self, node, cause):
        self.skipped[node] = cause

    @property
    def order(self):
        return [node for what, node in self.log if what == "start"]


def run(parents, recorder, threads=4, **options):
    fail_fast = options.pop("fail_fast", False)
    cancel = options.pop("cancel", lambda: None)
    run_jobs(Job(parents, recorder.work, recorder.skip, **options), threads, fail_fast, cancel)
    return recorder


def test_a_node_starts_after_all_of_its_parents_have_ended():
    recorder = run({"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}, Recorder())
    position = {event: index for index, event in enumerate(recorder.log)}
    for parent, child in [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]:
        assert position["end", parent] < position["start", child]


def test_independent_nodes_run_at_the_same_time():
    meeting = threading.Barrier(3, timeout=10)
    skipped = []
    run_jobs(Job({"a": [], "b": [], "c": []}, lambda _: meeting.wait() >= 0, lambda n, _: skipped.append(n)), 3)
    assert not skipped


def test_no_more_nodes_run_at_once_than_threads():
    lock, running, most = threading.Lock(), [0], [0]

    def work(_):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.002)
        with lock:
            running[0] -= 1
        return True

    run_jobs(Job({str(n): [] for n in range(20)}, work, lambda *_: None), 3)
    assert most[0] <= 3


def test_the_most_urgent_ready_node_starts_first():
    recorder = run({name: [] for name in "abcd"}, Recorder(), threads=1, priority={"a": 3, "b": 1, "c": 2, "d": 0})
    assert recorder.order == ["d", "b", "c", "a"]


def test_descendants_of_a_failure_are_skipped_with_its_name_and_the_rest_runs():
    recorder = run({"a": [], "b": ["a"], "c": ["b"], "x": [], "y": ["x"]}, Recorder(fails={"a"}))
    assert recorder.skipped == {"b": "a", "c": "a"}
    assert sorted(recorder.order) == ["a", "x", "y"]


def test_a_node_below_two_failures_is_skipped_once():
    recorder = run({"a": [], "b": [], "c": ["a", "b"]}, Recorder(fails={"a", "b"}), threads=1)
    assert recorder.skipped == {"c": "a"}


def test_fail_fast_cancels_what_runs_and_starts_nothing_else():
    release, begun = threading.Event(), threading.Event()
    recorder = Recorder(fails={"a"}, waits={"a": begun, "b": release})

    def work(node):
        if node == "b":
            begun.set()
        return recorder.work(node)

    run_jobs(Job({"a": [], "b": [], "c": [], "d": ["b"]}, work, recorder.skip), 2, fail_fast=True, cancel=release.set)
    assert sorted(recorder.order) == ["a", "b"]
    assert recorder.skipped == {"c": None, "d": None}


def test_two_writers_of_one_table_never_overlap():
    recorder = run({"a": [], "b": [], "c": []}, Recorder(), writes={"a": "t", "b": "t", "c": "u"})
    events = [event for event in recorder.log if event[1] in "ab"]
    assert [what for what, _ in events] == ["start", "end", "start", "end"]


def test_an_exception_in_a_worker_counts_as_a_failure_and_is_raised_when_all_others_have_run():
    ran, skipped = [], {}

    def work(node):
        if node == "a":
            raise RuntimeError("lost")
        ran.append(node)
        return True

    with pytest.raises(RuntimeError, match="lost"):
        run_jobs(Job({"a": [], "b": ["a"], "x": [], "y": ["x"]}, work, skipped.__setitem__), 1)
    assert skipped == {"b": "a"}
    assert ran == ["x", "y"]


def test_an_interrupt_cancels_lets_workers_end_and_is_raised_again():
    release, started = threading.Event(), threading.Event()
    recorder = Recorder(waits={"a": release})
    main = threading.main_thread()

    def work(node):
        started.set()
        return recorder.work(node)

    def interrupt():
        assert started.wait(10)
        signal.pthread_kill(main.ident, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        run_jobs(Job({"a": [], "b": ["a"]}, work, recorder.skip), 2, cancel=release.set)
    assert ("end", "a") in recorder.log
    assert recorder.skipped == {"b": None}


def test_a_second_interrupt_ends_the_run_while_its_workers_still_run():
    release, cancelled, main = threading.Event(), threading.Event(), threading.main_thread()
    recorder = Recorder(waits={"a": release})

    def interrupt_twice():
        signal.pthread_kill(main.ident, signal.SIGINT)
        assert cancelled.wait(10)
        signal.pthread_kill(main.ident, signal.SIGINT)

    def work(node):
        threading.Thread(target=interrupt_twice).start()
        return recorder.work(node)

    try:
        with pytest.raises(EndedAtOnceError):
            run_jobs(Job({"a": [], "b": ["a"]}, work, recorder.skip), 2, cancel=cancelled.set)
        assert ("end", "a") not in recorder.log
    finally:
        release.set()


def _is_no_place(frame):
    """Whether the line is `try:`, which no handler covers: CPython handles signals at calls and jumps alone."""
    return linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip() == "try:"


@contextmanager
def interrupted_at(number):
    """Raises KeyboardInterrupt at the line `number` that the scheduler comes to in this thread, as Ctrl-C may anywhere.

    A second one ends what has not ended after ten seconds.
    """
    main, lines = threading.main_thread().ident, 0
    watch = threading.Timer(10, signal.pthread_kill, (main, signal.SIGINT))

    def trace(frame, event, _argument):
        nonlocal lines
        if "/run/scheduling/" not in frame.f_code.co_filename:
            return None
        lines += event == "line"
        if lines >= number and event == "line" and not _is_no_place(frame):
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    watch.start()
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)
        watch.cancel()


@pytest.mark.parametrize("number", range(40, 180))
def test_an_interrupt_at_any_line_ends_the_run(number):
    """It may come when a node was taken from the queue and is not counted as running, or has ended and still is."""
    release = threading.Event()
    recorder = Recorder(fails={"b"}, waits={"slow": release})
    parents = {"slow": [], "a": [], "b": [], "c": ["a"], "d": ["b"], "e": ["c"], "last": ["slow"]}
    threading.Timer(0.02, release.set).start()
    try:
        with interrupted_at(number):
            run(parents, recorder, threads=2, cancel=release.set)
    except KeyboardInterrupt as error:
        assert not isinstance(error, EndedAtOnceError), "it waited for what does not run"
    started, finished = ({node for what, node in recorder.log if what == which} for which in ("start", "end"))
    assert started == finished
    assert not started & recorder.skipped.keys()


def test_an_interrupt_that_python_tells_as_an_unlocked_lock_is_one():
    """What a second Ctrl-C becomes where it comes while a condition waits for its lock."""
    release, main = threading.Event(), threading.main_thread()
    recorder = Recorder(waits={"a": release})

    def work(node):
        threading.Thread(target=signal.pthread_kill, args=(main.ident, signal.SIGINT)).start()
        return recorder.work(node)

    def cancel():
        try:
            raise KeyboardInterrupt
        finally:
            threading.Lock().release()

    try:
        with pytest.raises(EndedAtOnceError):
            run_jobs(Job({"a": [], "b": ["a"]}, work, recorder.skip), 2, cancel=cancel)
    finally:
        release.set()


@st.composite
def dags(draw):
    size = draw(st.integers(1, 12))
    return {
        str(child): {str(parent) for parent in draw(st.sets(st.integers(0, child - 1)))} if child else set()
        for child in range(size)
    }


@given(dags(), st.integers(1, 4), st.data())
def test_every_node_runs_or_is_skipped_below_a_failure(parents, threads, data):
    fails = data.draw(st.sets(st.sampled_from(sorted(parents))))
    recorder = run(parents, Recorder(fails=fails), threads=threads)
    dag = nx.DiGraph()
    dag.add_nodes_from(parents)
    dag.add_edges_from((parent, child) for child, those in parents.items() for parent in those)
    ran = set(recorder.order)
    failed = ran & fails
    below = set().union(*(nx.descendants(dag, node) for node in failed)) if failed else set()
    assert ran | recorder.skipped.keys() == set(parents)
    assert ran.isdisjoint(recorder.skipped)
    assert set(recorder.skipped) == below
    assert all(cause in nx.ancestors(dag, node) & failed for node, cause in recorder.skipped.items())
    position = {event: index for index, event in enumerate(recorder.log)}
    for parent, child in dag.edges:
        if child in ran:
            assert position["end", parent] < position["start", child]
