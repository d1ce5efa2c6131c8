"""Every error code has a text in the reference, and every text a code; the codes are read from the syntax of the code."""

from __future__ import annotations

from textwrap import dedent

import pytest

from merge_runner.formats.failures import HINTS
from tests.docgen.raised_codes import raised_codes
from tools.docgen.error_texts import ERRORS

TEXTS = {code: text for subject in ERRORS.values() for code, text in subject.items()}


def test_every_code_has_a_text_and_every_text_a_code():
    codes = raised_codes()
    assert codes.unclear == [], "write these codes as texts, so that they can be found"
    without = {code: places for code, places in codes.found.items() if code not in TEXTS and code not in HINTS}
    assert without == {}, "write their texts into tools/docgen/error_texts.py"
    assert sorted(TEXTS.keys() - codes.found.keys()) == [], "nothing raises these any longer"
    assert len(TEXTS) == sum(map(len, ERRORS.values())), "a code is in two subjects"


def test_every_text_says_what_it_means_and_what_to_do():
    assert [
        code for code, text in TEXTS.items() if not all(part.endswith(".") and part[:-1].strip() for part in text)
    ] == []


ERRORS_MODULE = """\
    class Problem:
        code: str
        message: str
    class Problems:
        def add(self, code: str, message: str) -> None: ...
    """


@pytest.mark.parametrize(
    ("text", "found", "unclear"),
    [
        ('Problem("a", "…")', ["a"], 0),
        ('Problem(message="…", code="a")', ["a"], 0),
        ('CODE = "a"\ndef f():\n    raise Error(Problem(CODE, "…"))', ["a"], 0),
        ('def f(x):\n    code = "a" if x else "b"\n    return Problem(code, "…")', ["a", "b"], 0),
        ('def f(x):\n    return Problem({1: "a", 2: "b"}[x], "…")', ["a", "b"], 0),
        ('def fault(place, code):\n    return Problem(code, "…")\nfault(1, "a")', ["a"], 0),
        ('class Own(Exception):\n    def __init__(self, code):\n        self.code = code\nraise Own("a")', ["a"], 0),
        ('def f(problems):\n    problems.add("a", "…")\n    seen.add("b")', ["a"], 0),
        ('say("…", event="problem", code="a")', ["a"], 0),
        ("def f(error):\n    return Problem(error.code, error.message)", [], 0),
        ('def f(kind):\n    return Problem(f"unknown-{kind}", "…")', [], 1),
        ('def f(kind):\n    return Problem(kind, "…")', [], 1),
    ],
)
def test_which_codes_are_found(tmp_path, text, found, unclear):
    (tmp_path / "errors.py").write_text(dedent(ERRORS_MODULE))
    (tmp_path / "own.py").write_text(f"from merge_runner.errors import Problem\n{text}\n")
    codes = raised_codes(tmp_path)
    assert (sorted(codes.found), len(codes.unclear)) == (found, unclear)
