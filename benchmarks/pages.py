"""The pages of a project of many models, and of its runs: the time to write them, their size, how fast Chromium opens them.

    python benchmarks/pages.py [--models 1000 5000] [--rounds 3] [--only project]

The project is that of benchmarks/incremental.py: ten layers, ten columns and two data tests a model, macros. `write` is
the processor time of `merge-runner docs generate --static`, lint included, with nothing kept from before, and `memory` that of
its largest process. `open` is the time until the overview is drawn, from disk, by the browser's own clock; `graph` from the
click until all nodes are placed and drawn; `a search` the first one, which makes the index, and a second one. `heap` is the
memory of the page's script after all of that.

Of the page of runs, `keep` is the processor time that each build pays at its end: its timeline and record, and the page of the last 30 runs,
with so many nodes in each. `versions` is to open the page of a model with the versions of its table.
Needs Debian's chromium and chromium-driver, and selenium.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from incremental import write
from lint import measured, models

from merge_runner.pages.runs.history import keep
from merge_runner.pages.runs.runs_page import SHOWN as SHOWN_RUNS
from merge_runner.pages.runs.runs_page import write_report
from merge_runner.pages.runs.timeline import NodeTime, timeline

SHOWN = "return document.documentElement.dataset.shown"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, nargs="+", default=[1000, 5000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=("runs", "project"), help="one of the two pages")
    arguments = parser.parse_args()
    driver = chromium()
    if arguments.only != "project":
        runs(driver, arguments.models, arguments.rounds)
    if arguments.only != "runs":
        project(driver, arguments.models, arguments.rounds)
    driver.quit()


def project(driver: Any, counts: list[int], rounds: int) -> None:
    """The page of a project."""
    print(
        "| models | write | memory | size | open | graph | a search | elements | heap |\n|---|---|---|---|---|---|---|---|---|"
    )
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "bench"
            write(root, models(count), dbt=False)
            command = [sys.executable, "-m", "merge_runner", "docs", "generate", "--static"]
            _, seconds, memory, _ = measured(command, root)
            page = root / "target" / "docs.html"
            size = page.stat().st_size / 1e6
            opened, drawn = zip(*(looked_at(driver, page) for _ in range(rounds)), strict=True)
            search = "const from = performance.now(); searched('amount 42'); return performance.now() - from"
            first, second = (driver.execute_script(search) for _ in range(2))
            elements = driver.execute_script("return document.querySelectorAll('*').length")
            heap = driver.execute_script("return performance.memory.usedJSHeapSize / 1e6")
            print(
                f"| {count:,} | {seconds:.1f} s | {memory:.0f} MB | {size:.1f} MB | {statistics.median(opened):.2f} s "
                f"| {statistics.median(drawn):.2f} s | {first:.0f}, {second:.0f} ms | {elements:,} | {heap:.0f} MB |",
                flush=True,
            )


def runs(driver: Any, counts: list[int], rounds: int) -> None:
    """The page of runs."""
    print("| nodes | keep | size | open | memory | versions |\n|---|---|---|---|---|---|")
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder)
            seconds = [kept(target, count, number) for number in range(SHOWN_RUNS + rounds)][-rounds:]
            page = target / "run_report.html"
            opened = [opening(driver, page) for _ in range(rounds)]
            memory = driver.execute_script("return performance.memory.usedJSHeapSize / 1e6")
            versions = statistics.median(shown(driver, "#/node/model.bench.m00042", "#/history") for _ in range(rounds))
            print(
                f"| {count:,} | {statistics.median(seconds):.2f} s | {page.stat().st_size / 1e6:.1f} MB "
                f"| {statistics.median(opened):.2f} s | {memory:.0f} MB | {versions:.2f} s |"
            )


def kept(target: Path, count: int, number: int) -> float:
    """Keep a run and write the page; the seconds of the processor that this takes."""
    ran = [
        NodeTime(
            f"model.bench.m{each:05}", each / 4, each / 4 + 0.9, f"Thread-{each % 4}", (f"model.bench.m{each // 2:05}",)
        )
        for each in range(count)
    ]
    started = time.process_time()
    places = timeline(ran)
    nodes = [
        {
            **{"id": each.id, "name": each.id.rpartition(".")[2], "kind": "model", "materialized": "merge"},
            **{
                "status": "success",
                "seconds": 0.9,
                "start": each.start,
                "end": each.end,
                "message": "3 inserted, 40 updated",
            },
            **{"lane": places[each.id].lane, "ready": places[each.id].ready},
            "response": {
                **{"operation": "MERGE", "verdict": "static", "verdict_held": True, "attempts": 1, "created": False},
                **{
                    "rows_inserted": 3 + at,
                    "rows_updated": 40,
                    "rows_deleted": 0,
                    "rows_copied": 1000 + 7 * at,
                    "files_total": 365,
                },
                **{
                    "files_scanned": 31,
                    "files_added": 2,
                    "files_removed": 2,
                    "bytes_added": 73_000 + at,
                    "bytes_removed": 71_000,
                },
                **{"scan_ms": 310, "rewrite_ms": 240, "execution_ms": 700, "table_version": number, "rows_source": 50},
            },
            "versions": [
                {
                    **{
                        "version": str(number),
                        "at": f"2026-01-{number % 28 + 1:02}T03:{at % 60:02}:00.000000Z",
                        "operation": "MERGE",
                    },
                    **{"run": f"{number:08x}", "node": each.id, "rows": {"inserted": 3 + at, "updated": 40}},
                    **{"files_added": 2, "files_removed": 2, "bytes_added": 73_000 + at, "bytes_removed": 71_000},
                }
            ],
        }
        for at, each in enumerate(ran)
    ]
    head = {"id": f"{number:08x}", "project": "bench", "target": "dev", "command": "build", "args": {}, "threads": 4}
    start = f"2026-01-{number % 28 + 1:02}T{number // 28:02}:00:00.000000Z"
    keep(target, {**head, "started_at": start, "seconds": count / 4 + 0.9, "ok": True, "nodes": nodes})
    write_report(target)
    return time.process_time() - started


def opening(driver: Any, page: Path) -> float:
    """Seconds until the first view of a page is drawn."""
    driver.get("about:blank")
    driver.get(page.as_uri())
    wait(driver, f"{SHOWN} !== undefined")
    found: float = driver.execute_script("return performance.now() / 1000")
    return found


def shown(driver: Any, at: str, before: str) -> float:
    """Seconds from a click on a link until what it leads to is drawn; `before` is where the link is."""
    driver.execute_script("location.hash = arguments[0]", before)
    wait(driver, f"{SHOWN} === '{before}'")
    look = (
        "const [at, done] = arguments, from = performance.now(); location.hash = at;"
        "const look = () => requestAnimationFrame(() => document.documentElement.dataset.shown === at"
        " ? requestAnimationFrame(() => done((performance.now() - from) / 1000)) : look()); look();"
    )
    found: float = driver.execute_async_script(look, at)
    return found


def chromium() -> Any:
    """A browser without a window."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for switch in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,900"):
        options.add_argument(switch)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver") or ""))


def looked_at(driver: Any, page: Path) -> tuple[float, float]:
    """Seconds until the overview, and then until the graph is drawn."""
    opened = opening(driver, page)
    return opened, shown(driver, "#/graph", "#/")


def wait(driver: Any, script: str) -> None:
    """Wait until a script says yes."""
    end = time.monotonic() + 60
    while not driver.execute_script(script.replace("return ", "return !!(", 1) + ")"):
        if time.monotonic() > end:
            raise TimeoutError(script)
        time.sleep(0.01)


if __name__ == "__main__":
    main()
