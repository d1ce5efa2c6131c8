"""Compiled SQL by its origins, and what the runner has put in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.pages.project.marked_text import join_pieces, run_pieces


@pytest.mark.parametrize(
    ("compiled", "run", "expected"),
    [
        ("on t.id = s.id", "on t.id = s.id", [("author", "on t.id = s.id")]),
        (
            "on t.id = s.id\nwhen",
            "on t.d in ('a') and t.id = s.id\nwhen",
            [("author", "on t."), ("runner", "d in ('a') and t."), ("author", "id = s.id\nwhen")],
        ),
        ("", "select 1", [("runner", "select 1")]),
        ("select 1", "", []),
    ],
)
def test_what_the_runner_put_in_is_marked(compiled, run, expected):
    assert run_pieces(compiled, run) == expected


@given(st.text(alphabet="ab .,\n(", max_size=40), st.text(alphabet="ab .,\n(", max_size=40))
def test_the_pieces_are_the_text_that_ran(compiled, run):
    pieces = run_pieces(compiled, run)
    assert "".join(text for _, text in pieces) == run
    assert pieces == join_pieces(pieces)


def test_texts_that_differ_too_much_are_marked_as_a_whole_between_their_ends():
    compiled, run = f"begin {'a ' * 4_000}end", f"begin {'b ' * 4_000}end"
    assert run_pieces(compiled, run) == [("author", "begin "), ("runner", f"{'b ' * 3_999}b"), ("author", " end")]
