"""The table [tool.merge-runner] of pyproject.toml."""

from __future__ import annotations

from datetime import date
from textwrap import dedent

import pytest

from merge_runner.errors import Problems, ProblemsError
from merge_runner.project.schema.settings import LintSettings, has_settings, settings
from merge_runner.text import Place, SourceText


def read(text):
    problems = Problems()
    found = settings(SourceText("pyproject.toml", dedent(text)), problems)
    return found, [str(problem) for problem in ProblemsError(problems).problems]


def test_a_name_is_enough():
    found, problems = read('[tool.merge-runner]\nname = "shop"\n')
    assert problems == []
    assert (found.name, found.profile) == ("shop", "shop")
    assert (found.model_paths, found.macro_paths, found.test_paths) == (("models",), ("macros",), ("tests",))
    assert (found.seed_paths, found.target_path) == (("seeds",), "target")
    assert (found.vars, found.lint) == ({}, LintSettings())


def test_every_setting_is_read_and_other_tools_are_ignored():
    found, problems = read("""\
        [project]
        name = "something-else"
        [tool.ruff]
        unknown = true
        [tool.merge-runner]
        name = "shop"
        profile = "warehouse"
        model-paths = ["./models/", "marts"]
        seed-paths = "data"
        target-path = "build"
        [tool.merge-runner.vars]
        from = 2013-01-01
        [tool.merge-runner.models]
        format = "iceberg"
        "+tags" = ["nightly"]
        properties = { "write.target-file-size-bytes" = 1000 }
        [tool.merge-runner.models.staging]
        materialized = "view"
        deep = { enabled = false }
        [tool.merge-runner.seeds]
        delimiter = ";"
        [tool.merge-runner.lint]
        select = ["P", "C001"]
        ignore = "P007"
        per-path-ignores = { "models/old/**" = ["P"] }
        severity = { P003 = "error" }
        baseline = "lint-baseline.json"
        rules = { C002 = { not-null = ["id"] } }
        """)
    assert problems == []
    assert found.profile == "warehouse"
    assert found.model_paths == ("models", "marts")
    assert found.seed_paths == ("data",)
    assert found.target_path == "build"
    assert found.vars == {"from": date(2013, 1, 1)}
    assert {folder: layer.values for folder, layer in found.models.items()} == {
        (): {"format": "iceberg", "tags": ("nightly",), "properties": {"write.target-file-size-bytes": "1000"}},
        ("staging",): {"materialized": "view"},
        ("staging", "deep"): {"enabled": False},
    }
    assert found.models["staging", "deep"].places == {"enabled": Place("pyproject.toml", 19, 10, 19, 17)}
    assert found.seeds[()].values == {"delimiter": ";"}
    assert found.lint == LintSettings(
        select=("P", "C001"),
        ignore=("P007",),
        per_path_ignores={"models/old/**": ("P",)},
        severity={"P003": "error"},
        rules={"C002": {"not-null": ["id"]}},
        baseline="lint-baseline.json",
    )
    assert found.places.place(("lint", "select", 1)) == Place("pyproject.toml", 23, 16, 23, 22)


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("[tool.merge-runner]\nprofile = 'a'\n", [
            'pyproject.toml:1:1: [tool.merge-runner]: the key "name" is missing [missing-key]'
        ]),
        ("[tool.merge-runner]\nname = 'a'\nmodel_paths = ['x']\nlint.selct = []\n", [
            'pyproject.toml:3:1: [tool.merge-runner]: unknown key "model_paths" [unknown-key]\n'
            '    did you mean "model-paths"?',
            'pyproject.toml:4:6: [tool.merge-runner]: unknown key "selct" [unknown-key]\n'
            '    did you mean "select"?',
        ]),
        ("[tool.merge-runner]\nname = 'my-shop'\n", [
            'pyproject.toml:2:8: [tool.merge-runner]: "name" must be a name of letters, digits and underscores that '
            'does not start with a digit, not "my-shop" [invalid-value]'
        ]),
        ("[tool.merge-runner]\nname = 'a'\nseed-paths = ['..']\ntarget-path = '/x'\n", [
            'pyproject.toml:3:15: [tool.merge-runner]: an entry of "seed-paths" must be a folder inside the project, '
            'relative to it, not ".." [invalid-value]',
            'pyproject.toml:4:15: [tool.merge-runner]: "target-path" must be a folder inside the project, '
            'relative to it, not "/x" [invalid-value]',
        ]),
        ("[tool.merge-runner]\nname = 'a'\nmodel-paths = ['models', 'models/staging']\n", [
            'pyproject.toml:3:26: "models/staging" and "models" of "model-paths" overlap [overlapping-paths]\n'
            "    name each folder once"
        ]),
        ("[tool.merge-runner]\nname = 'a'\ntarget-path = 'models'\nlint.baseline = '../b.json'\n", [
            'pyproject.toml:4:17: [tool.merge-runner]: "lint.baseline" must be a folder inside the project, '
            'relative to it, not "../b.json" [invalid-value]',
        ]),
        ("[tool.merge-runner]\nname = 'a'\ntarget-path = 'src'\nmodel-paths = ['src/models']\n", [
            'pyproject.toml:3:15: "target-path" is "src", which holds the project\'s own "src/models" '
            "[overlapping-paths]\n    name a separate folder",
        ]),
        ("[tool.merge-runner]\nname = 'a'\n[tool.merge-runner.lint.severity]\nP001 = 'eror'\n", [
            'pyproject.toml:4:8: [tool.merge-runner]: "lint.severity.P001" must be "error", "warning" or "info", '
            'not "eror" [invalid-value]\n    did you mean "error"?'
        ]),
        ("[tool.merge-runner]\nname = 'a'\n[tool.merge-runner.models]\nformt = 'delta'\nstaging = {scan = 'ful'}\n", [
            'pyproject.toml:4:1: models: unknown config key "formt" [unknown-key]\n    did you mean "format"?',
            'pyproject.toml:5:19: models: "scan" must be "bounded" or "full", not "ful" [invalid-value]\n'
            '    did you mean "full"?',
        ]),
        ("[tool]\nmerge-runner = 3\n", [
            "pyproject.toml:2:16: [tool.merge-runner]: this must be a mapping, not 3 [invalid-value]"
        ]),
        ("[tool.merge-runner\n", [
            "pyproject.toml:1:19: not TOML: Expected ']' at the end of a table declaration [toml-syntax]"
        ]),
    ],
)  # fmt: skip
def test_a_problem_stands_at_its_key(text, messages):
    assert read(text)[1] == messages


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("[tool.merge-runner]\n", True),
        ("[tool.ruff]\n", False),
        ("tool = 3\n", False),
        ("[tool.merge-runner]\nname =\n", True),
        ("[tool.ruff]\nname =\n", False),
        ("[tool.merge-runner.lint]\nignore = []\n", False),
        ("[tool.merge-runner.lint]\nignore =\n", False),
        ("[tool.merge-runner.lint]\n[tool.merge-runner.vars]\n", True),
        ("[tool.merge-runner.lint]\n[tool.merge-runner]\nname =\n", True),
    ],
)
def test_a_pyproject_is_a_projects_when_it_has_the_table(text, has):
    assert has_settings(SourceText("pyproject.toml", text)) is has
