"""What earlier runs kept: it is taken where all that it depends on is the same, and never else."""

from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest

from merge_runner.store import Store, key, toolchain

FILE = "kept.sqlite"
KEY = key("a file")


def yes(_kind, _name):
    return "yes"


def kept(file, *entries):
    store = Store(file)
    for name, value in entries:
        store.put(key(name), value, [("var", "v")], yes)
    store.write(10)
    return Store(file)


def test_a_question_with_another_answer_is_not_taken(tmp_path):
    found = kept(tmp_path / FILE, ("a file", [1]))
    assert found.get(KEY, yes) == ([("var", "v")], [1])
    assert found.get(KEY, lambda _kind, _name: None) is None
    assert found.get(key("another file"), yes) is None


def test_many_are_written_before_the_end_and_found(tmp_path):
    store = Store(tmp_path / FILE)
    assert store.get(key(0), yes) is None  # there is no file yet
    for number in range(30):
        store.put(key(number), [number, "x" * 500_000], [("var", "v")], yes)
    other = Store(tmp_path / FILE)
    found = [other.get(key(number), yes) is not None for number in range(30)]
    assert found == sorted(found, reverse=True)
    assert 15 <= sum(found) < 30
    assert store.get(key(0), yes)[1][0] == 0
    store.write(10)
    assert [number for number in range(30) if Store(tmp_path / FILE).get(key(number), yes)] == [*range(20, 30)]


def test_the_oldest_go(tmp_path):
    found = kept(tmp_path / FILE, *((number, number) for number in range(25)))
    assert [number for number in range(25) if found.get(key(number), yes) is not None] == list(range(15, 25))


@pytest.mark.parametrize("damage", ["no database", "cut", "content", "key"])
def test_what_is_damaged_is_made_again(tmp_path, damage, caplog):
    file = tmp_path / FILE
    kept(file, ("a file", [1]), ("b", [2]))
    if damage in ("no database", "cut"):
        file.write_bytes(b"no database" * 1000 if damage == "no database" else file.read_bytes()[:5000])
    else:
        connection = sqlite3.connect(file)
        change = "content = replace(content, '1', '2')" if damage == "content" else "key = x'00' where key = ?"
        connection.execute(f"update kept set {change}", (KEY,) if damage == "key" else ())
        if damage == "key":  # another file's row under the key of this one
            connection.execute("update kept set key = ? where key <> x'00'", (KEY,))
        connection.commit()
        connection.close()
    with caplog.at_level(logging.DEBUG, "merge_runner.store"):
        assert Store(file).get(KEY, yes) is None
    assert "is made again" in caplog.text
    assert kept(file, ("a file", [3])).get(KEY, yes) == ([("var", "v")], [3])


def test_another_process_that_writes_costs_time_alone(tmp_path):
    file = tmp_path / FILE
    found = kept(file, ("a file", [1]))
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("begin exclusive")
    assert found.get(KEY, yes) is None
    kept(file, ("b", [2]))
    other.execute("rollback")
    other.close()
    assert Store(file).get(KEY, yes) == ([("var", "v")], [1])
    assert Store(file).get(key("b"), yes) is None


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "target").write_text("a file")
    assert kept(tmp_path / "target" / FILE, ("a file", [1])).get(KEY, yes) is None


def test_python_the_libraries_and_all_files_of_the_package_count():
    python, libraries, files = toolchain()
    assert python == sys.version
    assert version("sqlglot") in libraries
    assert {"check_cache.py", "p001_unbounded_target.py"} <= {Path(name).name for name, _, _ in files}


WRITER = """
import itertools, sys
from pathlib import Path
from merge_runner.store import Store, key
name, rounds = sys.argv[2], int(sys.argv[3])
for number in range(rounds) if rounds else itertools.count():
    store = Store(Path(sys.argv[1]))
    for entry in range(20):
        store.put(key(name, number, entry), [name, number, entry, "x" * 2000])
    store.write(1000)
    print(number, flush=True)
"""


def writer(file, name, rounds):
    """Start a process that writes 20 entries in each round; without rounds it does so until it is killed."""
    command = [sys.executable, "-c", WRITER, str(file), name, str(rounds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def entries(file, name, number):
    """Return the values of a round that are in the store."""
    store = Store(file)
    found = [store.get(key(name, number, entry)) for entry in range(20)]
    return [value[1][:3] for value in found if value is not None]


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    file = tmp_path / FILE
    processes = [writer(file, name, 10) for name in "abc"]
    assert [process.communicate()[1] for process in processes] == [""] * 3
    for name in "abc":
        for number in range(10):
            assert entries(file, name, number) == [[name, number, entry] for entry in range(20)]


def test_a_killed_process_leaves_whole_entries(tmp_path):
    file = tmp_path / FILE
    for turn in range(8):
        process = writer(file, str(turn), 0)
        for _ in range(turn % 3 + 1):
            process.stdout.readline()
        time.sleep(turn / 500)
        process.kill()
        lines = process.communicate()[0].split()
        last = int(lines[-1]) if lines else turn % 3
        for number in range(last + 2):  # the round that was cut is there as a whole, or not at all
            assert entries(file, str(turn), number) in ([], [[str(turn), number, entry] for entry in range(20)])
        assert entries(file, str(turn), last)
