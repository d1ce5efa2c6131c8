"""Pages in a real browser: Debian's Chromium with its driver, without a network.

Where there is none, all of it is skipped, and says how to have it. Screenshots of each test are kept in the folder
`SCREENSHOTS`, by default one of the test run.
"""

import os
import shutil
import time
from pathlib import Path

import pytest

from merge_runner.markdown import table

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
AXE = Path(__file__).with_name("axe.min.js")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("slow")


class Page:
    """A page in the browser."""

    def __init__(self, driver, screenshots, checked):
        self.driver = driver
        self.screenshots = screenshots
        self.checked = checked

    def open(self, path, at="", *, dark=False, width=1400, height=900):
        """Load a file from disk, and return the seconds until its first view was drawn, by the browser's own clock."""
        self.theme(dark)
        self.driver.set_window_size(width, height)
        self.driver.get("about:blank")
        self.driver.get(f"{path.as_uri()}{at}")
        self.wait("return document.documentElement.dataset.shown !== undefined")
        return self.driver.execute_script("return performance.now() / 1000")

    def theme(self, dark):
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    def go(self, at):
        """Go to an address of the page that is open."""
        self.driver.execute_script("location.hash = arguments[0]", at)
        self.wait("return document.documentElement.dataset.shown === arguments[0]", at)

    def wait(self, script, *arguments, seconds=20):
        end = time.monotonic() + seconds
        while not self.driver.execute_script(script, *arguments):
            assert time.monotonic() < end, f"{script} is not so after {seconds} s: {self.log()}"
            time.sleep(0.02)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector="main"):
        return self.run("return document.querySelector(arguments[0]).innerText", selector)

    def log(self):
        """What the browser complains of: errors of the script, and what the policy has refused."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        return self.run("return performance.getEntriesByType('resource').map((each) => each.name)")

    def violations(self):
        """What axe finds, as short texts; the checks are a line of the report, too."""
        self.run(AXE.read_text(encoding="utf-8"))
        found, passed, dark, width, at = self.driver.execute_async_script(
            "const done = arguments[1]; axe.run(document, {runOnly: arguments[0]}).then((all) => done("
            "[all.violations, all.passes.length, isDark(), innerWidth, document.documentElement.dataset.shown]))",
            TAGS,
        )
        self.checked.append((at, "dark" if dark else "light", width, passed, len(found)))
        return [f"{each['id']}: {node['target']} {node['failureSummary']}" for each in found for node in each["nodes"]]

    def screenshot(self, name):
        self.screenshots.mkdir(parents=True, exist_ok=True)
        self.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert self.driver.save_screenshot(str(self.screenshots / f"{name}.png"))


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """One Chromium for all tests."""
    webdriver = pytest.importorskip(
        "selenium.webdriver", reason="NO BROWSER TESTS: pip install -e '.[dev]' brings selenium"
    )
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("NO BROWSER TESTS: apt-get install chromium chromium-driver")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    switches = (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--force-device-scale-factor=1",
    )
    for switch in (*switches, "--host-resolver-rules=MAP * ~NOTFOUND"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_script_timeout(60)
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory):
    """The folder of the screenshots."""
    folder = os.environ.get("SCREENSHOTS")
    return Path(folder) if folder else tmp_path_factory.getbasetemp() / "screenshots"


@pytest.fixture(scope="session")
def checked(screenshots):
    """What axe has checked, written to axe.md next to the screenshots in the end."""
    found = []
    yield found
    if found:
        rules, broken = (sum(each[column] for each in found) for column in (3, 4))
        total = f"axe-core: {len(found)} views, {rules} rules passed, {broken} violated"
        rows = [(f"`{at}`", theme, width, passed, failed) for at, theme, width, passed, failed in found]
        lines = table(("view", "theme", "width", "rules passed", "violated"), rows, frozenset({2, 3, 4}))
        screenshots.mkdir(parents=True, exist_ok=True)
        (screenshots / "axe.md").write_text("\n".join([total, "", *lines]) + "\n", encoding="utf-8")


@pytest.fixture
def page(browser, screenshots, checked):
    """The page of a test; in the end nothing was complained of, and nothing was loaded."""
    browser.get("about:blank")
    browser.get_log("browser")
    made = Page(browser, screenshots, checked)
    yield made
    assert made.log() == []
    assert made.requests() == []
