"""`merge-runner` as a process that reports the trouble of its driver sooner: `impatient.py SECONDS WORDS…`."""

import sys
from dataclasses import replace

from merge_runner.cli.host import Host
from merge_runner.cli.main import main
from merge_runner.engine.driver.driver import Waits
from merge_runner.engine.startup import DriverStart
from merge_runner.run.execution.driver_scope import starting_driver


class Impatient(DriverStart):
    """A driver on its way whose troubles are reported after some seconds."""

    def __init__(self, start, seconds):
        self.__dict__.update(vars(start))
        self._seconds = seconds

    def another(self):
        return Impatient(super().another(), self._seconds)

    def driver(self):
        return replace(super().driver(), waits=Waits(trouble=self._seconds))


if __name__ == "__main__":
    seconds = float(sys.argv[1])
    main(sys.argv[2:], Host(start=lambda prepared, events: Impatient(starting_driver(prepared, events), seconds)))
