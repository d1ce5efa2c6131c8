"""What a shell gets for TAB: asked in the way in which each of them asks, and once by a real bash."""

import shutil
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from merge_runner.cli.main import cli

PROFILES = """
shop: {target: dev, outputs: {dev: {schema: dev}, prod: {schema: "{{ env_var('SCHEMA') }}"}}}
other: {outputs: {ci: {schema: ci}}}
"""
FILES = {
    "profiles.yml": PROFILES,
    "selectors.yml": "selectors:\n  - {name: nightly, definition: 'tag:daily'}\n",
    "models/staging/stg_order.sql": "select {{ not closed",
    "models/fct_order.sql": "select 1 as id",
    "seeds/colours.csv": "id\n1\n",
}


@pytest.fixture
def completed(monkeypatch):
    """The values that complete the last of some words in a folder."""

    def complete(root, *words):
        monkeypatch.chdir(root)
        monkeypatch.setenv("HOME", str(root))
        asked = ShellComplete(cli, {}, "merge-runner", "_MERGE_RUNNER_COMPLETE")
        return [item.value for item in asked.get_completions(list(words[:-1]), words[-1])]

    return complete


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["op"], ["optimize"]),
        (["snapsh"], []),
        (["help", "li"], ["lineage", "lint"]),
        (["ls", "--full"], []),
        (["run", "--full"], ["--full-refresh"]),
        (["ls", "--output", "j"], ["json"]),
        (["run", "-s", "stg"], ["stg_order"]),
        (
            ["run", "-s", "2+st"],
            [
                "2+stg_order",
                "2+state:inputs",
                "2+state:modified",
                "2+state:new",
                "2+state:old",
                "2+state:older-rows",
                "2+state:unmodified",
            ],
        ),
        (["run", "-s", "fct_order", "colo"], ["colours"]),
        (["run", "--exclude", "tag:daily,@fct"], ["tag:daily,@fct_order"]),
        (["test", "--mutate", "fct"], ["fct_order"]),
        (["build", "-t", ""], ["ci", "dev", "prod"]),
        (["build", "--profile", "shop", "-t", "p"], ["prod"]),
        (["build", "--profile", "o"], ["other"]),
        (["ls", "--selector", ""], ["nightly"]),
        (["rule", "P00"], [f"P00{number}" for number in range(1, 10)]),
        (["completion", ""], ["bash", "zsh", "fish"]),
    ],
)
def test_words_are_completed_without_loading_the_project(completed, make_project, words, found):
    assert completed(make_project(FILES), *words) == found


@pytest.mark.parametrize(
    "words", [["run", "-s", "x"], ["run", "-t", ""], ["ls", "--selector", ""], ["test", "--generate", ""]]
)
def test_outside_a_project_nothing_is_completed_and_nothing_is_said(completed, tmp_path, capfd, words):
    assert completed(tmp_path, *words) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_function_that_asks_merge_runner(shell):
    process = CliRunner().invoke(cli, ["completion", shell], standalone_mode=False)
    assert (process.return_value, process.stderr) == (0, "")
    assert f"_MERGE_RUNNER_COMPLETE={shell}_complete" in process.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_a_selection_with_a_colon(make_project, tmp_path):
    root = make_project(FILES)
    program = tmp_path / "merge-runner"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m merge_runner "$@"\n')
    program.chmod(0o755)
    script = f"""
        eval "$({program} completion bash)"
        COMP_WORDS=(merge-runner run -s resource_type:mo); COMP_CWORD=3
        _merge_runner_completion {program}
        echo "${{COMPREPLY[@]}}"
        case "$COMP_WORDBREAKS" in *:*) echo broken;; esac
    """
    process = subprocess.run(["bash", "-c", script], cwd=root, capture_output=True, text=True, check=True)
    assert process.stdout.split() == ["resource_type:model"], process.stderr


def test_completion_of_names_in_a_process(make_project):
    root = make_project(FILES)
    code = (
        "import os, sys\n"
        "os.environ.update(_MERGE_RUNNER_COMPLETE='fish_complete', COMP_WORDS='merge-runner run -s ', COMP_CWORD='')\n"
        "from merge_runner.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 0\n"
    )
    process = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    assert "plain,fct_order" in process.stdout
