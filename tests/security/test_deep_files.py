"""Files of data that are nested without end, or hold numbers that Python does not write, are one problem each."""

from __future__ import annotations

import json

import pytest

from tests.security.bounded_run import run
from tests.written_project import write_project

MODEL = "merge into {{ this }} t using (select 1 as id) s on t.id = s.id when not matched then insert *"
SETTINGS = '[tool.merge-runner]\nname = "shop"\n'
DEEP = 5_000
DIGITS = "9" * 10_000
LISTS = "[" * DEEP + "]" * DEEP
YAML = "models: [{{name: m, meta: {{a: {}}}}}]"
FILES = {
    "toml_lists": {"pyproject.toml": f"{SETTINGS}[tool.other]\na = {LISTS}\n"},
    "toml_lists_unread": {"pyproject.toml": f"{SETTINGS}[tool.merge-runner.vars]\na = {'[' * 300 + ']' * 300}\n"},
    "toml_tables": {"pyproject.toml": f"{SETTINGS}[tool.other]\na = {'{a = ' * DEEP}1{'}' * DEEP}\n"},
    "toml_keys": {"pyproject.toml": f"{SETTINGS}[{'a.' * DEEP}a]\nb = 1\n"},
    "toml_vars": {"pyproject.toml": f"{SETTINGS}[tool.merge-runner.vars]\n{'a.' * DEEP}a = 1\n"},
    "toml_number": {"pyproject.toml": f"{SETTINGS}[tool.merge-runner.vars]\na = {DIGITS}\n"},
    "yaml_lists": {"models/m.yml": YAML.format(LISTS)},
    "yaml_number": {"models/m.yml": YAML.format(DIGITS)},
    "yaml_hexadecimal": {"models/m.yml": YAML.format("0x" + DIGITS)},
    "yaml_profile": {"profiles.yml": "shop: " + LISTS},
    "yaml_layout": {"layout.yml": "tables: " + LISTS},
    "yaml_selectors": {"selectors.yml": "selectors: [{name: a, definition: " + "{union: [" * DEEP + "]}" * DEEP + "}]"},
    "json_baseline": {"lint-baseline.json": LISTS},
    "json_baseline_findings": {"lint-baseline.json": '{"version": 1, "findings": ' + LISTS + "}"},
    "json_number": {"lint-baseline.json": '{"version": ' + DIGITS + "}"},
    "packages_lock": {"packages.lock": LISTS},
    "notebook": {"models/merge.ipynb": '{"merge into": ' + LISTS + "}"},
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", ["lint", "parse"])
def test_a_file_that_is_nested_without_end_is_no_fault(tmp_path, name, command):
    write_project(tmp_path, "s", {"models/m.sql": MODEL, **FILES[name]})
    ended = run(tmp_path, command)
    assert ended.returncode in (0, 1, 2)
    assert len(ended.stdout + ended.stderr) < 50_000


SQL = "merge into t using s on t.a = \ud800 when matched then delete"
HALVES = {
    "half.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": f"spark.sql('{SQL}')"}]}),
    "half.py": "spark.sql('merge into t using s on t.a = \\ud800 when matched then delete')",
    "half.scala": 'spark.sql("merge into t using s on t.a = \\ud800 when matched then delete")',
    "half.sql": "merge into t using s on t.a = '{{ '\\ud800' }}' when matched then delete",
}


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize("output", ["text", "json", "sarif", "github"])
def test_half_of_a_character_is_no_fault(tmp_path, name, output):
    (tmp_path / name).write_text(HALVES[name])
    assert run(tmp_path, "lint", "--no-cache", "--format", output, name).returncode in (0, 1)
