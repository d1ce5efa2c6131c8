"""The rules' documentation: complete, and the pages in docs/reference/rules are those of the docstrings."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent

import pytest
import yaml

from merge_runner.lint.documentation import Example, check, examples, index, page, summary, text
from merge_runner.lint.registry import rules
from merge_runner.lint.rule import Rule

RULE = Rule(
    "P001",
    "unbounded-target",
    "error",
    dedent("""\
        The whole target is scanned.

        ## What it does

        Looks at `a | b`.

        ## Why it matters
        ```
        ## no heading
        ```

        ## Bad

        ```yaml
        columns: {id: bigint}  # a comment
        ```
        ```sql
        merge into t

        using s
        ```

        or

        ```yaml
        vars: {a: 1}
        ```
        ```sql
        merge into u
        ```

        ## Good

        ```sql
        ## is no heading
        ```
        ```sql
        merge into v
        ```
        ```yaml
        vars: {b: 2}
        ```

        ## When to ignore it

        Never.
        """),
)


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)
def test_the_documentation_of_a_rule_is_complete(rule):
    assert check(rule) == []
    for example in examples(rule):
        assert example.yaml is None or isinstance(yaml.safe_load(example.yaml), dict)


def test_examples_with_what_stands_beside_them():
    assert examples(RULE) == [
        Example("bad", "merge into t\n\nusing s\n", "columns: {id: bigint}  # a comment\n"),
        Example("bad", "merge into u\n", "vars: {a: 1}\n"),
        Example("good", "## is no heading\n"),
        Example("good", "merge into v\n", "vars: {b: 2}\n"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("", "", []),
        ("scanned.\n", "scanned\n", ["the first line is no sentence"]),
        ("The whole target", "\nThe whole target", ["the first line is no sentence"]),
        ("## Bad\n", "## bad\n", ["the sections are What it does, Why it matters, bad, Good, When to ignore it"]),
        ("Never.\n", "\n", ["When to ignore it is empty"]),
        ("Never.\n", "Never.\n\n## More\n\nMore.\n", ["the sections are What it does, Why it matters, Bad, Good,"]),
        ("Never.\n", "Never.\n```sql\n", ["a code block has no end"]),
        ("Never.\n", "Never.\n```sql\na\n```", []),
        ("```sql\n##", "```text\n##", []),
    ],
)
def test_what_is_missing_is_said(old, new, wrong):
    found = check(replace(RULE, documentation=RULE.documentation.replace(old, new, 1)))
    assert len(found) >= len(wrong)
    assert all(said.startswith(part) for said, part in zip(found, wrong, strict=False))
    assert bool(found) == bool(wrong)


def test_a_section_without_sql_is_said():
    without = RULE.documentation.replace("```sql", "```text")
    assert check(replace(RULE, documentation=without)) == ["Bad has no ```sql block", "Good has no ```sql block"]


def test_a_page_and_the_index():
    lines = page(RULE).splitlines()
    assert lines[2:7] == [
        "# P001: unbounded-target",
        "",
        "Default severity: **error**",
        "",
        "The whole target is scanned.",
    ]
    assert lines[7:11] == ["", "## What it does", "", "Looks at `a | b`."]
    assert "## How to configure it" in lines
    assert 'severity = { P001 = "warning" }' in lines
    assert "| [P001](P001.md) | unbounded-target | error | The whole target is scanned. |" in index([RULE])
    assert summary(RULE) == "The whole target is scanned."


def test_the_text_for_a_terminal():
    shown = text(RULE)
    assert shown.startswith("P001 unbounded-target (error)\n\nThe whole target is scanned.\n\nWhat it does\n\n")
    assert "\nBad\n\n    columns: {id: bigint}  # a comment\n    merge into t\n\n    using s\n\nor\n" in shown
    assert "    ## no heading\n" in shown
    assert "```" not in shown
    assert "-- noqa: P001 -- reason" in shown


def test_no_comment_is_recommended_against_s001():
    (rule,) = (rule for rule in rules() if rule.code == "S001")
    assert "noqa: S001" not in page(rule)
