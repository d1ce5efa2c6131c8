"""`merge-runner lineage` over the 1,000 models with macros of benchmarks/incremental.py, each as a whole process.

    python benchmarks/lineage.py [--models 1000] [--rounds 3]

all       the columns of all models, as JSON
up        a column of a model of the last layer, and what it comes from
down      a column of a model of the first layer, and what depends on it
ls        the same project listed: what loading it costs
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from incremental import write
from lint import LAYERS, measured, models


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "bench"
        made = models(arguments.models)
        write(root, made, dbt=False)
        first = next(model.name for model in made if model.layer == 0)
        last = next(model.name for model in made if model.layer == LAYERS - 1)
        cases = {
            "ls": ["ls"],
            "all": ["lineage", "--output", "json"],
            "up": ["lineage", f"{last}.amount", "--direction", "up"],
            "down": ["lineage", f"{first}.amount", "--direction", "down", "--output", "json"],
        }
        taken: dict[str, list[tuple[float, float, float]]] = {name: [] for name in cases}
        for _ in range(arguments.rounds):
            for name, words in cases.items():
                seconds, processor, memory, _ = measured([sys.executable, "-m", "merge_runner", *words], root)
                taken[name].append((seconds, processor, memory))
    print("| case | median | processor, smallest | peak memory |\n|---|---|---|---|")
    for name, values in taken.items():
        seconds, processor, memory = zip(*values, strict=True)
        print(f"| {name} | {statistics.median(seconds):.2f} s | {min(processor):.2f} s | {max(memory):.0f} MB |")


if __name__ == "__main__":
    main()
