"""Runs many histories on both formats and prints what was edited, left out and different.

    python -m tests.run.reuse.history_report --histories 300 [--seed 1] [--formats delta iceberg] [--builds 5]

The exit status is 1 where a build with reuse made something else than one without.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.run.reuse.histories import run_histories
from tests.spark_driver import started_driver

_OF_ONE_PROJECT = 12


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=300, help="of each format (default: 300)")
    parser.add_argument("--formats", nargs="+", default=["delta", "iceberg"], choices=["delta", "iceberg"])
    parser.add_argument("--seed", type=int, default=1, help="of the first project")
    parser.add_argument("--builds", type=int, default=5, help="of each history (default: 5)")
    asked = parser.parse_args()
    done: Counter[str] = Counter()
    counts: dict[str, tuple[Counter[str], Counter[str]]] = {each: (Counter(), Counter()) for each in asked.formats}
    wrong = 0
    with tempfile.TemporaryDirectory() as folder, started_driver(Path(folder) / "driver", "throughput") as driver:
        for number in range(-(-asked.histories // _OF_ONE_PROJECT)):
            for table_format in asked.formats:
                seed, began = asked.seed + number, time.monotonic()
                root = Path(folder) / f"{table_format}{seed}"
                found, seen = run_histories(root, driver, table_format, seed, _OF_ONE_PROJECT, asked.builds)
                done[table_format] += _OF_ONE_PROJECT
                for total, part in zip(counts[table_format], (seen.edits, seen.statuses), strict=True):
                    total.update(part)
                wrong += len(found)
                _say(f"{done[table_format]} histories on {table_format}, seed {seed}: {time.monotonic() - began:.0f} s")
                for each in found:
                    _say(each.text)
    for table_format, (edits, statuses) in counts.items():
        _say(f"{table_format}: {done[table_format]} histories of {asked.builds} builds")
        _say(f"  edits: {_text(edits)}\n  results with reuse: {_text(statuses)}")
    _say(f"{wrong} differences")
    return 1 if wrong else 0


def _text(counted: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counted.most_common())


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
