"""What a build writes has the permissions of the caller's umask: tables, logs, checksums and the folders around them."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


BUILDS = """
import os, sys
from pathlib import Path
from merge_runner import Project
from merge_runner.engine.startup import start_driver

root = Path(sys.argv[1])
driver = start_driver(Project.load(root).prepared.files.profile, root, root / "spark.log", os.environ)
for _ in range(2):
    assert Project.load(root).build(driver=driver, lint=False).ok
driver.stop()
"""


@pytest.mark.parametrize("umask", [0o077, pytest.param(0o027, marks=pytest.mark.nightly)])
def test_a_warehouse_has_no_permission_that_the_umask_takes(make_project, umask):
    model = "{{ config(partition_by='n') }} merge into {{ this }} as t using (select 1 as n, 2 as v) as s on t.n = s.n "
    root = make_project({"models/a.sql": model + "when not matched then insert *"})
    command = [sys.executable, "-c", BUILDS, str(root)]
    done = subprocess.run(
        command, cwd=root, env=dict(os.environ), umask=umask, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    house = root / "warehouse"
    modes = {str(path.relative_to(root)): path.stat().st_mode & umask for path in (house, *house.rglob("*"))}
    assert len(modes) > 5
    assert {name: oct(mode) for name, mode in modes.items() if mode} == {}
