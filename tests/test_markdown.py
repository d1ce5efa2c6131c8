"""Texts as code of Markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from merge_runner.columns import one_line
from merge_runner.markdown import WIDEST, block, code

TEXTS = st.text(st.sampled_from("`~ a<&\\|*@\n\t\r\u2028é"), max_size=12)


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("fct", "`fct`"),
        ("a ` b", "``a ` b``"),
        ("`a`", "`` `a` ``"),
        ("", "` `"),
        ("a\n/close", "`a /close`"),
        ("a" * 600, f"`{'a' * (WIDEST - 1)}…`"),
    ],
)
def test_code_in_a_line(text, markdown):
    assert code(text) == markdown


@given(TEXTS)
def test_code_shows_the_text_and_nothing_else(text):
    (inline,) = MarkdownIt().parseInline(f"x {code(text)} y")
    assert [(child.type, child.content) for child in inline.children] == [
        ("text", "x "),
        ("code_inline", one_line(text) or " "),
        ("text", " y"),
    ]


@given(st.lists(TEXTS, max_size=4))
def test_a_block_has_a_line_for_each_text(lines):
    tokens = MarkdownIt().parse("\n".join([*block(lines), "", "after"]))
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert tokens[0].content.count("\n") == len(lines)
