import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.lexer import lex


def words(text: str) -> list[str]:
    return [text[token.start : token.end] for token in lex(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.b", ["a", ".", "b"]),
        (
            "1.5 .5 1. 1e3 1.5E-3 1L 2Y 3bd 1a 1.5x",
            ["1.5", ".5", "1.", "1e3", "1.5E-3", "1L", "2Y", "3bd", "1a", "1", ".", "5x"],
        ),
        ("'it''s' \"a\"\"b\" 'a\\'b' r'a\\' R\"x\"", ["'it''s'", '"a""b"', "'a\\'b'", "r'a\\'", 'R"x"']),
        ("`a``b`.`c d`", ["`a``b`", ".", "`c d`"]),
        (
            "a<=>b!<c!>d<>e>>>f||g::h->i=>j|>k",
            [
                "a",
                "<=>",
                "b",
                "!<",
                "c",
                "!>",
                "d",
                "<>",
                "e",
                ">>>",
                "f",
                "||",
                "g",
                "::",
                "h",
                "->",
                "i",
                "=>",
                "j",
                "|>",
                "k",
            ],
        ),
        ("a -- b\nc", ["a", "c"]),
        ("a -- b\\\nc\nd", ["a", "d"]),
        ("a -- b\\\r\nc", ["a", "c"]),
        ("a /* b /* c */ d */ e", ["a", "e"]),
        ("a /*+ b */ c", ["a", "/*+", "b", "*/", "c"]),
        ("a\u00a0b\u3000c\u2003d\x0be\x0cf", ["a", "b", "c", "d", "e", "f"]),
        ("${spark.x} = 1", ["${spark.x}", "=", "1"]),
        ("", []),
    ],
)
def test_text_is_cut_as_spark_cuts_it(text, expected):
    assert words(text) == expected


def test_a_word_behind_a_dot_is_no_keyword():
    assert [(token.kind, token.key) for token in lex("t.values values")] == [
        ("word", "T"), ("op", "."), ("name", ""), ("word", "VALUES")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("a 'b", 2),
        ('a "b', 2),
        ("a `b", 2),
        ("a /* b /* c */", 2),
        ("a é", 2),
        ("a # b", 2),
        ("a \u200b", 2),
        ("a “b”", 2),
    ],
)
def test_what_spark_does_not_know_is_an_error_at_its_place(text, at):
    with pytest.raises(MergeSyntaxError) as caught:
        lex(text)
    assert caught.value.span.start == at


@given(st.text(alphabet="ab1.'\"`-/*+ \n\\(<>=!|:$\u00a0é", max_size=60))
def test_tokens_are_in_order_and_only_blanks_and_comments_are_between_them(text):
    try:
        tokens = lex(text)
    except MergeSyntaxError:
        return
    at = 0
    for token in tokens:
        assert at <= token.start < token.end
        assert lex(text[at : token.start]) == []
        at = token.end
    assert lex(text[at:]) == []
