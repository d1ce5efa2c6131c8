"""Fifty unit tests of the flights project from a cold start: `merge-runner test -s test_type:unit` as a whole process.

    python benchmarks/unit_tests.py [--tests 50] [--rounds 3]

The project's own unit tests are taken over and over, under other names. The start of Spark is told apart from the tests:
the second figure is what one test takes of the time behind it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tests", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "flights"
        write_project(project, asked.tests)
        command = [sys.executable, "-m", "merge_runner", "test", "-s", "test_type:unit", "--log-format", "json"]
        env = {**os.environ, "MERGE_RUNNER_WARM": "0"}  # each round starts Spark
        whole, behind = [], []
        for _ in range(asked.rounds):
            started = time.monotonic()
            ended = subprocess.run(command, cwd=project, env=env, check=True, capture_output=True, text=True)
            whole.append(time.monotonic() - started)
            events = [json.loads(line) for line in ended.stderr.splitlines()]
            start = next(event["seconds"] for event in events if event["event"] == "spark_started")
            behind.append((whole[-1] - start) / asked.tests)
            counts = next(event["counts"] for event in events if event["event"] == "invocation_finished")
            assert counts == {"pass": asked.tests}, counts
    print("| unit tests | whole, median | smallest | a test behind Spark's start |\n|---|---|---|---|")
    print(
        f"| {asked.tests} | {statistics.median(whole):.1f} s | {min(whole):.1f} s | {statistics.median(behind):.2f} s |"
    )


def write_project(project: Path, count: int) -> None:
    """The flights project without its data, with `count` unit tests."""
    project.mkdir()
    for name in ("pyproject.toml", "profiles.yml"):
        shutil.copy(ROOT / name, project)
    for name in ("models", "macros", "seeds", "data_tests"):
        shutil.copytree(ROOT / name, project / name)
    tests = []
    for file in sorted((project / "models").rglob("*.yml")):
        content = yaml.safe_load(file.read_text())
        tests += content.pop("unit_tests", [])
        file.write_text(yaml.safe_dump(content, sort_keys=False))
    chosen = [{**test, "name": f"{test['name']}_{number}"} for number, test in enumerate(islice(cycle(tests), count))]
    (project / "models" / "many.yml").write_text(yaml.safe_dump({"version": 2, "unit_tests": chosen}, sort_keys=False))


if __name__ == "__main__":
    main()
