"""`merge-runner` as a process that reports the trouble of its driver sooner: `impatient.py SECONDS WORDS…`."""

import sys
from dataclasses import replace

from merge_runner.cli.main import main
from merge_runner.engine.driver.driver import Waits
from merge_runner.run.execution.driver_scope import starting_driver


class Impatient:
    """A driver on its way whose troubles are reported after some seconds."""

    def __init__(self, starting, seconds):
        self._starting, self._seconds = starting, seconds

    def __getattr__(self, name):
        return getattr(self._starting, name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._starting.abandon()

    def another(self):
        return Impatient(self._starting.another(), self._seconds)

    def driver(self):
        return replace(self._starting.driver(), waits=Waits(trouble=self._seconds))


if __name__ == "__main__":
    seconds = float(sys.argv[1])
    main(sys.argv[2:], lambda prepared, events: Impatient(starting_driver(prepared, events), seconds))
