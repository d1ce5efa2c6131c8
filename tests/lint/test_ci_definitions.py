"""The hook, the actions and the examples of docs/guides name what there is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.yaml_data import read_yaml

ROOT = Path(__file__).parents[2]
HOOKS = read_yaml(ROOT / ".pre-commit-hooks.yaml")
ACTION = read_yaml(ROOT / "action.yml")
COMMENT = read_yaml(ROOT / "comment" / "action.yml")
GUIDE = (ROOT / "docs" / "guides" / "lint-in-ci.md").read_text()
DIFF_GUIDE = (ROOT / "docs" / "guides" / "diff.md").read_text()
STEPS = ACTION["runs"]["steps"]
ALL_STEPS = [*STEPS, *COMMENT["runs"]["steps"]]
EXAMPLES = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)]


@pytest.fixture(scope="module")
def lint_help() -> str:
    command = [sys.executable, "-m", "merge_runner", "lint", "--help"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_the_hook_runs_a_command_that_there_is():
    (hook,) = HOOKS
    program, command = hook["entry"].split()
    assert program in (ROOT / "pyproject.toml").read_text().partition("[project.scripts]")[2]
    assert subprocess.run([sys.executable, "-m", "merge_runner", command, "--help"], check=False).returncode == 0
    assert hook["id"] == "merge-runner-lint"
    assert hook["language"] == "python"


@pytest.mark.parametrize(
    ("path", "matches"),
    [
        ("models/m.sql", True),
        ("models/m.yml", True),
        ("m.yaml", True),
        ("jobs/j.py", True),
        ("n.ipynb", True),
        ("J.scala", True),
        ("m.sql.txt", False),
        ("sql", False),
    ],
)
def test_the_hook_gets_models_and_their_properties(path, matches):
    assert bool(re.search(HOOKS[0]["files"], path)) is matches


@pytest.mark.parametrize("path", ["action.yml", "comment/action.yml"])
def test_an_action_uses_each_input_and_no_other(path):
    inputs = read_yaml(ROOT / path)["inputs"]
    assert set(re.findall(r"inputs\.([a-z-]+)", (ROOT / path).read_text())) == set(inputs)
    assert all(each["description"] and "default" in each for each in inputs.values())


@pytest.mark.parametrize("step", ALL_STEPS, ids=lambda step: step.get("name", step.get("uses")))
def test_a_step_of_the_action(step):
    if "uses" in step:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"])
    else:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]  # an input in a script would be run as its text


def test_the_scripts_of_the_action_parse():
    for step in ALL_STEPS:
        if "run" in step:
            subprocess.run(["bash", "-n", "-c", step["run"]], check=True)


def test_no_module_of_the_check_out_is_imported(tmp_path):
    scripts = "\n".join(step.get("run", "") for step in ALL_STEPS)
    started = re.findall(r"(\S+) -m (?:venv|pip)\b", scripts)
    assert started and set(started) == {"-I"}
    (tmp_path / "venv.py").write_text("print('planted')")
    command = [sys.executable, "-I", "-m", "venv", "--help"]
    assert "planted" not in subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(("head", "expected"), [("merge", "base"), ("branch", "event"), ("other", "event")])
def test_the_base_is_the_one_that_was_merged(tmp_path, head, expected):
    """`head`: what is checked out: the merge of the event, the branch, or another merge."""

    def git(*words):
        settings = ("-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false")
        command = ["git", "-C", str(tmp_path / "work"), *settings, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    (tmp_path / "work").mkdir()
    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "first")
    git("checkout", "-q", "-b", "branch")
    git("commit", "-q", "--allow-empty", "-m", "change")
    git("checkout", "-q", "main")
    git("commit", "-q", "--allow-empty", "-m", "others")
    commits = {"base": git("rev-parse", "HEAD"), "event": "0" * 40}
    git("merge", "-q", "--no-ff", "-m", "merge", "branch")
    merge = git("rev-parse", "HEAD")
    git("checkout", "-q", "branch" if head == "branch" else merge)
    (step,) = [step for step in COMMENT["runs"]["steps"] if step.get("name") == "Find the base"]
    env = {
        "BASE": commits["event"],
        "GITHUB_WORKSPACE": str(tmp_path / "work"),
        "GITHUB_SHA": "1" * 40 if head == "other" else merge,
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "PATH": "/usr/bin:/bin",
    }
    subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], env=env, check=True)
    assert (tmp_path / "output").read_text() == f"sha={commits[expected]}\n"


def test_the_options_of_the_action_and_the_guide_exist(lint_help):
    scripts = "\n".join(step.get("run", "") for step in STEPS)
    lines = [line for line in f"{scripts}\n{GUIDE}".splitlines() if "pip install" not in line]
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", "\n".join(lines)))
    assert {"--format", "--fail-on", "--changed", "--write-baseline"} <= options
    assert [option for option in options if option not in lint_help] == []


def test_the_examples_of_the_guide_name_the_action_the_hook_and_the_inputs():
    github, gitlab, pre_commit, dbt = EXAMPLES
    assert github["jobs"]["merge"]["steps"][-1]["uses"].startswith("merge-runner/merge-runner@v")
    assert "merge-runner lint --format gitlab" in gitlab["merge-lint"]["script"][-1]
    assert pre_commit["repos"][0]["hooks"][0]["id"] == HOOKS[0]["id"]
    assert [step["run"].partition(" --")[0] for step in dbt[1:]] == ["dbt parse", "merge-runner lint"]
    rows = dict(re.findall(r"^\| `([a-z-]+)` \|.*\| (.*?) ?\|$", GUIDE, re.MULTILINE))
    assert set(rows) == set(ACTION["inputs"])


@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("echo text; exit 0", 0),
        ("echo text; exit 1", 0),  # rows differ
        ("echo text; exit 2", 0),  # a table is not built here
        ("echo error >&2; exit 2", 1),
    ],
)
def test_the_comment_fails_its_job_only_where_there_is_none(tmp_path, program, status):
    (step,) = [step for step in COMMENT["runs"]["steps"] if step.get("name") == "Write the comment"]
    (tmp_path / "merge-runner").write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\n{program}\n')
    (tmp_path / "merge-runner").chmod(0o755)
    env = {
        "MERGE_RUNNER": str(tmp_path / "merge-runner"),
        "BASE": "a folder/./",
        "ARGS": "--state state -s *",
        "COMMENT": str(tmp_path / "comment.md"),
        "PATH": "/usr/bin:/bin",
    }
    # As GitHub runs a script of bash.
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    assert subprocess.run(command, env=env, cwd=tmp_path, check=False).returncode == status
    assert (tmp_path / "words").read_text() == "diff --pr a folder/./ --state state -s *\n"


def test_the_inputs_of_the_comment_are_in_its_guide():
    rows = dict(re.findall(r"^\| `([a-z-]+)` \|.*\| (.*?) ?\|$", DIFF_GUIDE, re.MULTILINE))
    assert set(rows) == set(COMMENT["inputs"])
    assert "uses: merge-runner/merge-runner/comment@v" in DIFF_GUIDE
