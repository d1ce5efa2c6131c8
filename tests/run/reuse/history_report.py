"""Runs many histories on both formats and prints what was edited, left out and different.

    python -m tests.run.reuse.history_report --histories 300 [--seed 1] [--formats delta iceberg] [--builds 5]
    python -m tests.run.reuse.history_report --histories 300 --simulated                     # in minutes, without Spark
    python -m tests.run.reuse.history_report --seed 40 --minutes 9 --keep histories.jsonl    # one of many pieces
    python -m tests.run.reuse.history_report --sum histories.jsonl                           # all of them

A project of `--together` histories follows from its format and its seed. The exit status is 1 where a build with reuse made
something else than one without.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

from tests.run.reuse.histories import KINDS, Histories, run_histories
from tests.run.reuse.simulated import simulated_project
from tests.spark_driver import started_driver


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=300, help="of each format at most (default: 300)")
    parser.add_argument("--formats", nargs="+", default=["delta", "iceberg"], choices=["delta", "iceberg"])
    parser.add_argument("--seed", type=int, default=1, help="of the first project; the next ones follow")
    parser.add_argument("--builds", type=int, default=5, help="of each history (default: 5)")
    parser.add_argument("--together", type=int, default=12, help="histories of one project (default: 12)")
    parser.add_argument("--minutes", type=float, help="start no project that would end later")
    parser.add_argument("--simulated", action="store_true", help="have the oracle run the statements (simulated.py)")
    parser.add_argument("--keep", type=Path, help="append a JSON line for each project to this file")
    parser.add_argument("--sum", type=Path, nargs="+", dest="kept", help="run nothing: print the sum of such files")
    asked = parser.parse_args()
    if asked.kept:
        projects = [json.loads(line) for path in asked.kept for line in path.read_text().splitlines()]
    else:
        projects = []
        for project in _run(asked):
            projects.append(project)
            if asked.keep is not None:
                with asked.keep.open("a") as file:
                    file.write(json.dumps(project) + "\n")
    return _report(projects)


def _run(asked: argparse.Namespace) -> Iterator[Mapping[str, Any]]:
    """Yield what was found in each project, as JSON."""
    end = time.monotonic() + asked.minutes * 60 if asked.minutes is not None else float("inf")
    longest: dict[str, float] = {}
    jvm: Literal["fast-start", "throughput"] = "throughput" if asked.minutes is None else "fast-start"
    make = simulated_project if asked.simulated else Histories
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        driver = None if asked.simulated else stack.enter_context(started_driver(Path(folder) / "driver", jvm))
        for number in range(-(-asked.histories // asked.together)):
            for table_format in asked.formats:
                seed, began = asked.seed + number, time.monotonic()
                if began + longest.get(table_format, 0.0) > end:
                    return
                root = Path(folder) / f"{table_format}{seed}"
                found, seen = run_histories(root, driver, table_format, seed, asked.together, asked.builds, make)
                seconds = time.monotonic() - began
                longest[table_format] = max(seconds, longest.get(table_format, 0.0))
                _say(f"{asked.together} histories on {table_format}, seed {seed}: {seconds:.0f} s")
                for each in found:
                    _say(each.text)
                yield {
                    **{
                        "on": "the oracle" if asked.simulated else "Spark",
                        "format": table_format,
                        "seed": seed,
                        "histories": asked.together,
                        "builds": asked.builds,
                    },
                    **{"edits": seen.edits, "reusing": seen.statuses, "plain": seen.plain},
                    "wrong": [each.text for each in found],
                }


def _report(projects: Iterable[Mapping[str, Any]]) -> int:
    """Print the sums of projects; return the exit status."""
    wrong = 0
    for table_format, on in sorted({(project["format"], project["on"]) for project in projects}):
        of_format = [project for project in projects if (project["format"], project["on"]) == (table_format, on)]
        histories, seeds = sum(each["histories"] for each in of_format), sorted(each["seed"] for each in of_format)
        builds = Counter(each["builds"] for each in of_format)
        edits, reusing = _sum(of_format, "edits"), _sum(of_format, "reusing")
        kinds = Counter({kind: sum(edits[name] for name in names) for kind, names in KINDS.items()})
        _say(
            f"{table_format} on {on}: {histories} histories, seeds {seeds[0]} to {seeds[-1]}, builds of each: {sorted(builds)}"
        )
        _say(f"  kinds of edits: {_text(kinds)}\n  edits: {_text(edits)}")
        _say(f"  results with reuse: {_text(reusing)}\n  without: {_text(_sum(of_format, 'plain'))}")
        wrong += sum(len(each["wrong"]) for each in of_format)
    _say(f"{wrong} differences")
    return 1 if wrong else 0


def _sum(projects: Iterable[Mapping[str, Any]], what: str) -> Counter[str]:
    total: Counter[str] = Counter()
    for project in projects:
        total.update(project.get(what, {}))
    return total


def _text(counted: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counted.most_common())


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
