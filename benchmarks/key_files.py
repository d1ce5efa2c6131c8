"""How many files are left to read where a table is clustered by its key, by the changed keys and the number of ranges.

    python benchmarks/key_files.py [--rows 2000000] [--files 100] [--changes 20 200 5000] [--ranges 1 10 32 200 1000]

Without Spark: files of equal shares of the keys, the changed keys of `key_only.py`, and the ranges that the runner makes
of them. A file counts whose keys overlap with one of the ranges, as Delta and Iceberg decide it.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from collections.abc import Iterator

from merge_runner.pruning.runtime_filter.bound_predicate import KeyedLiteral, ValueRange, join_ranges


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--changes", type=int, nargs="+", default=[20, 200, 5_000])
    parser.add_argument("--ranges", type=int, nargs="+", default=[1, 10, 32, 200, 1000])
    asked = parser.parse_args()
    most, size = 2 * asked.rows, 2 * asked.rows // asked.files
    print(f"| key | changed keys | {' | '.join(f'{number:,} ranges' for number in asked.ranges)} |")
    print(f"|{'---|' * (len(asked.ranges) + 2)}")
    for changes in asked.changes:
        kinds = {
            "the latest": [most - changes + 2 * place for place in range(changes)],
            "in five stretches": [
                stretch * most // 5 + most // 10 + place for stretch in range(5) for place in range(changes // 5)
            ],
            "random": sorted(random.Random(1).sample(range(most), changes)),
        }
        for kind, numbers in kinds.items():
            for key in ("bigint", "text"):
                cells = [str(len(set(_read(numbers, key, ranges, size, asked.files)))) for ranges in asked.ranges]
                print(f"| {key} | {changes:,}, {kind} | {' | '.join(cells)} |")


def _read(numbers: list[int], key: str, most: int, size: int, files: int) -> Iterator[int]:
    """The files that the ranges of these keys overlap with; those above the last file's keys are of none."""
    by_key = {number if key == "bigint" else _text(number): number for number in numbers}
    literals = [KeyedLiteral(key, str(key)) for key in sorted(by_key)]
    singles = [ValueRange(each, each) for each in literals]
    for each in join_ranges(singles, 1 if key == "bigint" else None, most):
        yield from range(by_key[each.first.key] // size, min(by_key[each.last.key] // size, files - 1) + 1)


def _text(number: int) -> str:
    text = f"{number:012x}-{hashlib.md5(str(number).encode(), usedforsecurity=False).hexdigest()[:20]}"
    return text.encode().hex().upper()


if __name__ == "__main__":
    main()
