"""`python -m merge_runner` is the command `merge-runner`."""

import os
import sys


def process() -> None:
    """Run a process of the command line; an interrupt while it is imported, or ends, is one line as well."""
    try:
        # Here, after the working folder has left the path, and where an interrupt is one line.
        from merge_runner.cli.main import process as run

        run()
    except KeyboardInterrupt:
        os.write(2, b"interrupted\n")
        os._exit(2)


if __name__ == "__main__":
    # Python puts the working folder first, which may be a check-out with a `json.py`; the package is known already.
    if sys.path and sys.path[0] == os.getcwd():  # noqa: PTH109 -- `pathlib` would be looked for there
        del sys.path[0]
    process()
