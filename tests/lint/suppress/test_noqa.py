"""Comments that hide findings, as data in noqa.yml, and what holds for any text."""

from __future__ import annotations

import re
from pathlib import Path

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merge_runner.lint.finding import Finding
from merge_runner.lint.fixes import apply
from merge_runner.lint.suppress.comments import comments
from merge_runner.lint.suppress.noqa import Suppressions
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.lexer import lex
from merge_runner.text import Place, SourceText
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("noqa.yml"))
FINDING = re.compile(r"(\w+) (\d+)(?:-(\d+)(?::(\d+))?)?(?: (?!for )(\S+))?(?: for (\w+) (\d+))?")


def severity(off=()):
    return lambda rule, _path: None if rule.code in off else rule.severity


def finding(written, path, known):
    code, line, last, column, other, replaced, at = FINDING.fullmatch(written).groups()
    rule = next(rule for rule in known if rule.code == code)
    place = Place(other or path, int(line), 1, int(last or line), int(column or 3))
    gone = ((replaced, Place(place.path, int(at), 1)),) if replaced else ()
    return Finding(code, rule.name, rule.severity, "message", place, replaced=gone)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case, known):
    source = SourceText(case.get("path", "models/m.sql"), case["text"])
    written = {finding(each, source.path, known): each for each in case["findings"]}
    suppressions = Suppressions.read(source, known)
    kept, used = suppressions.filter(written)
    assert [written[each] for each in kept] == case["kept"]
    unused = suppressions.unused(used, severity(case.get("without", ())))
    if "unused" in case:
        assert [said(each) for each in sorted(unused, key=lambda each: each.place)] == case["unused"]
    if "fixed" in case:
        assert apply(source, [each.fix for each in unused if each.fix]).text == case["fixed"]


def said(found):
    hint = f"; {found.hint}" if found.message.startswith("there is no rule") else ""
    return f"{found.place.line}:{found.place.column} {found.message}{hint}"


def test_a_rule_that_could_not_look_at_the_file_leaves_its_codes_alone(known):
    source = SourceText("models/m.sql", "a -- noqa: P001\nb -- noqa: C001\nc -- noqa\n")
    unused = Suppressions.read(source, known).unused(
        frozenset(), severity(), ran=lambda rule: rule.code != "P001", model="m"
    )
    assert [(each.code, each.name, each.severity, each.model, said(each)) for each in unused] == [
        ("S001", "unused-suppression", "warning", "m", "2:3 the noqa for C001 hides nothing")
    ]


def test_the_finding_has_the_severity_of_the_settings(known):
    suppressions = Suppressions.read(SourceText("m.sql", "-- noqa"), known)
    assert [each.severity for each in suppressions.unused(frozenset(), lambda _rule, _path: "info")] == ["info"]


def test_s001_is_a_rule_without_a_check():
    from merge_runner.lint.registry import rules

    (rule,) = (rule for rule in rules() if rule.code == "S001")
    assert (rule.name, rule.severity) == ("unused-suppression", "warning")
    assert rule.check_merge is rule.check_file is rule.check_project is None


WORDS = """
a b.c 'x' 'it''s' "q" `n` ' " ` r' r'\\' \\ - -- --\\ -+ /* */ /*+ {# #} {#- -#} {{ }} {% %} {{'x'}} {{"'"}}
{%raw%} {%endraw%} {%if(true)%} {%endif%} noqa noqa: :P001 P001 ,C001 , P P0001 # merge-runner:noqa
"""
PIECES = WORDS.split()
COMMENTS = [
    "-- noqa\n",
    " -- noqa: P001, C001 -- why\n",
    "-- why -- noqa: P\n",
    "/* noqa */",
    "/* noqa: P001 /* x */ */",
    "/*noqa:\nP001*/",
    "-- noqa: P001 \\\n x\n",
    "-- merge-runner: noqa\n",
]
JINJA = ["{# noqa #}", "{# noqa:\nP001 #}", "{#- noqa: P -#}", "-- {# noqa #}\n"]
BLANKS = [" ", "\n", "  ", "\t", "\r\n"]


def texts(*pieces):
    return st.lists(st.sampled_from([piece for group in pieces for piece in group]), max_size=14).map("".join)


@given(texts(PIECES, COMMENTS, JINJA, BLANKS), st.sampled_from(["m.sql", "m.yml", "m.toml"]))
def test_any_text_is_read_and_fixing_it_ends(known, text, path):
    for _ in range(200):
        source = SourceText(path, text)
        spans = [comment.span for comment in comments(source)]
        assert spans == sorted(spans)
        assert all(0 <= span.start < span.end <= len(text) for span in spans)
        unused = Suppressions.read(source, known).unused(frozenset(), severity())
        assert all(source.offset(each.place.line, each.place.column) <= len(text) for each in unused)
        fixed = apply(source, [each.fix for each in unused if each.fix], unsafe=True).text
        if fixed == text:
            return
        assert len(fixed) < len(text) or fixed.count("noqa") < text.count("noqa")
        text = fixed
    pytest.fail("the fixes do not end")


def tokens(text):
    try:
        return [text[token.start : token.end] for token in lex(text)]
    except MergeSyntaxError:
        return None


@given(texts([piece for piece in PIECES if piece[0] not in "{#"], COMMENTS, BLANKS))
def test_comments_are_those_of_spark(text):
    if tokens(text) is not None:
        spans = [token.span for token in lex(text)] + [comment.span for comment in comments(SourceText("m.sql", text))]
        at = 0
        for span in sorted(spans):
            assert at <= span.start
            assert not text[at : span.start].strip()
            at = span.end
        assert not text[at:].strip()


# What tags make of the text around them, half a string or the two dashes of a comment, cannot be seen in it.
APART = [piece for piece in PIECES if not re.search("#|\\{\\{", piece)]
TAGS = [f" {piece}\n" for piece in JINJA] + ["a{# noqa #}b", "x {{- 'x' -}} x", "x {%- if true -%} x {%- endif %} y"]


# Read as a SourceText is: its newlines are \n.
@given(texts(APART, COMMENTS, TAGS, [blank for blank in BLANKS if "\r" not in blank]))
@settings(max_examples=3 * settings.default.max_examples)
def test_a_safe_fix_leaves_the_statement_as_it_is(known, text):
    source = SourceText("m.sql", text)
    fixes = [each.fix for each in Suppressions.read(source, known).unused(frozenset(), severity()) if each.fix]
    environment = jinja2.Environment(keep_trailing_newline=True, undefined=jinja2.ChainableUndefined)
    try:
        before = tokens(environment.from_string(text).render())
    except jinja2.TemplateError:
        return
    if before is not None:
        assert tokens(environment.from_string(apply(source, fixes).text).render()) == before
