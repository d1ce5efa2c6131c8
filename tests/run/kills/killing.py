"""Runs the command line and kills its whole process group, JVM and all, at one moment of it.

    python killing.py WHEN command …

WHEN is `7`, the seventh moment, `7+0.3`, 0.3 seconds after it, or `0`, never. Moments lie before, in and behind each line
of the journal, before and behind each step of a node, behind the answer to each MERGE, and where a file has been written
and not yet been put into its place. Their names are appended to the file $MOMENTS, the one that killed as the last.
"""

import os
import signal
import sys
import threading
from pathlib import Path


def die():
    os.killpg(0, signal.SIGKILL)


class Moments:
    """Counts the moments of a process, and ends it at one."""

    def __init__(self, when, told):
        number, _, delay = when.partition("+")
        self.fatal, self.delay = int(number), float(delay or 0)
        self.told = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.number = 0
        self.guard = threading.Lock()

    def __call__(self, name, at_last=lambda: None):
        """One moment; `at_last` is done where it is the last one."""
        with self.guard:
            if self.number == self.fatal != 0:
                return  # it dies in a moment: the others are none any more
            self.number += 1
            os.write(self.told, f"{name}\n".encode())
            if self.number != self.fatal:
                return
        if self.delay:
            timer = threading.Timer(self.delay, die)
            timer.daemon = True
            timer.start()
        else:
            at_last()
            die()


def watch(moment):
    """Puts moments into the places of the product that write or commit something."""
    from merge_runner.engine.merge import pipeline
    from merge_runner.engine.steps import perform
    from merge_runner.run.results.journal import Journal

    write, functions, merge, sync = Journal.__call__, perform.FUNCTIONS, pipeline.execute, os.fsync

    def journal(self, event):
        node = event.data.get("name") or event.data.get("batch_id", "")
        name = f"{event.event} {node}".strip()
        moment(f"before the line {name}")
        moment(
            f"in the line {name}", lambda: os.write(self._file.fileno(), f'{{"event": "{event.event}", "no'.encode())
        )
        write(self, event)
        moment(f"behind the line {name}")

    def step(step, place):
        name = f"{type(step).__name__} of {place.description.partition(' [')[0]}"
        moment(f"before {name}")
        functions[type(step)](step, place)
        moment(f"behind {name}")

    def merged(*arguments):
        ran = merge(*arguments)
        moment("behind the answer to a MERGE")
        return ran

    def synced(handle):
        sync(handle)
        moment("a file is written and not in its place")

    Journal.__call__, pipeline.execute, os.fsync = journal, merged, synced
    perform.FUNCTIONS = dict.fromkeys(functions, step)


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[3])  # the clone that this file is of, and not its folder
    watch(Moments(sys.argv.pop(1), os.environ["MOMENTS"]))
    from merge_runner.cli.main import process

    process()
