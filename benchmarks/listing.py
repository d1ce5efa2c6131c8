"""`merge-runner ls` over 1,000 models against Python's own start, each as a whole process.

    python benchmarks/listing.py [--models 1000] [--rounds 5]

The project has a YAML entry with ten columns and two tests for each model, and ten layers of refs.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODEL = """{{{{ config(unique_key=['id', 'day'], partition_by=['day'], tags=['layer_{layer}']) }}}}

merge into {{{{ this }}}} as t
using (
    select id, day, label, amount
    from {{{{ {parent} }}}} as p
    where day >= date'2024-01-01'
) as s
   on t.id = s.id and t.day = s.day and t.day >= date'2024-01-01'
when matched and s.amount <> t.amount then update set *
when not matched then insert *
"""
COLUMNS = "".join(f"      - {{name: column_{number}, data_type: string, description: text}}\n" for number in range(8))
ENTRY = f"""  - name: {{name}}
    description: A model.
    columns:
      - {{{{name: id, data_type: bigint, data_tests: [not_null]}}}}
      - {{{{name: day, data_type: date, data_tests: [not_null]}}}}
{COLUMNS.replace("{", "{{").replace("}", "}}")}"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_project(root, arguments.models)
        contenders = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "merge-runner --help": [sys.executable, "-m", "merge_runner", "--help"],
            "merge-runner ls": [sys.executable, "-m", "merge_runner", "ls", "--project-dir", folder],
        }
        seconds: dict[str, list[float]] = {name: [] for name in contenders}
        for _ in range(arguments.rounds):
            for name, command in contenders.items():
                started = time.monotonic()
                subprocess.run(command, cwd=folder, check=True, capture_output=True)
                seconds[name].append(time.monotonic() - started)
    print("| command | median | smallest |\n|---|---|---|")
    for name, values in seconds.items():
        print(f"| {name} | {statistics.median(values):.2f} s | {min(values):.2f} s |")


def write_project(root: Path, models: int) -> None:
    """A project of merge models in ten layers; each has a parent in the layer above it."""
    (root / "models").mkdir()
    (root / "pyproject.toml").write_text('[tool.merge-runner]\nname = "many"\n')
    (root / "profiles.yml").write_text("many: {outputs: {dev: {schema: many}}}\n")
    per_layer = max(1, models // 10)
    entries = []
    for number in range(models):
        layer = number // per_layer
        parent = f"ref('model_{number - per_layer}')" if layer else "source('raw', 'events')"
        (root / "models" / f"model_{number}.sql").write_text(MODEL.format(layer=layer, parent=parent))
        entries.append(ENTRY.format(name=f"model_{number}"))
    source = "sources:\n  - {name: raw, tables: [{name: events}]}\n"
    (root / "models" / "models.yml").write_text(source + "models:\n" + "".join(entries))


if __name__ == "__main__":
    main()
