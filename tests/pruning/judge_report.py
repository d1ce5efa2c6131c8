"""Compare the judge with both engines on random MERGEs, and print counts by verdict and by kind of predicate.

python -m tests.pruning.judge_report --merges 1500 --seed 7 [--format delta]
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from tests.formats.engine_scans import Engines
from tests.pruning.judged_on_engines import Compared, compare, make_probes
from tests.pruning.random_merges import random_merges
from tests.spark_driver import started_driver

_COLUMNS = ("static", "of these skip", "none", "of these skip", "unknown", "refused", "not planned", "wrong")
_COUNTED = ("static", "static skips", "none", "none skips", "unknown", "refused", "not planned", "wrong")
_AT_ONCE = 100
"""After so many MERGEs a line says how many are done."""


def row(compared: Iterable[Compared]) -> list[int]:
    """Return the figures of MERGEs, in the order of the columns."""
    counts: Counter[str] = Counter()
    for found in compared:
        counts[found.verdict] += 1
        counts[f"{found.verdict} skips"] += found.skipped
        counts["wrong"] += not found.agrees
    return [counts[key] for key in _COUNTED]


def table(compared: Iterable[Compared]) -> str:
    """Return the figures of each kind of predicate as a Markdown table; a MERGE counts for each kind in its ON."""
    by_kind: dict[str, list[Compared]] = defaultdict(list)
    for found in compared:
        by_kind["all"].append(found)
        for kind in found.merge.kinds:
            by_kind[kind].append(found)
    head = ["kind of predicate in ON", "MERGEs", *_COLUMNS]
    rows = [[kind, len(found), *row(found)] for kind, found in sorted(by_kind.items())]
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in [head, ["---"] * len(head), *rows])


def main() -> int:
    """Return 1 where a verdict is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--merges", type=int, default=100, help="for each format")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=["delta", "iceberg"], action="append")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder, started_driver(Path(folder)) as driver, driver.session() as session:
        engines = Engines(session, "judged")
        make_probes(engines)
        for form in options.format or ("delta", "iceberg"):
            merges, compared = random_merges(form, options.seed, options.merges), []
            for start in range(0, len(merges), _AT_ONCE):
                compared += compare(engines, merges[start : start + _AT_ONCE])
                for found in compared[start:]:
                    if not found.agrees or found.verdict == "not planned":
                        print(f"{'not planned' if found.agrees else 'wrong'}: {found!r}", flush=True)
                print(f"{form}: {len(compared)} of {len(merges)}", flush=True)
            wrong += sum(not found.agrees for found in compared)
            print(f"\n{form}, seed {options.seed}\n\n{table(compared)}\n", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
