"""How many frames are between the command and the MERGE that it runs: the path that a reader has to follow."""

import sys
import threading

import pytest

from merge_runner.cli.main import main
from tests.fake_engine import FakeDriver, Starts

FRAMES, MODULES = 18, 12
"""Frames of merge-runner from `main` to `session.sql` (main thread, then thread of the node), and their modules.

They were 34 and 13. Lower the numbers with the code, and never raise them.
"""
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
