"""The baseline: what it hides, how it is written, what is wrong with one."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.errors import ProblemsError
from merge_runner.lint.finding import Finding
from merge_runner.lint.suppress.baseline import Baseline
from merge_runner.text import Place, SourceText


def finding(code="P001", subject="t.id = s.id", line=1, path="models/m.sql", model="m"):
    return Finding(code, "name", "error", "the message", Place(path, line, 1), model, subject=subject)


def test_it_is_written_sorted_with_a_line_for_each_entry(tmp_path):
    findings = [
        finding("P001", path="models/b.sql"),
        finding("P001", "t.id  =\n s.id", 5),
        finding("P001", "t.id = s.id", 7),
        finding("P001", "t.dt = s.dt"),
        finding("C001", 'é"\\' + "x" * 200),
        finding("E001", "", model=None),
    ]
    file = tmp_path / "deep" / "lint-baseline.json"
    Baseline.of(findings).write(file)
    keys = [findings[index].key for index in (4, 5, 3, 1, 0)]
    long = "x" * 116
    assert file.read_text(encoding="utf-8") == dedent(f"""\
        {{
          "version": 1,
          "findings": {{
            "models/b.sql": {{
              "P001": [
                {{"key": "{keys[4]}", "count": 1, "text": "t.id = s.id"}}
              ]
            }},
            "models/m.sql": {{
              "C001": [
                {{"key": "{keys[0]}", "count": 1, "text": "é\\"\\\\{long}…"}}
              ],
              "E001": [
                {{"key": "{keys[1]}", "count": 1, "text": "the message"}}
              ],
              "P001": [
                {{"key": "{keys[2]}", "count": 1, "text": "t.dt = s.dt"}},
                {{"key": "{keys[3]}", "count": 2, "text": "t.id = s.id"}}
              ]
            }}
          }}
        }}
        """)
    assert Baseline.read(file, "lint-baseline.json", None) == Baseline.of(findings[::-1])


def test_an_empty_one(tmp_path):
    file = tmp_path / "lint-baseline.json"
    Baseline().write(file)
    assert file.read_text() == '{\n  "version": 1,\n  "findings": {}\n}\n'
    assert Baseline.read(file, "b", None) == Baseline()


def test_what_was_there_is_hidden_where_lines_have_moved():
    baseline = Baseline.of([finding(line=3), finding(line=9)])
    hidden = baseline.hide([finding(line=30), finding(line=31, subject="t.id\n  = s.id")])
    assert (hidden.visible, hidden.hidden, hidden.stale) == ((), 2, 0)


def test_one_more_than_there_was_is_new():
    third = finding(line=9)
    hidden = Baseline.of([finding(), finding()]).hide([finding(line=3), finding(line=5), third])
    assert (hidden.visible, hidden.hidden, hidden.stale) == ((third,), 2, 0)


@pytest.mark.parametrize("change", [{"code": "P002"}, {"subject": "t.id = s.x"}, {"path": "n.sql"}, {"model": "n"}])
def test_another_rule_text_file_or_model_is_new(change):
    new = finding(**change)
    hidden = Baseline.of([finding()]).hide([new])
    assert (hidden.visible, hidden.hidden, hidden.stale) == ((new,), 0, 1)


def test_entries_of_what_was_not_looked_at_are_not_stale():
    baseline = Baseline.of([finding(), finding(), finding("C001"), finding(path="models/b.sql")])
    assert baseline.hide([]).stale == 4
    assert baseline.hide([finding()], lambda path, code: (path, code) == ("models/m.sql", "P001")).stale == 1


FINDINGS = st.lists(
    st.builds(
        finding,
        st.sampled_from(["P001", "C001"]),
        st.one_of(st.sampled_from(["", "a", "a b", "a\nb"]), st.text(st.characters(exclude_categories=["Cs"]))),
        st.integers(1, 99),
        st.sampled_from(["m.sql", 'a "b"/é.sql']),
        st.sampled_from(["m", None]),
    )
)


@given(FINDINGS, FINDINGS)
def test_a_baseline_hides_what_it_was_made_of(before, new):
    baseline = Baseline.parse(SourceText("b", Baseline.of(before).text))
    assert json.loads(baseline.text)["version"] == 1
    assert baseline.hide(before) == type(baseline.hide([]))((), len(before), 0)
    mixed = baseline.hide([*before, *new])
    assert (mixed.hidden, len(mixed.visible), mixed.stale) == (len(before), len(new), 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "b.json:1:1: not JSON: Expecting value"),
        ('{"version": 1,\n<<<<<<< HEAD\n', "b.json:2:1: not JSON: Expecting property name enclosed in double quotes"),
        ("[]", "b.json:1:1: not a baseline: it says no version"),
        ("{}", "b.json:1:1: not a baseline: it says no version"),
        ('{\n "version": 2}', "b.json:2:2: the baseline is of another version than 1"),
        ('{"version": true}', "b.json:1:2: the baseline is of another version than 1"),
        ('{"version": 1}', 'b.json:1:1: not a baseline: "findings" must hold a mapping'),
        ('{"version": 1,\n"findings": []}', 'b.json:2:1: not a baseline: "findings" must hold a mapping'),
        ('{"version": 1, "findings": {\n"m": 1}}', 'b.json:2:1: not a baseline: "m" must hold a mapping'),
        ('{"version": 1, "findings": {"m": {\n"P": 1}}}', 'b.json:2:1: not a baseline: "P" must hold a list'),
        ('{"version": 1, "findings": {"m": {\n"P": [1]}}}', 'b.json:2:1: not a baseline: "P" must hold a mapping'),
        ('{"version": 1, "findings": {"m": {"P": [{"key": "k"}]}}}', '"P" must hold a list of {"key": text'),
        ('{"version": 1, "findings": {"m": {"P": [{"key": "k", "count": true, "text": ""}]}}}', "must hold a list of"),
        ('{"version": 1, "findings": {"m": {"P": [{"key": "k", "count": 0, "text": ""}]}}}', "must hold a list of"),
        ('{"version": 1, "findings": {"m": {"P": [{"key": "k", "count": 1e999, "text": ""}]}}}', "must hold a list of"),
        ("[" * 100_000, "b.json:1:1: not a baseline"),
        ('{"version": ' + "1" * 5000 + "}", "b.json:1:1: not a baseline"),
    ],
)
def test_a_broken_one_is_told(tmp_path, text, message):
    file = tmp_path / "b.json"
    file.write_text(text)
    with pytest.raises(ProblemsError) as caught:
        Baseline.read(file, "b.json", None)
    assert message in str(caught.value)
    assert "[bad-baseline]" in str(caught.value)


def test_a_missing_one_is_told(tmp_path):
    with pytest.raises(ProblemsError, match=r"b\.json:1:1: there is no baseline \[missing-baseline\]"):
        Baseline.read(tmp_path / "b.json", "b.json", None)


def test_one_that_is_not_utf8_is_told(tmp_path):
    (tmp_path / "b.json").write_bytes(b"\xff")
    with pytest.raises(ProblemsError, match="not-utf8"):
        Baseline.read(tmp_path / "b.json", "b.json", None)
