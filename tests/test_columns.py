"""What a terminal shows of a text: widths, and where lines end."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from merge_runner.columns import cut, width, wrapped

TEXTS = st.lists(st.text("ab-_.:`'é漢字\u0301", min_size=1, max_size=14), max_size=30).map(" ".join)


@pytest.mark.parametrize(
    ("text", "room", "hanging", "lines"),
    [
        ("a short one", 20, 4, ["a short one"]),
        ("one two three", 8, 0, ["one two", "three"]),
        ("one two three", 8, 2, ["one two", "  three"]),
        ("  one two three", 9, 2, ["  one two", "    three"]),
        ("1/9 OK   1.25 s  fct  2 inserted", 24, 8, ["1/9 OK   1.25 s  fct  2", "        inserted"]),
        ("models/a_long_name.sql:1:2: no", 12, 4, ["models/a_long_name.sql:1:2:", "    no"]),
        ("\x1b[31mred words\x1b[0m and", 9, 0, ["\x1b[31mred words\x1b[0m", "and"]),
        ("漢字 漢字 漢字", 9, 0, ["漢字 漢字", "漢字"]),
        ("a\n\nb c", 2, 0, ["a", "", "b", "c"]),
        ("", 10, 4, [""]),
    ],
)
def test_a_line_ends_between_words(text, room, hanging, lines):
    assert wrapped(text, room, hanging) == lines


@given(TEXTS, st.integers(10, 60), st.integers(0, 12))
def test_no_word_is_lost_or_broken_and_no_line_is_too_wide(text, room, hanging):
    lines = wrapped(text, room, hanging)
    assert " ".join(lines).split() == text.split()
    assert all(width(line) <= room or len(line.split()) == 1 for line in lines)


@given(TEXTS, st.integers(10, 60))
@example(":: :: :字 :字 ::::::::::\u0301: :", 25)
def test_what_is_cut_ends_with_a_whole_word_where_half_of_it_is_left(text, room):
    shown = cut(text, room, "…")
    assert width(shown) <= room
    if shown != text:
        assert shown.endswith("…")
        kept = shown.removesuffix("…")
        assert text.startswith(kept)
        assert text[len(kept)] == " " or 2 * width(text[: len(kept)].rpartition(" ")[0]) <= room


@pytest.mark.parametrize(
    ("text", "room", "shown"),
    [
        ("the largest flight_date is known", 20, "the largest…"),
        ("a_very_long_name_without_a_blank", 10, "a_very_lo…"),
        ("fits", 4, "fits"),
    ],
)
def test_a_text_is_cut_between_words(text, room, shown):
    assert cut(text, room, "…") == shown
