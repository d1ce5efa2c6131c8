"""How far the MERGE is from the command that runs it: frames, and the modules that a reader opens on the way."""

import re
import sys
import threading
from collections import defaultdict
from pathlib import Path

import pytest

from merge_runner.cli.main import main
from tests.fake_engine import FakeDriver, Lake, Starts

FRAMES, MODULES = 18, 12
"""Frames of merge-runner from `main` to `session.sql` (main thread, then thread of the node), and their modules.

They were 34 and 13. Lower the numbers with the code, and never raise them.
"""
REPORTING = ("api.event_log", "cli.display", "run.results")
"""What is called with each event, whatever it is about."""
READ = 25
"""Modules to open to understand the MERGE: those of the path, and those that run in the thread of the node before it.

Of `cli`, `api`, `run` and `engine`: what loads, parses and plans has done its work then. Without reporting. Lower it with
the code, and never raise it.
"""
PAGE = Path(__file__).parents[2] / "docs/contributing/architecture.md"
FILES = {
    "models/fct.sql": "merge into {{ this }} as t using (select 1 as id) as s on t.id = s.id when not matched then insert *",
    "models/fct.yml": "models: [{name: fct, columns: [{name: id, data_type: int}]}]",
}


def frames_of(thread):
    """The module and function of each frame of merge-runner in a thread, the outermost first."""
    frame, found = sys._current_frames()[thread], []
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("merge_runner."):
            found.append(f"{module.removeprefix('merge_runner.')}: {frame.f_code.co_name}")
        frame = frame.f_back
    return found[::-1]


def test_a_plain_merge_is_few_frames_away_from_the_command(make_project):
    stacks = []

    def observe(_session, text):
        if text.lstrip().startswith("merge into"):
            threads = threading.main_thread().ident, threading.get_ident()
            stacks.append([frame for thread in threads for frame in frames_of(thread)])

    driver = FakeDriver(observe=observe)
    with pytest.raises(SystemExit) as end:
        main(["build", "--no-lint", "--project-dir", str(make_project(FILES))], Starts(driver))
    assert end.value.code == 0
    (stack,) = stacks
    modules = {frame.partition(":")[0] for frame in stack}
    assert (len(stack), len(modules)) == (FRAMES, MODULES), "\n".join(stack)


def test_the_modules_that_a_merge_takes_are_those_that_the_docs_list(make_project):
    """The second build of a model: its table is there."""
    called, read = defaultdict(set), []

    def profile(frame, event, _argument):
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("merge_runner.") and frame.f_code.co_name != "<module>":
            called[threading.current_thread()].add(module.removeprefix("merge_runner."))

    def observe(_session, text):
        if text.lstrip().startswith("merge into"):
            threads = threading.main_thread().ident, threading.get_ident()
            path = {frame.partition(":")[0] for thread in threads for frame in frames_of(thread)}
            read.append(path | called[threading.current_thread()])

    root, lake = make_project(FILES), Lake()
    for _ in range(2):
        called.clear()
        threading.setprofile(profile)
        try:
            with pytest.raises(SystemExit):
                main(["build", "--no-lint", "--project-dir", str(root)], Starts(FakeDriver(lake, observe=observe)))
        finally:
            threading.setprofile(None)
    names = {
        f"{module.replace('.', '/')}.py"
        for module in read[1]
        if module.startswith(("cli", "api", "run.", "engine")) and not module.startswith(REPORTING)
    }
    table = PAGE.read_text(encoding="utf-8").partition("## The modules of a plain MERGE")[2].partition("\n## ")[0]
    listed = [cell for row in re.findall(r"^\| .*\| (`.*`) \|$", table, re.M) for cell in re.findall(r"`([^`]+)`", row)]
    assert sorted(listed) == sorted(names)
    assert len(names) == READ
