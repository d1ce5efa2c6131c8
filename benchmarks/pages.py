"""The page of a project of many models: how long it takes to write, how large it is, how fast Chromium opens it.

    python benchmarks/pages.py [--models 1000 5000] [--rounds 3]

The project is that of benchmarks/incremental.py: ten layers, ten columns and two data tests a model, macros. `write` is
`merge-runner docs generate --static` as a whole process, lint included, the second time. `open` is the time until the
overview is drawn, from disk, by the browser's own clock; `graph` from the click until all nodes are placed and drawn.
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

SHOWN = "return document.documentElement.dataset.shown"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, nargs="+", default=[1000, 5000])
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    driver = chromium()
    print("| models | write | memory | size | open | graph | a search | elements |\n|---|---|---|---|---|---|---|---|")
    for count in arguments.models:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "bench"
            write(root, models(count), dbt=False)
            command = [sys.executable, "-m", "merge_runner", "docs", "generate", "--static"]
            measured(command, root)
            seconds, _, memory, _ = measured(command, root)
            page = root / "target" / "docs.html"
            size = page.stat().st_size / 1e6
            opened, drawn = zip(*(looked_at(driver, page) for _ in range(arguments.rounds)), strict=True)
            search = "const from = performance.now(); searched('amount 42'); return performance.now() - from"
            elements = driver.execute_script("return document.querySelectorAll('*').length")
            print(
                f"| {count:,} | {seconds:.1f} s | {memory:.0f} MB | {size:.1f} MB | {statistics.median(opened):.2f} s "
                f"| {statistics.median(drawn):.2f} s | {driver.execute_script(search):.0f} ms | {elements:,} |"
            )
    driver.quit()


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
    driver.get("about:blank")
    driver.get(page.as_uri())
    wait(driver, f"{SHOWN} === '#/'")
    opened = driver.execute_script("return performance.now() / 1000")
    graph = (
        "const done = arguments[0], from = performance.now(); location.hash = '#/graph';"
        "const look = () => requestAnimationFrame(() => document.documentElement.dataset.shown === '#/graph'"
        " ? requestAnimationFrame(() => done((performance.now() - from) / 1000)) : look()); look();"
    )
    return opened, driver.execute_async_script(graph)


def wait(driver: Any, script: str) -> None:
    """Wait until a script says yes."""
    end = time.monotonic() + 60
    while not driver.execute_script(script.replace("return ", "return !!(", 1) + ")"):
        if time.monotonic() > end:
            raise TimeoutError(script)
        time.sleep(0.01)


if __name__ == "__main__":
    main()
