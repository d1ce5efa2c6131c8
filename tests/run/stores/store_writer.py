"""One of several writers of a table, a process with a Spark driver of its own.

    python store_writer.py ROOT NAME FIRST LAST

builds the project for each number from FIRST to LAST; what has been acknowledged is a line of NAME.txt in ROOT. With NAME
`batch…` the number is its `--batch-id`. Where a file `gate` is in ROOT, it starts when that has gone. Messages of waiting
and running again go to NAME.messages.txt.

With NAME `raw…` it sends INSERTs to Spark itself, without the locks of the runner: what keeps them apart then is how
Delta commits.
"""

import os
import sys
import time
from pathlib import Path

SECONDS = 120


def main(root, name, first, last):
    sys.path[0] = str(Path(__file__).parents[3])
    from merge_runner import Project
    from merge_runner.engine.startup import start_driver

    profile = Project.load(root).prepared.files.profile
    driver = start_driver(profile, root, root / f"{name}.spark.log", os.environ)
    try:
        with (root / f"{name}.txt").open("a", buffering=1) as acknowledged, driver.session() as session:
            if name.startswith("raw"):
                session.sql(f"create table raw using delta location '{profile.warehouse}/raw/t'")
            _wait_for_the_gate(root)
            for number in range(first, last + 1):
                if name.startswith("raw"):
                    session.sql(f"insert into raw values ('{name}', {number})")
                else:
                    project = Project.load(root, target_path=f"target_{name}")
                    batch = number if name.startswith("batch") else None
                    _build(project, driver, batch, root / f"{name}.messages.txt")
                acknowledged.write(f"{number}\n")
    finally:
        driver.stop()


def _wait_for_the_gate(root):
    deadline = time.monotonic() + SECONDS
    while (root / "gate").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _build(project, driver, batch, messages):
    def note(event):
        if event.event in ("node_waiting", "node_retried"):
            with messages.open("a") as file:
                file.write(f"{event.event} {event.message}\n")

    results = project.build(driver=driver, lint=False, batch_id=batch, on_event=note)
    assert results.ok, [result.message for result in results.results]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
