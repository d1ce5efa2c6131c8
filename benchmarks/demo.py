"""What `make demo` takes: from nothing, again with nothing changed, after a late correction; and where the time goes.

    python benchmarks/demo.py [--rounds 1] [--keep-pip-cache]

Each round clones this repository (what is committed) into a folder and calls `make demo` there four times. The driver of
the first one is kept (`keep_warm` of its profile), and used after the first correction; after the second one Spark is
started again. Nothing of an earlier round is used: the folder has its own virtual environment and its own cache of jars
and of the class-data archive, and pip an empty cache, unless `--keep-pip-cache` is given. Java has to be there. The driver
that is kept has no archive; it writes one when it ends, and the new driver starts with that.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from merge_runner.api import stop_warm
from merge_runner.engine.spark.appcds import is_whole

REPOSITORY = Path(__file__).resolve().parents[1]
FIRST, SAME, CORRECTED, COLD = "from nothing", "nothing has changed", "one late correction", "another, in a new driver"
AIMS = {FIRST: "100 s", SAME: "5 s", CORRECTED: "20 s", COLD: "none"}
CORRECTIONS = {
    CORRECTED: "2013-07-10,UA,373,EWR,190,168,2013-07-20T10:00:00Z,a digit was wrong\n",
    COLD: "2013-07-11,UA,1258,EWR,190,168,2013-07-21T10:00:00Z,a digit was wrong\n",
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--keep-pip-cache", action="store_true", help="use pip's cache: packages are built already")
    asked = parser.parse_args()
    seconds: dict[str, list[float]] = {case: [] for case in AIMS}
    for _ in range(asked.rounds):
        with tempfile.TemporaryDirectory() as folder:
            for case, elapsed in measured(Path(folder), keep_pip_cache=asked.keep_pip_cache):
                seconds[case].append(elapsed)
    print("| `make demo` | median | smallest | aim |\n|---|---|---|---|")
    for case, times in seconds.items():
        print(f"| {case} | {statistics.median(times):.1f} s | {min(times):.1f} s | {AIMS[case]} |")


def measured(folder: Path, *, keep_pip_cache: bool) -> Iterator[tuple[str, float]]:
    """Yield each case with its seconds; what they are made of goes to standard error."""
    root, cache = folder / "flights", folder / "cache"
    subprocess.run(["git", "clone", "--quiet", str(REPOSITORY), str(root)], check=True)
    own = {"MERGE_RUNNER_CACHE_DIR": str(cache)} | ({} if keep_pip_cache else {"PIP_CACHE_DIR": str(folder / "pip")})
    left_out = ("CI", "PYTHONPATH", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE")
    env = {name: value for name, value in os.environ.items() if name not in left_out} | own
    try:
        for case in AIMS:
            if case in CORRECTIONS:
                with (root / "seeds" / "flight_correction.csv").open("a") as file:
                    file.write(CORRECTIONS[case])
            if case == COLD:
                stop_warm(root)
                while not any(map(is_whole, (cache / "cds").iterdir())):
                    time.sleep(1)
            started = time.time()
            done = subprocess.run(["make", "demo"], cwd=root, env=env, capture_output=True, text=True, check=False)
            elapsed = time.time() - started
            if done.returncode != 0:
                raise SystemExit(done.stdout + done.stderr)
            print(f"{case}: {elapsed:.1f} s\n{parts(root, started, started + elapsed)}", file=sys.stderr)
            yield case, elapsed
    finally:
        stop_warm(root)


def parts(root: Path, started: float, ended: float) -> str:
    """What a `make demo` consisted of that lasted from one time to another (seconds since 1970), as lines of text."""
    marks = [("virtual environment", root / ".venv" / "pyvenv.cfg"), ("pip install", root / ".venv" / ".demo")]
    times = [(name, path.stat().st_mtime) for name, path in marks if started <= path.stat().st_mtime <= ended]
    events = events_between((root / "target" / "journal.jsonl").read_text(), started, ended)
    at = {event["event"]: seconds_of(event) for event in reversed(events)}
    times += [("Java, data, loading and planning", at["invocation_started"])] if "invocation_started" in at else []
    times += [("Spark", at["spark_started"])] if "spark_started" in at else []
    times += [("nodes", seconds_of(events[-1]))] if events else []
    times += [("the end", ended)]
    lines, before = [], started
    for name, when in times:
        lines.append(f"  {when - before:6.1f} s  {name}")
        before = max(before, when)
    ran = [event for event in events if event["event"] == "node_finished" and event["result"]["status"] != "no-op"]
    ran.sort(key=lambda event: event["result"]["execution_time"], reverse=True)
    lines += [f"           {event['result']['execution_time']:6.1f} s  {event['name']}" for event in ran[:12]]
    return "\n".join((*lines, f"           {len(ran)} nodes ran"))


def events_between(journal: str, started: float, ended: float) -> list[dict[str, Any]]:
    """Return the events of a journal, which has those of other runs as well, between two times."""
    events = [json.loads(line) for line in journal.splitlines()]
    return [event for event in events if started <= seconds_of(event) <= ended]


def seconds_of(event: dict[str, Any]) -> float:
    """Return when an event was emitted, in seconds since 1970."""
    return datetime.fromisoformat(event["at"]).timestamp()


if __name__ == "__main__":
    main()
