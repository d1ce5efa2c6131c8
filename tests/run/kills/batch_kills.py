"""Kills backfills of models with batches, at random moments, and goes on with `build`: every batch is to be there once.

    python -m tests.run.kills.batch_kills [--kills 40] [--seed 1] [--minutes 9]

Four models have daily batches, of both formats: one appends its rows, so that a batch that ran twice shows as rows twice, and
one counts how often it has merged a row. A backfill is killed, JVM and all, several times at one of the moments of
`killing.py` or a little behind it; of three of them one is of two processes that build at the same time, one or both of which
are killed. Then it runs to its end, and its tables are compared with those days in Python and with the commits in their logs.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path

from merge_runner.engine.startup import start_driver
from merge_runner.project.schema.profile import Profile
from tests.run.kills.kill_scenarios import SETTINGS
from tests.run.kills.kills import metadata_file, reader

DAYS, ROWS = 8, 3
_CONFIG = """{{{{ config(event_time='day', batch_size='day', begin='{begin}', lookback=0, partition_by=['day'], format='{format}') }}}}
merge into {{{{ this }}}} as t
using (
    select id, day, 1L as times from (select id, date_add(date'{begin}', cast(id div {rows} as int)) as day from range({ids}))
     where day >= {{{{ batch.start }}}} and day < {{{{ batch.end }}}}
) as s
on {key} and t.day >= {{{{ batch.start }}}} and t.day < {{{{ batch.end }}}}
when matched then update set times = t.times + s.times
when not matched then insert *
"""
_KEYS = {"append": "t.id = -1 and t.id = s.id", "upsert": "t.id = s.id and t.day = s.day"}
MODELS = {f"{format}_{kind}": (format, key) for format in ("delta", "iceberg") for kind, key in _KEYS.items()}


@dataclass
class Backfill:
    """What came of one: the moments at which it was killed, the seconds that it took, and what is wrong."""

    kills: list = field(default_factory=list)
    wrong: list = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self):
        state = "WRONG" if self.wrong else "ok   "
        lines = [f"{state} {self.seconds:5.1f} s  {len(self.kills)} kills: {', '.join(self.kills)}", *self.wrong]
        return "\n      ".join(lines)


class Batches:
    """A project in a folder, which is backfilled from nothing again and again. `rows` reads a table's rows."""

    def __init__(self, folder, rows):
        self.root, self.rows = folder, rows
        self.begin = datetime.now(timezone.utc).date() - timedelta(days=DAYS)
        files = dict(SETTINGS)
        for name, (format, key) in MODELS.items():
            files[f"models/{name}.sql"] = _CONFIG.format(
                begin=self.begin, format=format, rows=ROWS, ids=DAYS * ROWS, key=key
            )
            columns = "[{name: id, data_type: bigint}, {name: day, data_type: date}, {name: times, data_type: bigint}]"
            files[f"models/{name}.yml"] = f"models: [{{name: {name}, columns: {columns}}}]"
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)

    def backfill(self, choose, kills):
        """Kill a backfill `kills` times, as `choose` (a random.Random) says, and let it run to its end."""
        outcome, started = Backfill(), time.monotonic()
        for name in ("warehouse", "target", "other"):
            shutil.rmtree(self.root / name, ignore_errors=True)
        while len(outcome.kills) < kills:
            are_two = choose.random() < 1 / 3
            running = [self._start("target", _moment(choose))]
            if are_two:
                running.append(self._start("other", _moment(choose) if choose.random() < 1 / 2 else "0"))
            ended = [self._wait(process) for process in running]
            for process, (status, errors) in zip(running, ended, strict=True):
                if status == -signal.SIGKILL:
                    words = f"{process.when} ({_lines(process.moments)[-1]})"
                    outcome.kills.append(f"{words}, of two" if are_two else words)
                elif status != 0:
                    outcome.wrong.append(f"was not killed and ended with {status}: {errors[-1500:]}")
            if all(status != -signal.SIGKILL for status, _ in ended):
                break  # it came to its end before
        status, errors = self._wait(self._start("target", "0"))
        if status != 0:
            outcome.wrong.append(f"ended with {status}: {errors[-1500:]}")
        outcome.wrong += self._differences()
        outcome.seconds = time.monotonic() - started
        return outcome

    def _start(self, target, when):
        moments = self.root / f"{target}.moments"
        moments.unlink(missing_ok=True)
        process = subprocess.Popen(
            [
                *(sys.executable, str(Path(__file__).with_name("killing.py")), when),
                *("build", "--no-lint", "--threads", "2", "--target-path", target),
            ],
            cwd=self.root,
            env={**os.environ, "CI": "true", "MERGE_RUNNER_WARM": "0", "MOMENTS": str(moments)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        process.when, process.moments = when, moments
        return process

    def _wait(self, process):
        try:
            _, errors = process.communicate(timeout=300)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return process.returncode, errors

    def _differences(self):
        """Yield what the tables and their logs have, and a backfill that nothing happened to has not."""
        ids = range(DAYS * ROWS)
        expected = sorted((id, str(self.begin + timedelta(days=id // ROWS)), 1) for id in ids)
        days = {str(self.begin + timedelta(days=number)) for number in range(DAYS)}
        for name, (format, _) in MODELS.items():
            location = (
                self.root / "warehouse/shop" / name
                if format == "delta"
                else metadata_file(self.root / "warehouse/ice.db", name)
            )
            rows = sorted((id, str(day), times) for id, day, times in self.rows(location, format, "id, day, times"))
            if rows != expected:
                extra, missing = Counter(rows) - Counter(expected), Counter(expected) - Counter(rows)
                yield f"{name} has {dict(extra)} too many, and lacks {dict(missing)}"
            commits = Counter(_delta_windows(location) if format == "delta" else _iceberg_windows(location))
            for day in sorted(days):
                if commits[day] != 1:
                    yield f"{name} has committed {day} {commits[day]} times"


def _moment(choose):
    number = choose.randint(25, 90)  # a backfill has some 200 moments, and goes on where it was killed
    return f"{number}+{choose.uniform(0.05, 1.5):.2f}" if choose.random() < 2 / 3 else str(number)


def _delta_windows(folder):
    """Yield the first day of the window of each commit of a batch."""
    for path in sorted((folder / "_delta_log").glob("[0-9]*.json")):
        for line in path.read_text().splitlines():
            transaction = json.loads(line).get("txn")
            if transaction is not None:
                yield transaction["appId"].rpartition("@")[2].partition("/")[0]


def _iceberg_windows(metadata):
    for snapshot in json.loads(metadata.read_text()).get("snapshots", ()):
        app = snapshot["summary"].get("merge-runner.app")
        if app is not None:
            yield app.rpartition("@")[2].partition("/")[0]


def _lines(path):
    return path.read_text().splitlines() if path.exists() else ["before anything"]


def kill_backfills(batches, kills, seed, say=lambda outcome: None, deadline=None):
    """Kill backfills until there were as many kills, or until the deadline; return what came of each."""
    choose, outcomes = random.Random(seed), []
    while (left := kills - sum(len(outcome.kills) for outcome in outcomes)) > 0:
        if deadline is not None and time.monotonic() > deadline:
            break
        outcomes.append(batches.backfill(choose, min(left, choose.randint(4, 10))))
        say(outcomes[-1])
    return outcomes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, help="begin no backfill after this time")
    options = parser.parse_args()
    deadline = time.monotonic() + options.minutes * 60 if options.minutes is not None else None
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        profile = Profile(
            "kills",
            "kills",
            schema="kills",
            master="local[2]",
            warehouse="w",
            catalogs={"unused": {"type": "embedded"}},
        )
        driver = start_driver(profile, root, root / "spark.log", os.environ)
        try:
            batches = Batches(root / "project", reader(driver.spark))
            outcomes = kill_backfills(
                batches, options.kills, options.seed, lambda outcome: print(outcome, flush=True), deadline
            )
        finally:
            driver.stop()
    kills = sum(len(outcome.kills) for outcome in outcomes)
    wrong = sum(bool(outcome.wrong) for outcome in outcomes)
    print(f"{kills} kills in {len(outcomes)} backfills of {len(MODELS)} tables; {wrong} backfills are wrong")
    return 1 if wrong or not kills else 0


if __name__ == "__main__":
    sys.exit(main())
