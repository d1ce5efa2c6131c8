import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from merge_runner.columns import cut, one_line, width
from merge_runner.lint.outputs.excerpt import excerpt
from merge_runner.lint.outputs.style import Style
from merge_runner.text import SourceText
from tests.yaml_data import read_yaml

from .golden import HERE, place

CASES = read_yaml(HERE / "excerpts.yml")


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_excerpt(case):
    style = Style(width=case.get("width", 80), unicode=case.get("unicode", True))
    lines = excerpt(case["text"], place("m.sql", case["at"]), style, "red")
    assert "".join(f"{line.rstrip()}\n" for line in lines) == case["expected"]


texts = st.text(st.sampled_from("ab \t\n東\u0301\x1b'…"), min_size=1, max_size=60)


@given(texts, st.integers(0, 60), st.integers(0, 60), st.integers(24, 60), st.booleans())
@example("東" * 40, 39, 1, 24, True)
def test_an_excerpt_keeps_its_width_and_marks_something(text, start, length, room, unicode):
    at = SourceText("m.sql", text).place(start, start + length)
    lines = list(excerpt(text, at, Style(width=room, unicode=unicode), ""))
    assert all(width(line) <= room for line in lines)
    assert any(line.strip(" |") and set(line.strip(" |")) == {"^"} for line in lines)
    assert not any("\x1b" in line or "\n" in line or "\t" in line for line in lines)


@given(texts, st.integers(20, 60))
def test_a_narrow_excerpt_has_no_ends_of_lines(text, room):
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert one_line(line) == line
    assert width(cut(line, room, "...")) <= room
