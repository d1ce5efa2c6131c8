"""`python -m tools.lint_picture` writes the picture of lint in a terminal that README shows, from the MERGE there."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

from merge_runner.atomic import write_atomic

PICTURE = Path("docs/assets/lint.svg")
COMMAND = "merge-runner lint orders.sql"
_WIDTH = 118
"""Columns of the terminal: longer lines are wrapped, so that the picture can be read in a column of a page."""
_WEB_FONT = re.compile(r"@font-face \{.*?\}", re.DOTALL)


def merge_of_readme(root: Path) -> str:
    """Return the text of orders.sql in README: what is between ``cat orders.sql`` and the end of its block."""
    text = (root / "README.md").read_text(encoding="utf-8")
    return text.partition("$ cat orders.sql\n")[2].partition("\n```")[0] + "\n"


def terminal_text(root: Path) -> Text:
    """Return the command and what it prints, in colours."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "orders.sql").write_text(merge_of_readme(root), encoding="utf-8")
        run = subprocess.run(
            [sys.executable, "-m", *COMMAND.replace("merge-runner", "merge_runner", 1).split()],
            cwd=folder,
            env={**os.environ, "FORCE_COLOR": "1", "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=False,
        )
    return Text.from_ansi(f"$ {COMMAND}\n{run.stdout}{run.stderr}")


def svg(text: Text) -> str:
    """Return a text of a terminal as an SVG that loads no font."""
    console = Console(record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True, color_system="standard")
    console.print(text)
    return _WEB_FONT.sub("", console.export_svg(title="lint", theme=DIMMED_MONOKAI, unique_id="lint"))


if __name__ == "__main__":
    write_atomic(Path.cwd() / PICTURE, svg(terminal_text(Path.cwd())))
