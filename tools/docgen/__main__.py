"""`python -m tools.docgen` writes the JSON Schemas; with `--check` it reports those that differ from the code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tools.docgen.pages import SCHEMAS, out_of_date, write

COMMAND = "python -m tools.docgen"


def main(arguments: Sequence[str], root: Path) -> int:
    """Write or check the schemas of the repository at `root`. Return the exit status."""
    if list(arguments) not in ([], ["--check"]) or not (root / SCHEMAS).is_dir():
        sys.stderr.write(f"usage, in the root of the repository: {COMMAND} [--check]\n")
        return 2
    if not arguments:
        write(root)
        return 0
    differing = list(out_of_date(root))
    for path in differing:
        sys.stderr.write(f"{path} is out of date: run `{COMMAND}`\n")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path.cwd()))
