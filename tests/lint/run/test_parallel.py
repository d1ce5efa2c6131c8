"""Several processes give the report that one gives, and none of them outlives it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from merge_runner.api import Project
from merge_runner.errors import Problem, ProblemsError
from merge_runner.lint.check import CheckResult
from merge_runner.lint.run.lint_project import lint_project
from merge_runner.lint.run.parallel import check_all
from merge_runner.lint.run.project_linter import ProjectLinter
from merge_runner.lint.selection import RuleSelection
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.load.flags import Flags
from merge_runner.plan.load.project_context import prepare_to_lint
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


def lint(models, processes, select=(), env=None):
    project = Project.load(models, env=env)
    return lint_project(project.prepared, project.select(select).ids, processes=processes)


def test_the_report_is_that_of_one_process(models):
    together, alone = lint(models, 3), lint(models, 1)
    assert together == alone
    assert len(together.merges) == 12
    assert together.findings
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("count", [2, 3, 4, 12])
def test_every_model_is_looked_at_once(models, count):
    names = [f"m{number:02}" for number in range(count)]
    assert [merge.model for merge in lint(models, 3, names).merges] == names


def test_what_is_forgotten_is_found_again(models):
    (models / "models/reads.sql").write_text(
        MODEL.format(number=12, sign="=").replace("source('raw', 's')", "ref('m01')")
    )
    prepared = prepare_to_lint(models, Flags(), {})[0]
    selection = RuleSelection.from_settings(prepared.files.settings.lint)
    linter = ProjectLinter(prepared, Layouts.load(prepared), selection)
    ids = [f"model.shop.{name}" for name in ("m01", "reads")]
    before = [linter.check(unique_id) for unique_id in ids]
    linter.forget()
    assert [linter.check(unique_id) for unique_id in reversed(ids)] == before[::-1]
    assert [linter.check(unique_id).reads for unique_id in ids] == [each.reads for each in before]


def test_what_the_processes_ask_of_the_environment_is_known(models):
    env = RecordingEnv({"X7": "seven"})
    lint(models, 3, env=env)
    assert {name: env.reads[name] for name in env.reads if name.startswith("X")} == {
        f"X{number}": "seven" if number == 7 else None for number in range(12)
    }


IDS = [f"model.shop.m{number:02}" for number in range(12)]


@dataclass(frozen=True)
class Linter:
    """What `check_all` asks, with an end of its own in each forked process."""

    ends: Callable[[str], None]
    parent: int = field(default_factory=os.getpid)

    def check(self, unique_id):
        if os.getpid() != self.parent:
            self.ends(unique_id)
        return CheckResult(())

    def arranged(self, unique_ids):
        return unique_ids[::-1]

    def forget(self):
        raise AssertionError("twelve models are few")

    def answers(self):
        return None

    def learn(self, learned):
        assert learned is None


class OddError(Exception):
    """Cannot be made again from its words."""

    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (ZeroDivisionError("boom"), (RuntimeError, "ZeroDivisionError: boom")),
        (OddError("very", "odd"), (RuntimeError, "OddError: very odd")),
        (ProblemsError([Problem("some-code", "is wrong")]), (ProblemsError, r"is wrong \[some-code\]")),
    ],
)
def test_what_a_process_runs_into_is_raised(raised, told):
    def ends(_unique_id):
        raise raised

    with pytest.raises(told[0], match=told[1]):
        check_all(Linter(ends), IDS, processes=3)
    assert not multiprocessing.active_children()


def test_a_process_that_is_killed_is_an_error_and_no_hang():
    def ends(unique_id):
        if unique_id.endswith("m07"):
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(RuntimeError, match="ended from outside"):
        check_all(Linter(ends), IDS, processes=3)
    assert not multiprocessing.active_children()


SLOW = """\
import os, sys, time
FIRST = os.getpid()
from merge_runner.cli.main import main
from merge_runner.lint.run import parallel
from merge_runner.lint.check import CheckResult
from merge_runner.lint.run.project_linter import ProjectLinter

def check(self, unique_id):
    open(f"running.{os.getpid()}", "w").close()
    while "INTERRUPTS" in os.environ and os.getpid() != FIRST:
        os.kill(FIRST, 2)
        time.sleep(0.001)
    if not unique_id.endswith("m00"):
        time.sleep(60)
    return CheckResult(())

ProjectLinter.check = check
parallel.processes_for = lambda models: 3
main(["lint", "--no-cache"])
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


def test_interrupts_while_processes_are_started_and_ended_end_all(models):
    for _ in range(3):
        process = subprocess.run(
            [sys.executable, "-c", SLOW],
            cwd=models,
            env={**os.environ, "INTERRUPTS": "as soon as one runs, and again"},
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        assert (process.returncode, process.stderr) == (2, "interrupted\n")
        assert not any(_is_running(int(file.suffix[1:])) for file in models.glob("running.*"))


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
