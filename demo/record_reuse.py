"""Records what runs again in the flights project, and why, into docs/guides/what-runs-again.md.

    python demo/record_reuse.py [unchanged correction writer] [--to PAGE] [--folder FOLDER] [--window FROM TO]
        [--explain]

It copies the project into a scratch folder, builds it, and then edits it as each section of the page says. With
`--folder` the scratch folder is kept, so that sections can be recorded one by one, in this order. What the
commands print is written between the markers `<!-- recorded: NAME -->` and `<!-- end -->` of the page, as it is, but
for lines of nodes that are left out and of tests: these are counted. Left out are lines that a
terminal does not keep: that a node runs.
`--window` builds these days alone, `--explain` records what would run, without builds. Java and the CSV files of
`data/` have to be there. It takes three minutes.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
PAGE = REPOSITORY / "docs" / "guides" / "what-runs-again.md"
PROJECT = ("pyproject.toml", "profiles.yml", "Makefile", "models", "macros", "data_tests", "seeds", "data", "demo")
YEAR = ("2013-01-01", "2014-01-01")
SHOWN = 1
"""How many lines of what is counted are shown where more follow each other."""
CORRECTION = "2013-07-10,UA,373,EWR,190,168,2013-07-20T10:00:00Z,a digit was wrong\n"
OPERATION = """{% macro rename_airline() %}
  {% do run_query("update " ~ ref('dim_airline') ~ " set name = 'United' where carrier = 'UA'") %}
{% endmacro %}
"""
_RUNS = re.compile(r" +(START|RUN) ")
_COUNTED = re.compile(r" NO-OP | no +inputs unchanged since |/\d+ PASS |^\d+ .* (unit_)?test +yes ")
"""The lines that are counted, of a build and of a table of `explain`: of nodes that are left out, and of tests."""


class Flights:
    """The flights project in a scratch folder, which is copied and built where it is not there yet."""

    def __init__(self, root: Path, window: Sequence[str], *, builds: bool) -> None:
        self.root, self.builds = root, builds
        left_out = ("CI", "MERGE_RUNNER_REUSE", "MERGE_RUNNER_WARM")
        kept = {name: value for name, value in os.environ.items() if name not in left_out}
        self.env = {**kept, "PYTHONPATH": str(REPOSITORY), "NO_COLOR": "1"}
        if not root.exists():
            root.mkdir(parents=True)
            for name in PROJECT:
                path = REPOSITORY / name
                copied = shutil.copytree if path.is_dir() else shutil.copy2
                copied(path, root / name)
            (root / ".venv").symlink_to(sys.prefix)
            for name, default, day in zip(("from", "to"), YEAR, window, strict=True):
                self.edit("pyproject.toml", f"{name} = {default}", f"{name} = {day}")
            self.run("build")

    def edit(self, path: str, old: str, new: str) -> str:
        """Replace a text in a file; return what was done as lines of a diff."""
        text = (self.root / path).read_text()
        if old not in text:
            raise SystemExit(f"{path}: {old!r} is not in it")
        (self.root / path).write_text(text.replace(old, new))
        return _fenced("diff", [*(f"-{line}" for line in old.splitlines()), *(f"+{line}" for line in new.splitlines())])

    def run(self, *words: str) -> str:
        """Run a command of merge-runner, or `make`; return what a terminal shows of it."""
        command = ["make", "-o", ".venv/.demo"] if words[0] == "make" else [sys.executable, "-m", "merge_runner"]
        done = subprocess.run(
            [*command, *words[words[0] == "make" :]],
            cwd=self.root,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(words)}: {done.returncode}\n{done.stdout}")
        output = done.stdout.replace(f"{self.root}/", "")
        shown = " ".join(words if words[0] == "make" else ("merge-runner", *words))
        return _fenced("console", [f"$ {shown}", *_shortened(output.splitlines())])


def main() -> None:
    """Record what is asked for, and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("sections", nargs="*", help="which to record (default: all)")
    parser.add_argument("--to", type=Path, default=PAGE, help="the page with the markers")
    parser.add_argument("--folder", type=Path, help="where the project is built")
    parser.add_argument("--window", nargs=2, default=YEAR, help="the first day, and the one after the last")
    parser.add_argument("--explain", action="store_true", help="build nothing, and undo each edit")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        flights = Flights((asked.folder or Path(scratch)) / "flights", asked.window, builds=not asked.explain)
        sections = [name for name in SECTIONS if name != "writer" or not asked.explain]
        try:
            for name in asked.sections or sections:
                _write(asked.to, name, SECTIONS[name](flights))
        finally:
            flights.run("warm", "stop")


def _write(page: Path, name: str, lines: str) -> None:
    text, begin, end = page.read_text(), f"<!-- recorded: {name} -->\n", "<!-- end -->"
    before, _, rest = text.partition(begin)
    if not rest:
        raise SystemExit(f"{page} has no marker {begin.strip()}")
    page.write_text(before + begin + lines + end + rest.partition(end)[2])


def unchanged(flights: Flights) -> str:
    """Build again, as `make demo` does."""
    return flights.run("make", "demo")


def correction(flights: Flights) -> str:
    """Add a late correction to the seed."""
    path = flights.root / "seeds" / "flight_correction.csv"
    before = path.read_text()
    path.write_text(before + CORRECTION)
    edited = _fenced("console", ["$ echo '" + CORRECTION.strip() + "' >> seeds/flight_correction.csv"])
    explained = flights.run("explain", "--output", "table")
    if flights.builds:
        return edited + explained + flights.run("build")
    path.write_text(before)
    return edited + explained


def writer(flights: Flights) -> str:
    """Write a model's table by other means."""
    path = flights.root / "macros" / "rename_airline.sql"
    path.write_text(OPERATION)
    flights.run("run-operation", "rename_airline")
    return _fenced("sql", OPERATION.splitlines()) + flights.run("build")


SECTIONS = {"unchanged": unchanged, "correction": correction, "writer": writer}


def _shortened(lines: list[str]) -> Iterator[str]:
    """Yield lines; of many next to each other that are counted the first one, and how many follow."""
    ended = (line for line in lines if not _RUNS.match(line))
    for is_counted, group in groupby(ended, lambda line: _COUNTED.search(line) is not None):
        same = [line.rstrip() for line in group]
        hidden = len(same) - SHOWN if is_counted and len(same) > SHOWN + 1 else 0
        yield from same[: len(same) - hidden]
        if hidden:
            yield f"… {hidden} more lines"


def _fenced(language: str, lines: list[str]) -> str:
    return "\n".join((f"```{language}", *lines, "```", ""))


if __name__ == "__main__":
    main()
