"""The command of a Python process that imports no module of the folder in which it is started."""

from __future__ import annotations

import sys

# `python -m` and `python -c` look for modules in the working folder first, which may be a check-out with a `json.py`.
# -P needs Python 3.11, and -I leaves out PYTHONPATH and the packages of the user. `sys` is part of the interpreter.
_RUN = (
    "import sys; sys.path[:] = filter(None, sys.path); import runpy; "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module with this interpreter, as `python -m` does, whatever the folder has."""
    return [sys.executable, "-c", _RUN, module, *arguments]
