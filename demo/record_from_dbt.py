"""Import the dbt project of demo/from_dbt, lint and build it, show what new rows would change, and print all of it.

    python demo/record_from_dbt.py            # the console of docs/guides/import-dbt.md

It needs no dbt. Commands run as processes in a temporary folder, so that no path of this machine is printed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
_SEED = "seeds/raw_orders.csv"
_NEXT_DAY = """\
id,customer,status,amount,updated_at
1,ann,paid,10.50,2026-01-04 08:00:00
2,bob,paid,20.00,2026-01-02 10:00:00
3,ann,sent,30.00,2026-01-02 11:00:00
4,cid,new,7.25,2026-01-04 09:30:00
"""
_COMMANDS = (
    (".", "import dbt shop --to new"),
    ("new", "lint --format concise"),
    ("new", "build"),
    ("new", f"# {_SEED}: order 1 is paid, order 4 is new"),
    ("new", "seed"),
    ("new", "show -s orders"),
    ("new", "build"),
)


def main() -> int:
    """Run the commands; the status is 1 where one ended with another than 0."""
    root = Path(__file__).parents[1]
    env = {name: value for name, value in os.environ.items() if not name.startswith("MERGE_RUNNER_")}
    env |= {"PYTHONPATH": str(root), "COLUMNS": "100", "NO_COLOR": "1"}
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(HERE / "from_dbt", folder / "shop")
        for where, arguments in _COMMANDS:
            if arguments.startswith("# "):
                (folder / where / _SEED).write_text(_NEXT_DAY)
                sys.stdout.write(f"{where}$ {arguments}\n")
                continue
            done = subprocess.run(
                [sys.executable, "-m", "merge_runner", *arguments.split()],
                cwd=folder / where,
                env=env,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            prompt = "$" if where == "." else f"{where}$"
            sys.stdout.write(f"{prompt} merge-runner {arguments}\n{_shown(done.stdout, folder)}\n")
            failed = failed or done.returncode != 0
    return 1 if failed else 0


def _shown(text: str, folder: Path) -> str:
    """Return an output without the temporary folder, and with the lines of a progress display once."""
    return re.sub(r".*\r(?!\n)", "", text.replace(str(folder), "…"))


if __name__ == "__main__":
    raise SystemExit(main())
