"""The dbt that benchmarks run against: in a virtual environment of its own, made once in a cache folder."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

DBT = ["dbt-core<1.12", "dbt-spark[session]"]
CACHE = Path.home() / ".cache" / "merge-runner-bench"
QUIET = {
    "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
    "DBT_USE_COLORS": "false",
    "DBT_LOG_PATH": "logs",
    "NO_COLOR": "1",
    "PYTHONWARNINGS": "ignore",
}
"""Environment variables that keep dbt from sending statistics and colouring its output."""


def dbt_command(path: str | None, cache: Path, *more: str) -> str:
    """The dbt to run: the given one, or one installed into the cache folder, with `more` requirements."""
    if path is not None:
        return path
    folder = cache / "-".join(("dbt", *more))
    dbt = folder / ("Scripts" if os.name == "nt" else "bin") / "dbt"
    if not (folder / "complete").exists():
        print("installing dbt …", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([dbt.parent / "python", "-m", "pip", "install", "-q", *DBT, *more], check=True)
        (folder / "complete").touch()
    return str(dbt)
