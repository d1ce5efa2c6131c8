"""Reading text files."""

from __future__ import annotations

import pytest

from merge_runner.errors import Problems
from merge_runner.project.syntax.read_text import read_text


def read(tmp_path, content):
    file = tmp_path / "a.sql"
    file.write_bytes(content)
    problems = Problems()
    found = read_text(file, "a.sql", problems, None)
    return found and found.text, [str(problem) for problem in problems]


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"a\r\nb\rc\n", "a\nb\nc\n"), (b"\xef\xbb\xbfa", "a"), ("ü".encode(), "ü"), (b"", "")],
)
def test_newlines_are_line_feeds_and_a_byte_order_mark_is_none_of_the_text(tmp_path, content, text):
    assert read(tmp_path, content) == (text, [])


@pytest.mark.parametrize(
    ("content", "place"),
    [(b"ab\xff", "1:3"), ("ü\r\nü".encode() + b"\xe4", "2:2"), (b"\xef\xbb\xbf\xff", "1:1"), (b"a\rb\n\xc3", "3:1")],
)
def test_what_is_not_utf8_is_told_with_line_and_column(tmp_path, content, place):
    text, problems = read(tmp_path, content)
    assert text is None
    found = f"byte 0x{content[-1]:02x} at offset {len(content) - 1}"
    assert problems == [f"a.sql:{place}: not UTF-8: {found} [not-utf8]\n    save the file as UTF-8"]


def test_a_file_that_is_not_there_is_a_problem(tmp_path):
    problems = Problems()
    assert read_text(tmp_path / "no.sql", "no.sql", problems, None) is None
    assert [str(problem) for problem in problems] == [
        "no.sql:1:1: cannot be read: No such file or directory [unreadable]"
    ]
