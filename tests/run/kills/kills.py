"""Kills a build or a stream at its moments, goes on with `retry` (a stream: with `stream`), and compares the tables.

The process that is killed is `killing.py`; `kill_report.py` does so at every moment there is.
"""

import json
import os
import queue
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

from tests.run.kills.kill_scenarios import SCENARIOS, STREAM


@dataclass
class Found:
    """What came of one point: where it was killed, one after the other, the seconds that it took, and what is wrong."""

    scenario: str
    kills: list = field(default_factory=list)
    wrong: list = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self):
        how = "WRONG" if self.wrong else "ok   "
        told = f"{how} {self.seconds:5.1f} s  {self.scenario}: {', then '.join(self.kills) or 'not killed'}"
        return told + "".join(f"\n      {each}" for each in self.wrong)


class Lane:
    """One project in its folder, in which one point comes after the other. `rows` reads a table's rows.

    What is not killed runs on a warm driver: as a process of its own, and without waiting for a JVM.
    """

    def __init__(self, name, folder, rows):
        self.name, self.scenario, self.rows = name, SCENARIOS[name], rows
        self.root, self.kept, self.told = folder / "project", folder / "prepared", folder / "moments"
        self.runtime = tempfile.mkdtemp(prefix="mr")  # its name must be short for a socket
        warm = {"CI": "true", "MERGE_RUNNER_WARM": "1", "XDG_RUNTIME_DIR": self.runtime}
        self.env = {**os.environ, **warm, "MOMENTS": str(self.told), "PYTHONPATH": str(Path.cwd())}
        for path, text in self.scenario.files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(dedent(text))

    def __enter__(self):
        self._succeeds(self.call("warm", "start"))
        for words in self.scenario.prepare:
            self._succeeds(self.call(*words))
        self._keep()
        self.told.unlink(missing_ok=True)
        self._succeeds(self._killing("0", self.scenario.command, self.env))
        self.moments = self.told.read_text().splitlines()
        self.expected = self._tables()
        return self

    def __exit__(self, *_):
        self.call("warm", "stop")
        shutil.rmtree(self.runtime, ignore_errors=True)

    def call(self, *words):
        """Runs a command to its end."""
        return subprocess.run(
            [sys.executable, "-m", "merge_runner", *words],
            cwd=self.root,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def point(self, *kills):
        """Kills the command at the first moment, and what goes on with it at the others; then goes on to the end."""
        found, started = Found(self.name), time.monotonic()
        self._restore()
        offset = len(self._journal_text())
        words = self.scenario.command
        for when in kills:
            self.told.unlink(missing_ok=True)
            ran = self._killing(when, words, {**self.env, "MERGE_RUNNER_WARM": "0"})
            if ran.returncode != -signal.SIGKILL:
                if ran.returncode != 0:
                    found.wrong.append(f"was not killed and failed: {ran.stderr[-1000:]}")
                break  # it came to its end before
            found.kills.append(f"{when} ({self._lines(self.told)[-1]})")
            # Killed before it could say that it begins, nothing was done, and nothing is known of it.
            events = self._check_artifacts(found, offset, len(found.kills))
            words = self.scenario.again if _invocations(events) else self.scenario.command
        before = len(self._journal_text())
        ran = self.call(*words)
        if ran.returncode != 0:
            found.wrong.append(f"went on with status {ran.returncode}: {ran.stderr[-1000:]}")
        events = self._check_artifacts(found, offset, len(found.kills))
        if "node_waiting" in self._journal_text()[before:]:
            found.wrong.append("waited for a lock")
        self._check_once(found, _invocations(events))
        for table, rows in self._tables().items():
            if rows != self.expected[table]:
                found.wrong.append(f"{table} is {rows}, and undisturbed {self.expected[table]}")
        found.seconds = time.monotonic() - started
        return found

    def _killing(self, when, words, env):
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("killing.py")), when, *words],
            cwd=self.root,
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            _, stderr = process.communicate(timeout=300)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return subprocess.CompletedProcess(words, process.returncode, "", stderr)

    def _succeeds(self, ran):
        if ran.returncode != 0:
            raise RuntimeError(f"{ran.args}: {ran.stderr}")

    def _keep(self):
        for name in ("warehouse", "target"):
            if (self.root / name).exists():
                shutil.copytree(self.root / name, self.kept / name)

    def _restore(self):
        for name in ("warehouse", "target"):
            shutil.rmtree(self.root / name, ignore_errors=True)
            if (self.kept / name).exists():
                shutil.copytree(self.kept / name, self.root / name)

    def _tables(self):
        return {
            name: sorted(map(str, self.rows(self._location(name), table_format, columns)))
            for name, (table_format, columns) in self.scenario.tables.items()
        }

    def _location(self, name):
        if self.scenario.tables[name][0] == "delta":
            return self.root / "warehouse/shop" / name
        return metadata_file(self.root / "warehouse/ice.db", name)

    def _journal_text(self):
        path = self.root / "target/journal.jsonl"
        return path.read_text() if path.exists() else ""

    def _lines(self, path):
        return path.read_text().splitlines() if path.exists() else []

    def _check_artifacts(self, found, offset, torn):
        """The events since the offset; notes what cannot be read, and what is told and did not happen."""
        events, broken = [], 0
        for line in self._journal_text()[offset:].splitlines():
            try:
                events.append(json.loads(line))
            except ValueError:
                broken += 1
        if broken > torn:
            found.wrong.append(f"{broken} lines of the journal cannot be read after {torn} kills")
        results = self.root / "target/run_results.json"
        try:
            told = json.loads(results.read_text())["results"] if results.exists() else []
        except ValueError as error:
            found.wrong.append(f"run_results.json: {error}")
            told = []
        commits = self._commits()
        told += [event["result"] for event in events if event["event"] == "node_finished"]
        for result in told:
            name, response = result["unique_id"].split(".")[2], result["adapter_response"]
            version = response.get("table_version")
            if result["status"] in ("success", "no-op") and name in commits and version is not None:
                stamp = commits[name].get(version)
                if stamp is None or stamp["node"] != result["unique_id"]:
                    found.wrong.append(f"{name} is told to have committed {version}, which has {stamp}")
        return events

    def _check_once(self, found, invocations):
        """Each MERGE is in its table once, under whichever of the invocations."""
        if self.scenario.files is STREAM:
            invocations = {f"{one}/raw.orders/{batch}": batch for one in invocations for batch in range(2)}
        else:
            invocations = dict.fromkeys(invocations, 0)
        for name, stamps in self._commits().items():
            merged = [
                invocations[one["invocation_id"]] for one in stamps.values() if one["invocation_id"] in invocations
            ]
            if len(merged) != len(set(merged)):
                found.wrong.append(f"{name} was merged more than once: {stamps}")

    def _commits(self):
        """By table and version, the stamps of the statements (no hooks) that committed."""
        return {
            name: dict(_delta(self._location(name)) if table_format == "delta" else _iceberg(self._location(name)))
            for name, (table_format, _) in self.scenario.tables.items()
        }


def _invocations(events):
    return [event["invocation_id"] for event in events if event["event"] == "invocation_started"]


def _delta(folder):
    for path in sorted((folder / "_delta_log").glob("[0-9]*.json")):
        for line in path.read_text().splitlines():
            info = json.loads(line).get("commitInfo")
            if info is not None and info["operation"] != "CREATE TABLE":
                yield from _statement(int(path.stem), info.get("userMetadata"))


def _iceberg(metadata):
    if metadata is None:
        return
    for snapshot in json.loads(metadata.read_text()).get("snapshots", ()):
        yield from _statement(snapshot["snapshot-id"], snapshot["summary"].get("merge-runner"))


def _statement(version, stamp):
    told = json.loads(stamp)["merge_runner"] if stamp else {}
    if told and not told.keys() & {"hook", "maintenance"}:
        yield version, told


def metadata_file(catalog, table):
    """The metadata file of a table of an embedded Iceberg catalog; None where there is none."""
    with closing(sqlite3.connect(catalog)) as opened:
        query = "select metadata_location from iceberg_tables where table_name = ?"
        found = opened.execute(query, (table,)).fetchone()
    return Path(found[0].removeprefix("file:")) if found else None


def reader(spark):
    """Reads rows of a table as it is on disk now, whatever was there before."""
    guard = threading.Lock()

    def rows(location, table_format, columns):
        if location is None or not location.exists():
            return []
        with guard:
            jvm = spark.sparkContext._jvm
            jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
            # On Spark 3.5 Iceberg sets a catalog for its paths in one session, and looks for it in that of the thread.
            jvm.org.apache.spark.sql.SparkSession.setActiveSession(spark._jsparkSession)
            return [
                tuple(row)
                for row in spark.read.format(table_format)
                .load(str(location))
                .selectExpr(*columns.split(", "))
                .collect()
            ]

    return rows


def run(lanes_of_one, points, told=lambda found: None):
    """What was found of each point, in their order; the lanes take the next one as they are ready."""
    todo, found = queue.SimpleQueue(), {}
    for point in enumerate(points):
        todo.put(point)

    def work(lane):
        while True:
            try:
                number, point = todo.get_nowait()
            except queue.Empty:
                return
            try:
                found[number] = lane.point(*point)
            except Exception as error:
                found[number] = Found(lane.name, list(point), [f"{type(error).__name__}: {error}"])
            told(found[number])

    threads = [threading.Thread(target=work, args=(lane,)) for lane in lanes_of_one]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[number] for number in sorted(found)]


def summary(found):
    """`k of k` in words, and whether all is well."""
    kills = sum(len(one.kills) for one in found)
    well = sum(len(one.kills) for one in found if not one.wrong)
    return f"{well} of {kills} kills lost nothing and left nothing that is told wrongly", well == kills and kills > 0
