"""Build random MERGEs with and without runtime filters, compare the tables with the oracle, and print counts.

python -m tests.oracle.merge_report --merges 1000 --seed 7 [--format delta]
"""

from __future__ import annotations

import argparse
import itertools
import os
import tempfile
from collections import Counter
from pathlib import Path

from tests.oracle.random_builds import random_builds
from tests.spark_driver import started_driver
from tests.written_project import write_project

_ROWS = {
    "MERGEs that ran": "merges",
    "of these without runtime filters": "plain",
    "with a runtime filter": "bounded",
    "whose source reads the target": "reads_target",
    "of these with a runtime filter": "reads_target_and_bounded",
    "whose source was stored first": "staged",
    "whose source was pinned to a version": "pinned",
    "refused, as several source rows match": "refused",
    "refused, as Delta cannot read the target there": "unread",
    "not run, by an internal error of Spark or Delta": "internal",
    "repeated batches, not run": "no-op",
    "rows inserted": "inserted",
    "rows updated": "updated",
    "rows deleted": "deleted",
}


def main() -> int:
    """Return 1 where a table, a count or a change feed differs from the oracle's."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--merges", type=int, default=40, help="for each format; as many again without filters")
    parser.add_argument("--rounds", type=int, default=5, help="MERGEs into each table")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=["delta", "iceberg"], action="append")
    options = parser.parse_args()
    os.environ["MERGE_RUNNER_REUSE"] = "off"  # a second build of the same MERGE has to run
    seen: dict[str, Counter[str]] = {name: Counter() for name in options.format or ("delta", "iceberg")}
    with tempfile.TemporaryDirectory() as folder, started_driver(Path(folder)) as driver:
        numbers = itertools.count()

        def make_project(files: dict[str, str], table_format: str) -> Path:
            number = next(numbers)
            return write_project(Path(folder) / f"project{number}", f"shop{number}", files, table_format)

        for name, counts in seen.items():
            for built in random_builds(
                make_project, driver, name, options.seed, options.merges, options.rounds, twins=True
            ):
                counts.update(built.seen)
                counts["different"] += len(built.problems)
                print(*built.problems, f"{name} so far: {dict(counts)}", sep="\n\n", flush=True)
    print("| | " + " | ".join(seen) + " |")
    print("|---" * (len(seen) + 1) + "|")
    for words, key in {**_ROWS, "different from the oracle": "different"}.items():
        print(f"| {words} | " + " | ".join(f"{counts[key]:,}" for counts in seen.values()) + " |")
    return 1 if any(counts["different"] for counts in seen.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
