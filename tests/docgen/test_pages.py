"""The generated pages of docs are those of the code, and contain everything that a user can write."""

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
from tools.docgen.__main__ import main
from tools.docgen.command_page import commands
from tools.docgen.keys import Key, keys
from tools.docgen.markdown import COMMAND
from tools.docgen.pages import FOLDERS, out_of_date, pages
from tools.docgen.record_pages import recorded

ROOT = Path(__file__).parents[2]


def test_the_pages_are_those_of_the_code():
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
    for page, texts in wanted.items():
        written = (ROOT / FOLDERS[0] / page).read_text(encoding="utf-8")
        assert [text for text in texts if text not in written] == []


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


def test_a_page_that_differs_is_reported_with_the_command(tmp_path, capsys):
    (tmp_path / "docs").mkdir()
    assert main([], tmp_path) == 0
    assert sorted(file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.*")) == sorted(pages())
    assert main(["--check"], tmp_path) == 0

    (tmp_path / "docs/reference/cli.md").write_text("other")
    (tmp_path / "docs/reference/profiles.md").unlink()
    (tmp_path / "docs/reference/rules/Z009.md").write_text("of a rule that is gone")
    assert capsys.readouterr().err == ""
    assert main(["--check"], tmp_path) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"docs/reference/{name} is out of date: run `{COMMAND}`" for name in ("profiles.md", "cli.md", "rules/Z009.md")
    ]
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0
    assert not (tmp_path / "docs/reference/rules/Z009.md").exists()


@pytest.mark.parametrize("arguments", [("--chekc",), ("docs",)])
def test_wrong_usage_writes_nothing(tmp_path, capsys, arguments):
    (tmp_path / "docs").mkdir()
    assert main(arguments, tmp_path) == 2
    assert capsys.readouterr().err == f"usage, in the root of the repository: {COMMAND} [--check]\n"
    assert not list(tmp_path.rglob("*.md"))


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
