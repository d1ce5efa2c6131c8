"""merge-runner on the fake engine, as the executable of an orchestrator.

The file that FAKE_ENGINE names is a list of JSON objects (`faults`, `failures`, `counts`, `answers` of FakeDriver): what
each process that builds takes in turn, the last one also all later ones. Next to it each leaves its command line.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from pathlib import Path

from merge_runner.cli.host import Host
from merge_runner.cli.main import main
from tests.fake_engine import FakeDriver, Lake, Starts


def given() -> dict:
    """Return what this process is to do: the next of the list in the file."""
    file = Path(os.environ["FAKE_ENGINE"])
    turns = json.loads(file.read_text())
    if sys.argv[1] not in ("build", "retry", "run"):
        return {}
    for number in itertools.count():
        try:
            file.with_suffix(f".{number}").touch(exist_ok=False)
        except FileExistsError:
            continue
        file.with_suffix(f".{number}").write_text(json.dumps(sys.argv[1:]))
        return turns[min(number, len(turns) - 1)]
    raise AssertionError


def run() -> None:
    """Run a command line."""
    turn = given()
    driver = FakeDriver(
        Lake(),
        turn.get("faults"),
        counts=turn.get("counts"),
        failures=turn.get("failures"),
        answers=turn.get("answers"),
    )
    main(sys.argv[1:], Host(start=Starts(driver)))


if __name__ == "__main__":
    run()
