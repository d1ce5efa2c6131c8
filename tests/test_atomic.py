"""Files that are written whole, and folders that keep the newest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from merge_runner.atomic import keep_newest

AGES = {"a.json": 1, "b.json": 3, "c.json": 2, "d.bin": 0}
"""Files, by the time when they were written."""


@pytest.mark.parametrize(
    ("most", "left"),
    [
        (3, ["a.json", "b.json", "c.json"]),
        (2, ["b.json", "c.json"]),
        (1, ["b.json"]),
        (0, ["b.json"]),
    ],
)
def test_the_newest_files_stay(tmp_path: Path, most: int, left: list[str]) -> None:
    for name, age in AGES.items():
        (tmp_path / name).write_bytes(b"0123456789")
        os.utime(tmp_path / name, (age, age))
    keep_newest(tmp_path, "*.json", most)
    assert sorted(file.name for file in tmp_path.iterdir()) == [*left, "d.bin"]
