import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.lint.finding import Edit, Fix
from merge_runner.lint.outputs.text import changed_lines
from merge_runner.text import SourceText

from .golden import place

TEXT = "merge into t\nusing s\n   on t.id = s.id\nwhen matched then delete\n"


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ({"3:7-8": "x"}, ["-   on t.id = s.id", "+   on x.id = s.id"]),
        ({"3:18": "\n  and true"}, ["+  and true"]),
        ({"2:1-3:1": ""}, ["-using s"]),
        ({"4:6-13": "not matched", "1:12-13": "u"}, ["-merge into t", "+merge into u", "-when matched then delete", "+when not matched then delete"]),
        ({"3:7-18": "true", "3:14-18": "overlaps"}, []),
        ({}, []),
    ],
)  # fmt: skip
def test_changed_lines(edits, expected):
    fix = Fix("", tuple(Edit(place("m.sql", at), new) for at, new in edits.items()))
    assert list(changed_lines(SourceText("m.sql", TEXT), fix)) == expected


@given(st.text(), st.integers(0, 20), st.integers(0, 20), st.text())
def test_the_lines_that_go_are_of_the_file(text, start, length, content):
    source = SourceText("m.sql", text)
    lines = list(changed_lines(source, Fix("", (Edit(source.place(start, start + length), content),))))
    assert {line[1:] for line in lines if line[0] == "-"} <= set(text.split("\n"))
    assert {line[0] for line in lines} <= {"-", "+"}
    assert bool(lines) == (text[start : start + length] != content)
