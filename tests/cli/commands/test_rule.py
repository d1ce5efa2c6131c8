"""`merge-runner rule`: what it prints, and what it says of a rule that there is not."""

from __future__ import annotations

import json

import click
import pytest
from click.testing import CliRunner

from merge_runner.cli.commands.rule import command
from merge_runner.errors import ProblemsError
from merge_runner.lint.registry import rules


def run(*arguments):
    result = CliRunner().invoke(command, arguments, standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    assert result.return_value == 0
    return result.stdout


@pytest.mark.parametrize("word", ["S001", "s001", "unused-suppression", "Unused-Suppression", "S"])
def test_a_rule_by_code_name_or_beginning(word):
    shown = run(word)
    assert shown.startswith("S001 unused-suppression (warning)\n\nA noqa that hides nothing.\n")
    assert "\nBad\n\n    merge into" in shown


def test_several_rules_each_once():
    shown = run("S001", "P001", "unused-suppression")
    heads = [
        line
        for line in shown.splitlines()
        if line in ("S001 unused-suppression (warning)", "P001 unbounded-target (error)")
    ]
    assert heads == ["S001 unused-suppression (warning)", "P001 unbounded-target (error)"]


def test_without_a_code_the_rules_are_listed():
    lines = run().splitlines()
    assert [line.split()[0] for line in lines] == [rule.code for rule in rules()]
    assert any(
        line.split(maxsplit=3)[1:] == ["unused-suppression", "warning", "A noqa that hides nothing."] for line in lines
    )


def test_all_rules_are_explained():
    shown = run("--all")
    assert all(f"{rule.code} {rule.name} ({rule.severity})\n" in shown for rule in rules())
    assert shown.count("When to ignore it") >= len(rules())


@pytest.mark.parametrize("arguments", [[], ["--all"]])
def test_json(arguments):
    documents = json.loads(run("--output", "json", *arguments))
    assert [document["code"] for document in documents] == [rule.code for rule in rules()]
    assert [set(document) for document in documents] == [
        {"code", "name", "severity", "summary", "documentation"}
    ] * len(documents)


def test_json_of_one_rule_is_a_list_too():
    (document,) = json.loads(run("S001", "--output", "json"))
    assert (document["name"], document["severity"]) == ("unused-suppression", "warning")
    assert document["documentation"].startswith(document["summary"])


def test_every_unknown_rule_is_told():
    with pytest.raises(ProblemsError) as caught:
        run("S01", "unused-supression", "S001", "0")
    assert str(caught.value).splitlines() == [
        'there is no rule "S01" [unknown-rule]',
        '    did you mean "S001"?',
        'there is no rule "unused-supression" [unknown-rule]',
        '    did you mean "unused-suppression"?',
        'there is no rule "0" [unknown-rule]',
        "    `merge-runner rule` lists the rules",
    ]


def test_all_and_codes_are_too_much():
    with pytest.raises(click.UsageError, match="--all takes no codes"):
        run("--all", "P001")
