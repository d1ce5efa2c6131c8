"""Which rules count where and how much, as data in selection.yml; what is wrong with settings; when a run fails."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import get_args

import pytest

from merge_runner.errors import Problems, ProblemsError
from merge_runner.lint.finding import Finding
from merge_runner.lint.registry import built_in_rules
from merge_runner.lint.report import Report
from merge_runner.lint.rule import Rule
from merge_runner.lint.selection import FailOn, RuleSelection, fails
from merge_runner.project.schema.settings import LintSettings, settings
from merge_runner.text import Place, SourceText
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("selection.yml"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case, known):
    known = (*known, *(Rule(code, "some-name", "error", "") for code in case.get("known_too", [])))
    lint = LintSettings()
    for key, value in case.get("lint", {}).items():
        given = tuple(value) if isinstance(value, list) else value
        lint = replace(lint, **{key.replace("-", "_"): given})
    selection = RuleSelection.from_settings(
        lint, rules=case.get("rules", ()), ignore=case.get("also_ignore", ()), all_rules=known
    )
    path = case.get("path", "models/m.sql")
    found = {rule.code: selection.severity(rule, path) for rule in known if selection.selected(rule, path)}
    wanted = case["selected"]
    assert (found if isinstance(wanted, dict) else list(found)) == wanted
    assert all(selection.severity(rule, path) is None for rule in known if rule.code not in found)


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("models/staging", "models/staging/a.sql", True),
        ("models/staging/", "models/staging/a.sql", True),
        ("./models/staging", "models/staging/deep/a.sql", True),
        ("/models", "models/a.sql", True),
        ("models/staging/*", "models/staging/a.sql", True),
        ("models/staging/*", "models/staging/deep/a.sql", True),
        ("models/*.sql", "models/deep/a.sql", False),
        ("models/**/a.sql", "models/a.sql", True),
        ("models/**/a.sql", "models/x/y/a.sql", True),
        ("models/**/a.sql", "models/x/y/b.sql", False),
        ("**/*.sql", "models/a.sql", True),
        ("**", "a.sql", True),
        ("*.sql", "models/deep/a.sql", True),
        ("staging", "models/staging/a.sql", True),
        ("stag", "models/staging/a.sql", False),
        ("models/stag", "models/staging/a.sql", False),
        ("staging/a.sql", "models/staging/a.sql", False),
        ("models/[ab].sql", "models/a.sql", True),
        ("models/[!ab].sql", "models/a.sql", False),
        ("models/[.sql", "models/[.sql", True),
        ("models/[z-a].sql", "models/a.sql", False),
        ("models/a?.sql", "models/ab.sql", True),
        ("models/A.sql", "models/a.sql", False),
        (".", "models/a.sql", True),
        ("**/**/**/**/**/x", "a/b/c/d/e/f/g/h.sql", False),
    ],
)
def test_a_pattern_of_paths(glob, path, fits, known):
    selection = RuleSelection.from_settings(LintSettings(per_path_ignores={glob: ("P001",)}), all_rules=known)
    rule = next(rule for rule in known if rule.code == "P001")
    assert selection.selected(rule, path) is not fits


def test_unknown_rules_are_told_at_their_places(known):
    text = dedent("""\
        [tool.merge-runner]
        name = "shop"
        [tool.merge-runner.lint]
        select = ["P", "C01"]
        ignore = "unbound-target"
        per-path-ignores = { "models/**" = ["P001", "X"] }
        severity = { P00 = "error", Q = "info" }
        """)
    found = settings(SourceText("pyproject.toml", text), Problems())
    with pytest.raises(ProblemsError) as caught:
        RuleSelection.from_settings(found.lint, found.places, rules=["p1"], ignore=["P001", ""], all_rules=known)
    assert str(caught.value).splitlines() == [
        'there is no rule "p1" [unknown-rule]',
        '    did you mean "P001"?',
        'there is no rule "" [unknown-rule]',
        "    `merge-runner rule` lists the rules",
        'pyproject.toml:4:16: there is no rule "C01" [unknown-rule]',
        '    did you mean "C001"?',
        'pyproject.toml:5:10: there is no rule "unbound-target" [unknown-rule]',
        '    did you mean "unbounded-target"?',
        'pyproject.toml:6:45: there is no rule "X" [unknown-rule]',
        "    `merge-runner rule` lists the rules",
        'pyproject.toml:7:29: there is no rule "Q" [unknown-rule]',
        "    `merge-runner rule` lists the rules",
    ]


def test_options_of_rules_are_checked_at_their_places():
    text = dedent("""\
        [tool.merge-runner]
        name = "shop"
        [tool.merge-runner.lint.rules]
        C002 = { not-nul = ["id"] }
        P001 = { most = 1 }
        C02 = {}
        [tool.merge-runner.lint.rules.J002]
        sql-vars = [1, { a = 2 }]
        [tool.merge-runner.lint.rules.raw-interpolation]
        """)
    found = settings(SourceText("pyproject.toml", text), Problems())
    with pytest.raises(ProblemsError) as caught:
        RuleSelection.from_settings(found.lint, found.places, all_rules=built_in_rules())
    assert str(caught.value).splitlines() == [
        'pyproject.toml:4:10: rule C002: unknown key "not-nul" [unknown-key]',
        '    did you mean "not-null"?',
        "pyproject.toml:5:1: rule P001 has no options [unknown-key]",
        "    rules with options: C002, J002",
        'pyproject.toml:6:1: there is no rule "C02" [unknown-rule]',
        '    did you mean "C024"?',
        'pyproject.toml:8:16: rule J002: an entry of "sql-vars" must be text, not a mapping [invalid-value]',
        "pyproject.toml:9:31: the options of rule J002 appear twice [duplicate-key]",
        "    keep one of the tables",
    ]


@pytest.mark.parametrize(
    ("severities", "failing"),
    [
        ([], []),
        (["info"], ["info"]),
        (["info", "warning"], ["warning", "info"]),
        (["error"], ["error", "warning", "info"]),
    ],
)
def test_when_a_run_fails(severities, failing):
    findings = tuple(Finding("P001", "n", severity, "m", Place("m.sql", 1, 1)) for severity in severities)
    assert [fail_on for fail_on in get_args(FailOn) if fails(Report(findings=findings), fail_on)] == failing
