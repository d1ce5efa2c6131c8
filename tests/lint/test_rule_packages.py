"""Rules of other packages, found by their entry points, and what is wrong with some."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from textwrap import dedent

import pytest

from merge_runner.errors import Problems, ProblemsError
from merge_runner.lint.check import check_project
from merge_runner.lint.context import LintedProject
from merge_runner.lint.documentation import text
from merge_runner.lint.registry import GROUP, built_in_rules, provided_rules
from merge_runner.lint.selection import RuleSelection

EXAMPLE = Path(__file__).parents[2] / "examples" / "custom_rules"
OPTIONS = """
from dataclasses import dataclass
from merge_runner.lint.rule import RuleOptions
@dataclass(frozen=True)
"""
SOUND = '"""Summary."""\nSEVERITY = "info"\ndef check_merge(merge): return ()\n'


@pytest.fixture
def package(tmp_path):
    """Writes a package of modules by name, importable during the test, and gives the entry point of a value in it."""
    sys.path.insert(0, str(tmp_path))
    names = []

    def write(modules, value):
        for name, content in modules.items():
            names.append(name.partition(".")[0].replace("/", "."))
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(dedent(content))
        return EntryPoint("some", value, GROUP)

    yield write
    sys.path.remove(str(tmp_path))
    for name in names:
        sys.modules.pop(name, None)
        sys.modules.pop(name.removesuffix(".__init__"), None)


@pytest.mark.parametrize(
    ("modules", "value", "codes"),
    [
        ({"own1/__init__.py": "", "own1/zz001_one.py": SOUND, "own1/zz002_a_b.py": SOUND}, "own1", ["ZZ001", "ZZ002"]),
        ({"own2/__init__.py": "", "own2/zz001_one.py": SOUND, "own2/helper.py": "1/0"}, "own2", ["ZZ001"]),
        ({"zz003_alone.py": SOUND}, "zz003_alone", ["ZZ003"]),
    ],
)
def test_modules_with_a_code_are_rules(package, modules, value, codes):
    problems = Problems()
    found = provided_rules([package(modules, value)], problems)
    assert [rule.code for rule in found] == codes
    assert {rule.package for rule in found} == {value}
    assert not len(problems)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("zz001_a", "1/0", "cannot be imported: ZeroDivisionError"),
        ("zz001_a", "import nowhere_to_be_found", "cannot be imported: ModuleNotFoundError"),
        ("rules", SOUND, "its file name is not a code and a name"),
        ("zz001_a", SOUND.replace("info", "fatal"), "SEVERITY must be one of error, warning, info"),
        ("zz001_a", SOUND.replace('"""Summary."""', ""), "it has no docstring"),
        ("zz001_a", SOUND.replace("check_merge", "check"), "it must define one of check_merge, check_file, check_proj"),
        ("zz001_a", SOUND + "def check_project(project): return ()", "it must define one of"),
        ("zz001_a", f"{SOUND}class Options: pass", "Options must be a dataclass that extends RuleOptions"),
        (
            "zz001_a",
            f"{SOUND}{OPTIONS}class Options(RuleOptions):\n    most: int\n",
            "Options must be a dataclass that extends RuleOptions",
        ),
        ("p001_mine", SOUND, "rule P001 of the package p001_mine has the code of a rule of merge-runner"),
    ],
)
def test_what_is_no_rule_is_an_error_that_names_the_package(package, name, content, message):
    problems = Problems()
    assert not provided_rules([package({f"{name}.py": content}, name)], problems)
    (problem,) = problems
    assert problem.code == "invalid-rule"
    assert message in problem.message
    assert name in problem.message
    assert problem.hint


def test_a_package_without_rules_is_an_error(package):
    problems = Problems()
    provided_rules([package({"empty/__init__.py": ""}, "empty")], problems)
    assert [problem.message for problem in problems] == ["the package empty has no rules in empty"]


def test_a_rule_that_raises_an_error_names_its_package(package):
    content = '"""Summary."""\nSEVERITY = "info"\ndef check_project(project): raise KeyError("columns")\n'
    (rule,) = provided_rules([package({"zz001_broken.py": content}, "zz001_broken")], Problems())
    with pytest.raises(ProblemsError, match=r"rule ZZ001 of the package zz001_broken failed: KeyError: 'columns'"):
        list(check_project(LintedProject(None, None, {}), RuleSelection(), [rule]))


def test_the_example_has_documented_options(package):
    sys.path.insert(0, str(EXAMPLE))
    try:
        (rule,) = provided_rules([EntryPoint("acme", "acme_rules", GROUP)], Problems())
    finally:
        sys.path.remove(str(EXAMPLE))
    assert (rule.code, rule.name, rule.url) == (
        "ACME001",
        "audit-column-missing",
        "https://example.com/acme-merge-rules#ACME001",
    )
    assert '[tool.merge-runner.lint.rules.ACME001]\n    columns = ["updated_at"]' in text(rule)
    assert "- `columns`: Columns that every UPDATE sets." in text(rule)


def test_every_option_of_a_rule_is_described():
    with_options = [rule for rule in built_in_rules() if rule.options is not None]
    assert {rule.code for rule in with_options} >= {"C002", "J002"}
    for rule in with_options:
        for line in text(rule).partition("\nOptions\n")[2].partition("\nHow to configure it\n")[0].splitlines():
            if line.startswith("- "):
                assert len(line.partition(": ")[2].split()) > 5, line
