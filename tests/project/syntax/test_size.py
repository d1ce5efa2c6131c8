"""Sizes as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.project.syntax.size import byte_count, size_in_words


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (0, 0),
        (500, 500),
        ("500", 500),
        ("500 bytes", 500),
        ("1 byte", 1),
        ("12 B", 12),
        ("500 MB", 500_000_000),
        ("2kB", 2000),
        (" 50 GiB ", 50 << 30),
        ("1.5KiB", 1536),
        ("3 TiB", 3 << 40),
    ],
)
def test_sizes(text, size):
    assert byte_count(text) == size


@pytest.mark.parametrize("value", [-1, 1.5, True, None, "", "GiB", "-1 GiB", "5 gib", "1 EiB", "1 GiB 2", [], "٣ GiB"])
def test_what_is_no_size(value):
    with pytest.raises(ValueError, match='a whole number of bytes, or a text such as "500 MB" or "50 GiB"'):
        byte_count(value)


@given(st.integers(0, 1 << 60))
def test_a_size_in_words_is_read_as_nearly_the_same(size):
    assert abs(byte_count(size_in_words(size)) - size) <= size * 0.05
