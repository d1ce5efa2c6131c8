"""The pages that are made from the code contain everything that a user can write; the JSON Schemas are up to date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from merge_runner.engine.response import PARTS
from merge_runner.project.schema.config import Contract, ModelConfig
from merge_runner.project.schema.profile import Output, ProfileEntry
from merge_runner.project.schema.properties import DataTest, PropertyFile
from merge_runner.project.schema.settings import SettingsTable
from merge_runner.run.results.event_types import EVENTS
from tests.docgen.test_error_codes import TEXTS
from tools.docgen.__main__ import COMMAND, main
from tools.docgen.command_page import commands
from tools.docgen.keys import Key, keys
from tools.docgen.pages import SCHEMAS, out_of_date, pages
from tools.docgen.record_pages import recorded

ROOT = Path(__file__).parents[2]


def test_the_schemas_are_those_of_the_code():
    changed = list(out_of_date(ROOT))
    assert not changed, f"run `{COMMAND}`: out of date are {', '.join(changed)}"


def test_every_key_option_and_code_is_in_the_reference():
    wanted = {
        "configuration.md": [f"`{name}`" for key in keys(ModelConfig) for name in _with_nested(key)],
        "profiles.md": [f"`{key.name}`" for kind in (ProfileEntry, Output) for key in keys(kind)],
        "settings.md": [f"`{name}`" for key in keys(SettingsTable) for name in _with_nested(key)],
        "yaml.md": [f"`{spelling}`" for key in keys(PropertyFile) for spelling in _all_spellings(key)],
        "error-codes.md": [f"`{code}`" for code in TEXTS],
        "adapter-response.md": [f"`{each.name}`" for kind in PARTS for each in recorded(kind)],
        "journal-events.md": [f"`{text}`" for name, kind in EVENTS.items() for text in (name, *_fields(kind))],
        "cli.md": [f"`{name}`" for command in commands().values() for name in _options(command)]
        + [f"## `merge-runner {name}`" for name in commands()],
    }
    written = pages()
    for page, texts in wanted.items():
        assert [text for text in texts if text not in written[f"docs/reference/{page}"]] == []


def _fields(kind: Any) -> list[str]:
    return [each.name for each in recorded(kind)]


def _with_nested(key: Key) -> list[str]:
    return [key.name, *(f"{key.name}.{inner.name}" for inner in (keys(key.nested) if key.nested else ()))]


def _all_spellings(key: Key) -> list[str]:
    inner = keys(key.nested) if key.nested not in (None, DataTest, Contract) else ()  # a contract is a config key
    return [*key.names, *(spelling for each in inner for spelling in _all_spellings(each))]


def _options(command: click.Command) -> list[str]:
    return [
        name for param in command.params if isinstance(param, click.Option) and not param.hidden for name in param.opts
    ]


def test_a_schema_that_differs_is_reported_with_the_command(tmp_path, capsys):
    (tmp_path / SCHEMAS).mkdir(parents=True)
    assert main([], tmp_path) == 0
    assert {file.name for file in tmp_path.rglob("*.*")} == {file.name for file in (ROOT / SCHEMAS).glob("*.json")}
    assert main(["--check"], tmp_path) == 0

    (tmp_path / SCHEMAS / "catalog.json").write_text("other")
    (tmp_path / SCHEMAS / "profiles.json").unlink()
    assert capsys.readouterr().err == ""
    assert main(["--check"], tmp_path) == 1
    assert sorted(capsys.readouterr().err.splitlines()) == [
        f"{SCHEMAS}/{name}.json is out of date: run `{COMMAND}`" for name in ("catalog", "profiles")
    ]
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0


@pytest.mark.parametrize("arguments", [("--chekc",), ("docs",)])
def test_wrong_usage_writes_nothing(tmp_path, capsys, arguments):
    (tmp_path / SCHEMAS).mkdir(parents=True)
    assert main(arguments, tmp_path) == 2
    assert capsys.readouterr().err == f"usage, in the root of the repository: {COMMAND} [--check]\n"
    assert not list(tmp_path.rglob("*.json"))


def test_there_is_nothing_to_write_outside_of_the_repository(tmp_path):
    assert main([], tmp_path) == 2
    assert not list(tmp_path.iterdir())


def test_no_command_imports_the_generator():
    code = (
        "import sys, merge_runner.cli.main, merge_runner.cli.commands.build, merge_runner.cli.commands.rule; "
        "print([name for name in sys.modules if name.startswith('tools.docgen')])"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
