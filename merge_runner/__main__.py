"""`python -m merge_runner` is the command `merge-runner`."""

import os
import sys

# Python puts the working folder first, which may be a check-out with a `json.py`; the package is known already.
if sys.path and sys.path[0] == os.getcwd():  # noqa: PTH109 -- `pathlib` would be looked for there
    del sys.path[0]

from merge_runner.cli.main import process

process()
