"""The generated pages of docs are those of the code, and contain everything that a user can write."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from merge_runner.project.schema.config import Contract, ModelConfig
from merge_runner.project.schema.profile import Output, ProfileEntry
from merge_runner.project.schema.properties import DataTest, PropertyFile
from merge_runner.project.schema.settings import SettingsTable
from merge_runner.reference.command_page import commands
from merge_runner.reference.keys import Key, keys
from merge_runner.reference.markdown import COMMAND
from merge_runner.reference.pages import FOLDERS, out_of_date, pages, write

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
        "cli.md": [f"`{name}`" for command in commands().values() for name in _options(command)]
        + [f"## `merge-runner {name}`" for name in commands()],
    }
    for page, texts in wanted.items():
        written = (ROOT / FOLDERS[0] / page).read_text(encoding="utf-8")
        assert [text for text in texts if text not in written] == []


def _with_nested(key: Key) -> list[str]:
    return [key.name, *(f"{key.name}.{inner.name}" for inner in (keys(key.nested) if key.nested else ()))]


def _all_spellings(key: Key) -> list[str]:
    inner = keys(key.nested) if key.nested not in (None, DataTest, Contract) else ()  # a contract is a config key
    return [*key.names, *(spelling for each in inner for spelling in _all_spellings(each))]


def _options(command: click.Command) -> list[str]:
    return [
        name for param in command.params if isinstance(param, click.Option) and not param.hidden for name in param.opts
    ]


def test_a_page_that_differs_is_reported_with_the_command(tmp_path):
    (tmp_path / "docs").mkdir()
    write(tmp_path)
    assert sorted(file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.md")) == sorted(pages())
    assert list(out_of_date(tmp_path)) == []

    (tmp_path / "docs/reference/cli.md").write_text("other")
    (tmp_path / "docs/reference/profiles.md").unlink()
    (tmp_path / "docs/reference/rules/Z009.md").write_text("of a rule that is gone")
    run = _reference(tmp_path, "--check")
    assert run.returncode == 1
    assert run.stderr.splitlines() == [
        f"docs/reference/{name} is out of date: run `{COMMAND}`" for name in ("profiles.md", "cli.md", "rules/Z009.md")
    ]
    assert _reference(tmp_path).returncode == 0
    assert _reference(tmp_path, "--check").returncode == 0
    assert not (tmp_path / "docs/reference/rules/Z009.md").exists()


@pytest.mark.parametrize("arguments", [("--chekc",), ("docs",)])
def test_wrong_usage_writes_nothing(tmp_path, arguments):
    (tmp_path / "docs").mkdir()
    run = _reference(tmp_path, *arguments)
    assert (run.returncode, run.stderr) == (2, f"usage, in the root of the repository: {COMMAND} [--check]\n")
    assert not list(tmp_path.rglob("*.md"))


def _reference(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *COMMAND.split()[1:], *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_no_command_imports_the_generator():
    code = (
        "import sys, merge_runner.cli.main, merge_runner.cli.commands.build, merge_runner.cli.commands.rule; "
        "print([name for name in sys.modules if name.startswith('merge_runner.reference')])"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
