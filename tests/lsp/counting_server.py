"""`merge-runner lsp` as a process that writes how many loaded projects it has into a file, at each SIGUSR1.

Its argument is the path of this file: `python -m tests.lsp.counting_server FILE`.
"""

import gc
import signal
import sys
from pathlib import Path

from merge_runner.cli.main import process
from merge_runner.plan.load.project_context import Prepared


def count_at_signal(file):
    """Count what the collector has not freed yet, among what it no longer looks at as well; it collects nothing."""

    def write(_signal, _frame):
        gc.unfreeze()
        found = sum(isinstance(each, Prepared) for each in gc.get_objects())
        draft = file.with_suffix(".draft")
        draft.write_text(str(found))
        draft.replace(file)

    signal.signal(signal.SIGUSR1, write)


if __name__ == "__main__":
    count_at_signal(Path(sys.argv[1]))
    sys.argv[1:] = ["lsp"]
    process()
