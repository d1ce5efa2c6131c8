"""`init --agents`: AGENTS.md is in a new project, and in one that is there, and overwrites nothing."""

import re

import pytest

from tests.docs.command_lines import CommandLine
from tests.docs.test_command_lines import parsed


def test_a_new_project_has_the_file(call, tmp_path):
    ended = call("init", "shop", "--agents")
    assert ended.returncode == 0
    assert "shop/AGENTS.md" in ended.stdout.splitlines()
    assert (tmp_path / "shop/AGENTS.md").read_text().startswith("# How to work in this project\n")
    assert call("lint", cwd=tmp_path / "shop").returncode == 0


def test_without_the_option_it_has_none(call, tmp_path):
    call("init", "shop")
    assert not (tmp_path / "shop/AGENTS.md").exists()


def test_a_project_that_is_there_gets_the_file_alone(call, make_project):
    root = make_project({"models/a.sql": "select 1 as id"})
    before = {path for path in root.rglob("*") if path.is_file()}
    ended = call("init", "--agents", cwd=root / "models")
    assert (ended.returncode, ended.stdout) == (0, "../AGENTS.md\n")
    assert {path for path in root.rglob("*") if path.is_file()} - before == {root / "AGENTS.md"}


@pytest.mark.parametrize("kind", ["file", "link"])
def test_nothing_is_overwritten(call, make_project, kind):
    root = make_project({})
    if kind == "file":
        (root / "AGENTS.md").write_text("our own\n")
    else:
        (root / "AGENTS.md").symlink_to("nowhere.md")
    ended = call("init", "--agents", cwd=root)
    assert ended.returncode == 2
    assert "AGENTS.md is there already, and stays as it is [file-exists]" in ended.stderr
    assert kind == "link" or (root / "AGENTS.md").read_text() == "our own\n"
    assert not (root / "nowhere.md").exists()


def test_where_no_project_is_it_says_what_to_do(call, tmp_path):
    ended = call("init", "--agents")
    assert ended.returncode == 2
    assert "[no-project]" in ended.stderr


def test_its_commands_and_options_exist(call, tmp_path):
    call("init", "shop", "--agents")
    text = (tmp_path / "shop/AGENTS.md").read_text()
    lines = re.findall(r"^    merge-runner (.+?)(?:  +#.*)?$", text, re.MULTILINE)
    assert len(lines) > 7
    for line in lines:
        words = [re.sub(r'^"|"$', "", word) for word in re.findall(r'"[^"]*"|\S+', line)]
        assert parsed(CommandLine(tmp_path, 0, tuple(words), marked=False, whole=True)), line
