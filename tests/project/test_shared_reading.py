"""Files that are read in several processes."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from merge_runner.project.load.shared_reading import SharedReading
from merge_runner.project.syntax.environment import RecordingEnv, asked_of

READING = """
import os, sys
from merge_runner.project.load.shared_reading import SharedReading
from merge_runner.project.syntax.environment import RecordingEnv, asked_of

os.sched_getaffinity = lambda _: range(2)
first, env, read = os.getpid(), RecordingEnv({"A": "a"}), []

def here(items):
    read.extend(("here", item) for item in items)

def there(items):
    assert os.getpid() != first and read == [("here", 0)]
    env.get("A"), env.get("B")
    return [("there", item) for item in items]

def take(found):
    read.extend(found)
    return TAKES

SharedReading(env, None).read(range(5), MODELS, here, there, take)
print(read, asked_of(env))
"""
ALL_HERE = [("here", item) for item in range(5)]


@pytest.mark.parametrize(
    ("models", "takes", "expected"),
    [
        (149, True, (ALL_HERE, {})),
        (150, True, ([*ALL_HERE[:3], ("there", 3), ("there", 4)], {"A": "a", "B": None})),
        (150, False, ([*ALL_HERE[:3], ("there", 3), ("there", 4), *ALL_HERE[3:]], {})),
    ],
)
def test_from_150_models_on_a_fork_reads_a_part(models, takes, expected):
    code = READING.replace("MODELS", str(models)).replace("TAKES", str(takes))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == " ".join(map(str, expected))


def test_all_is_read_here_next_to_a_thread():
    read: list[int] = []
    env = RecordingEnv({})
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        SharedReading(env, None).read([1, 2, 3], 1000, read.extend, list, lambda _: True)
    finally:
        end.set()
        thread.join()
    assert read == [1, 2, 3]
    assert asked_of(env) == {}
