"""Each character of a Python string maps to its place in the file, whatever its escapes."""

from __future__ import annotations

import ast
import warnings

from hypothesis import given
from hypothesis import strategies as st

from merge_runner.lint.containers.pieced_text import PiecedText
from merge_runner.lint.containers.python_strings import PythonFile, constant_text, formatted_pieces
from merge_runner.text import SourceText

PLAIN = "abT .,;=<>(){}'\"`$%é\u00df\U0001f600"
ESCAPES = ["\\n", "\\t", "\\\\", "\\'", '\\"', "\\x41", "\\u00e9", "\\U0001F600", "\\N{BULLET}", "\\101", "\\\n", "\\q"]
QUOTES = ["'", '"', "'''", '"""']


@st.composite
def literals(draw: st.DrawFn, prefix: str = "") -> str:
    """One string literal of Python."""
    quote = draw(st.sampled_from(QUOTES))
    plain = PLAIN.replace("{", "").replace("}", "") if "f" in prefix else PLAIN
    pieces = draw(st.lists(st.one_of(st.sampled_from(plain), st.sampled_from(ESCAPES), st.just("\n")), max_size=12))
    body = "".join(piece for piece in pieces if piece[0] != quote[0] and not (piece == "\n" and len(quote) == 1))
    return f"{prefix}{quote}{body}{quote}"


@given(st.lists(literals(), min_size=1, max_size=3), st.sampled_from(["x = ", "é = 1; x = ", "call(\n    'ü', *"]))
def test_a_string_maps_to_its_characters(parts: list[str], before: str) -> None:
    text = f"{before}(\n  " + "  # a comment\n  ".join(parts) + "\n)"
    text += ")" if before.startswith("call") else ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        node = next(each for each in ast.walk(ast.parse(text)) if _is_literal(each))
    assert isinstance(node, ast.Constant)
    found = constant_text(PythonFile(SourceText("x.py", text), 0), node, node.value)
    assert found.text == node.value
    for char, origin in zip(found.text, map(found.origin, range(len(found.text))), strict=True):
        written = text[origin.start : origin.end]
        assert (written if origin.exact else ast.literal_eval(f'"{written}"')) == char
    assert [origin.start for origin in found.origins] == sorted(origin.start for origin in found.origins)


def _is_literal(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != "ü"


@given(
    st.lists(st.one_of(literals("f"), st.just("f'{x}'"), st.just("f'a{{b}}{d[\"k\"]!r:>10}'")), min_size=1, max_size=4)
)
def test_an_f_string_is_its_text_and_its_fields(parts: list[str]) -> None:
    text = "x = (" + "\n".join(parts) + ")"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        statement = ast.parse(text).body[0]
    assert isinstance(statement, ast.Assign)
    node = statement.value
    if not isinstance(node, ast.JoinedStr):
        return
    pieces = formatted_pieces(PythonFile(SourceText("x.py", text), 0), node)
    wanted = "".join(each.value if isinstance(each, ast.Constant) else "\0" for each in node.values)
    assert "".join(piece.text if isinstance(piece, PiecedText) else "\0" for piece in pieces) == wanted
    for piece in pieces:
        if not isinstance(piece, PiecedText):
            assert text[piece[0].start] + text[piece[0].end - 1] == "{}"
