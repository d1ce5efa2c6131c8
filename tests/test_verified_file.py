"""A file of which parts are read is checked as a whole once, and again whenever it is another one."""

from __future__ import annotations

import os
import pickle
import time
from pathlib import Path

import pytest

from merge_runner.kept_values import pack
from merge_runner.verified_file import UNSURE, VerifiedFile, write_verified


def later() -> int:
    """Return a time at which a file that was just written can no longer change in the same tick."""
    return time.time_ns() + 2 * UNSURE


def open_now() -> int:
    """Return how many descriptors are open."""
    return len(list(Path("/dev/fd").iterdir()))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "kept" / "a.bin"


def write(file, name="a"):
    """Write a file with two values, and return where they are, and the checksum."""
    places = {}

    def body(write_part):
        places.update(pack({"one": [name] * 1000, "two": {name: 2}}, write_part))
        return pickle.dumps("head", 5)

    return places, write_verified(file, body, most=2, most_bytes=10**6)


def test_the_parts_are_what_was_written(file):
    places, checksum = write(file)
    for clock in (time.time_ns, later, later):
        opened = VerifiedFile(file, clock)
        assert opened.checksum == checksum
        assert pickle.load(opened.head()) == "head"
        assert [opened.values(place) for place in places.values()] == [["a"] * 1000, {"a": 2}]


def test_a_body_that_cannot_be_written_leaves_the_old_file(file):
    _, checksum = write(file)

    def body(write_part):
        write_part(b"a part")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        write_verified(file, body, most=2, most_bytes=10**6)
    assert VerifiedFile(file).checksum == checksum
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_file_is_checked_once_it_cannot_change_unseen(file):
    write(file)
    note = file.with_suffix(".checked")
    VerifiedFile(file)
    assert not note.exists()
    VerifiedFile(file, later)
    assert note.exists()


@pytest.mark.parametrize("clock", [time.time_ns, later], ids=["just written", "checked before"])
@pytest.mark.parametrize("place", [0, 20, 30, -1])
def test_a_changed_byte_is_noticed(file, place, clock):
    write(file)
    VerifiedFile(file, clock)
    found = file.stat()
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(bytes(content))
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    with pytest.raises(ValueError, match="checksum"):
        VerifiedFile(file, later)


@pytest.mark.parametrize("content", [b"", b"x" * 10, b"x" * 1000])
def test_what_is_no_such_file_is_refused(file, content):
    write(file)
    VerifiedFile(file, later)
    file.write_bytes(content)
    with pytest.raises((ValueError, EOFError)):
        VerifiedFile(file, later)


def test_a_file_that_was_replaced_is_still_read(file):
    places, _ = write(file)
    opened = VerifiedFile(file, later)
    _, other = write(file, "b")
    assert opened.values(places["two"]) == {"a": 2}
    assert VerifiedFile(file, later).checksum == other


def test_no_descriptor_is_left_open(file):
    write(file)
    before = open_now()
    for _ in range(20):
        VerifiedFile(file)
    assert open_now() == before
    VerifiedFile(file, later)
    file.write_bytes(b"x" * 100)
    with pytest.raises(ValueError, match="checksum"):
        VerifiedFile(file)
    assert open_now() == before


def test_the_newest_files_stay(tmp_path):
    for number in range(4):
        write(tmp_path / f"{number}.bin")
        os.utime(tmp_path / f"{number}.bin", ns=(number, number))
        VerifiedFile(tmp_path / f"{number}.bin", later)
    write(tmp_path / "4.bin")
    assert sorted(path.name for path in tmp_path.glob("*.bin")) == ["3.bin", "4.bin"]
    assert len(list(tmp_path.glob("*.checked"))) == 2
