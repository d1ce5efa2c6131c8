"""Values that are made in forks: parts of a whole, and a large project, which is the same as without them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading

import pytest

from merge_runner.forked import in_parts, made_in_child
from merge_runner.plan.load.flags import Flags
from merge_runner.plan.load.project_context import prepare_to_lint
from merge_runner.project.syntax.environment import RecordingEnv
from tests.written_project import write_project

MODELS = 300


def made_in_a_command(make):
    """Return the lines that a process without other threads, as those of commands are, prints of what it makes."""
    code = f"""
import os
from merge_runner.forked import made_in_child

def fails():
    raise ValueError("in the child")

print(made_in_child({make}), os.getpid(), sep="\\n")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.splitlines()


def test_a_value_is_made_in_another_process():
    child, process = made_in_a_command("os.getpid")
    assert child.isdigit() and child != process


@pytest.mark.parametrize("make", ["fails", "lambda: lambda: None", "lambda: os._exit(3)"])
def test_what_cannot_be_made_or_sent_is_left_to_the_caller(make):
    assert made_in_a_command(make)[0] == "None"


def test_no_process_is_forked_next_to_a_thread():
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert made_in_child(os.getpid) is None
    finally:
        end.set()
        thread.join()


PARTS = """
import os, signal
from merge_runner.forked import in_parts

def {make}

os.sched_getaffinity = lambda _: range(3)
with in_parts(made, list(range(9)), 300) as parts:
    print([(part, found) for part, found in parts])
print(os.getpid())
"""


def in_parts_of(make):
    done = subprocess.run(
        [sys.executable, "-c", PARTS.format(make=make)], capture_output=True, text=True, check=True, timeout=60
    )
    return ast.literal_eval(done.stdout.splitlines()[0])


def test_parts_come_in_their_order_and_the_first_is_left_to_the_caller():
    expected = [([0, 1, 2], None), ([3, 4, 5], 12), ([6, 7, 8], 21)]
    assert in_parts_of("made(part): return sum(part)") == expected


@pytest.mark.parametrize("end", ["1 / 0", "os.kill(os.getpid(), signal.SIGKILL)", "lambda: None"])
def test_a_part_that_a_fork_does_not_make_is_left_to_the_caller(end):
    make = f"made(part): return sum(part) if 4 not in part else {end}"
    assert in_parts_of(make) == [([0, 1, 2], None), ([3, 4, 5], None), ([6, 7, 8], 21)]


def test_items_of_a_few_models_are_one_part():
    with in_parts(sum, [1, 2, 3], 149) as parts:
        assert list(parts) == [([1, 2, 3], None)]


def loaded(root, *, cache):
    """What lint knows of a project, and what it has asked of the environment."""
    env = RecordingEnv({"HOME": "/nowhere", "DAY": "in no file"})
    prepared, found = prepare_to_lint(root, Flags(), env, cache=cache)
    graph = prepared.graph
    nodes = {unique_id: graph.nodes[unique_id] for unique_id in graph.nodes}
    files = {name: prepared.files.models[name] for name in prepared.files.models}
    return nodes, files, found, env.asked, graph.unread, prepared.base is not None


@pytest.mark.parametrize(
    ("last", "is_kept"), [("select {% if env_var('DAY') %}1{% endif %} as id", True), ("select {{ nothing }}", False)]
)
def test_a_large_project_is_what_it_is_without_another_process(tmp_path, last, is_kept):
    models = {f"models/m{number}.sql": f"select {number} as id\n" for number in range(MODELS)}
    root = write_project(tmp_path, "s", {**models, "models/last.sql": last})
    *expected, _ = loaded(root, cache=False)
    *cold, kept_now = loaded(root, cache=True)
    *warm, _ = loaded(root, cache=True)
    assert cold == warm == expected
    assert kept_now == is_kept
    assert ("DAY" in expected[3]) == is_kept
