"""Several processes give the report that one gives, and none of them outlives it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from merge_runner.api import Project
from merge_runner.errors import Problem, ProblemsError
from merge_runner.lint.check import Checked
from merge_runner.lint.run import parallel
from merge_runner.lint.run.project import ProjectLinter
from merge_runner.project.syntax.environment import RecordingEnv

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux forks safely")

MODEL = """\
{{{{ config(partition_by=['dt']) }}}}
merge into {{{{ this }}}} as t
using {{{{ source('raw', 's') }}}} as s
   on t.id = s.id and t.dt {sign} s.dt and t.x = '{{{{ env_var('X{number}', '') }}}}'
when matched then update set *
"""
SOURCES = "version: 2\nsources: [{name: raw, tables: [{name: s}]}]\n"


@pytest.fixture
def models(make_project):
    """Twelve models, every third of them without a finding on its scan."""
    files = {f"models/m{n:02}.sql": MODEL.format(number=n, sign="=" if n % 3 else "<") for n in range(12)}
    return make_project({**files, "models/s.yml": SOURCES})


@pytest.fixture
def forked(monkeypatch):
    """From two models on, three processes."""
    monkeypatch.setattr(parallel, "_WORTH", 2)
    monkeypatch.setattr(parallel, "_processes", lambda models: 3 if models > 1 else 1)


def test_the_report_is_that_of_one_process(models, forked, monkeypatch):
    together = Project.load(models).lint()
    monkeypatch.setattr(parallel, "_processes", lambda _models: 1)
    alone = Project.load(models).lint()
    assert together == alone
    assert len(together.merges) == 12
    assert together.findings
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("count", [1, 2, 3, 4, 12])
def test_every_model_is_looked_at_once(models, forked, count):
    ids = [f"model.shop.m{number:02}" for number in range(count)]
    report = Project.load(models).lint([id_.rpartition(".")[2] for id_ in ids])
    assert [merge.model for merge in report.merges] == [id_.rpartition(".")[2] for id_ in ids]


def test_what_the_processes_ask_of_the_environment_is_known(models, forked):
    env = RecordingEnv({"X7": "seven"})
    Project.load(models, env=env).lint()
    assert {name: env.asked[name] for name in env.asked if name.startswith("X")} == {
        f"X{number}": "seven" if number == 7 else None for number in range(12)
    }


class OddError(Exception):
    """Cannot be made anew from its words."""

    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (ZeroDivisionError("boom"), (ZeroDivisionError, "boom")),
        (OddError("very", "odd"), (RuntimeError, "OddError: very odd")),
        (ProblemsError([Problem("some-code", "is wrong")]), (ProblemsError, r"is wrong \[some-code\]")),
    ],
)
def test_what_a_process_runs_into_is_raised(models, forked, monkeypatch, raised, told):
    parent = os.getpid()

    def check(_self, _unique_id):
        if os.getpid() != parent:
            raise raised
        return Checked(())

    monkeypatch.setattr(ProjectLinter, "check", check)
    with pytest.raises(told[0], match=told[1]):
        Project.load(models).lint()
    assert not multiprocessing.active_children()


def test_a_process_that_is_killed_is_an_error_and_no_hang(models, forked, monkeypatch):
    parent = os.getpid()

    def check(_self, unique_id):
        if os.getpid() != parent and unique_id.endswith("m07"):
            os.kill(os.getpid(), signal.SIGKILL)
        return Checked(())

    monkeypatch.setattr(ProjectLinter, "check", check)
    with pytest.raises(RuntimeError, match="ended from outside"):
        Project.load(models).lint()
    assert not multiprocessing.active_children()


SLOW = """\
import os, sys, time
from merge_runner.cli.main import main
from merge_runner.lint.run import parallel
from merge_runner.lint.check import Checked
from merge_runner.lint.run.project import ProjectLinter

def check(self, unique_id):
    open(f"running.{os.getpid()}", "w").close()
    if not unique_id.endswith("m00"):
        time.sleep(60)
    return Checked(())

ProjectLinter.check = check
parallel._processes = lambda models: 3
sys.argv = ["merge-runner", "lint", "--no-cache"]
main()
"""


def _started(root: Path) -> list[int]:
    deadline = time.monotonic() + 60
    while len(list(root.glob("running.*"))) < 4:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return [int(file.suffix[1:]) for file in root.glob("running.*")]


def _is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize(("reaches_all", "sent"), [(True, signal.SIGINT), (False, signal.SIGINT)])
def test_an_interrupt_ends_all_at_once(models, reaches_all, sent):
    with subprocess.Popen(
        [sys.executable, "-c", SLOW],
        cwd=models,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        processes = _started(models)
        (os.killpg if reaches_all else os.kill)(process.pid, sent)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (2, "", "interrupted\n")
    assert not any(_is_running(each) for each in processes)
