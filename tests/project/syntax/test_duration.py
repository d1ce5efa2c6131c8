"""Durations as people write and say them."""

import pytest

from merge_runner.project.syntax.duration import in_words, seconds


@pytest.mark.parametrize(
    ("text", "found"), [("90", 90), (90, 90), ("1.5m", 90), ("36 h", 129_600), ("7d", 604_800), (" 2s ", 2)]
)
def test_it_is_read(text, found):
    assert seconds(text) == found


@pytest.mark.parametrize("text", ["", "0", "-1h", "1w", "a day", True, None, float("inf"), float("nan")])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(ValueError, match="a number of seconds above 0"):
        seconds(text)


@pytest.mark.parametrize(
    ("duration", "words"),
    [
        (604_800, "7 days"),
        (86_400, "1 day"),
        (129_600, "36 hours"),
        (60, "1 minute"),
        (90, "90 seconds"),
        (1.5, "1.5 seconds"),
    ],
)
def test_it_is_told(duration, words):
    assert in_words(duration) == words
