"""Values that are made in forks: parts of a whole."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from merge_runner.forked import in_parts

MODELS = 300


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
