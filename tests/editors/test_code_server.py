"""VS Code, as code-server in a browser: the packaged extension shows findings, the verdict and a hover.

The screenshot in the README of the extension is made by it. code-server compiles parts of VS Code, which takes minutes:

    npm install --prefix FOLDER code-server@4.99.4   # its search needs ripgrep
    PATH=FOLDER/node_modules/.bin:$PATH SCREENSHOTS=FOLDER pytest tests/editors/test_code_server.py
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.browser.conftest import CHROMIUM, DRIVER
from tests.editors.conftest import ROOT

FOLDERS = ("models", "macros", "seeds", "data_tests")
SETTINGS = {
    "workbench.startupEditor": "none",
    "workbench.colorTheme": "Default Light Modern",
    "security.workspace.trust.enabled": False,
    "telemetry.telemetryLevel": "off",
    "editor.minimap.enabled": False,
    "editor.stickyScroll.enabled": False,
    "editor.autoClosingBrackets": "never",
    "editor.autoIndent": "none",
    "files.autoSave": "off",
    "window.commandCenter": False,
    "chat.commandCenter.enabled": False,
    "editor.quickSuggestions": {"other": "off", "strings": "off", "comments": "off"},
    "editor.suggestOnTriggerCharacters": False,
    "merge-runner.interpreter": sys.executable,
}


@pytest.fixture
def address(request, tmp_path):
    """Return the address of a code-server with the extension, in which a copy of the flights project is open."""
    program = shutil.which("code-server")
    if program is None or CHROMIUM is None or DRIVER is None:
        pytest.skip("needs code-server (npm), chromium and chromium-driver (apt) on PATH")
    package = request.getfixturevalue("package")
    project, data = tmp_path / "flights", tmp_path / "data"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, project / name)
    for name in ("pyproject.toml", "profiles.yml"):
        shutil.copy(ROOT / name, project)
    (data / "User").mkdir(parents=True)
    (data / "User/settings.json").write_text(json.dumps(SETTINGS))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    given = [program, "--user-data-dir", str(data), "--extensions-dir", str(tmp_path / "extensions")]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    subprocess.run([*given, "--install-extension", str(package)], check=True, env=environment, capture_output=True)
    options = ["--auth", "none", "--bind-addr", f"127.0.0.1:{port}", "--disable-telemetry", "--disable-update-check"]
    with subprocess.Popen([*given, *options], env=environment, stdout=subprocess.DEVNULL) as server:
        yield f"http://127.0.0.1:{port}/?folder={project}"
        server.terminate()


class Window:
    """A window of VS Code, at its keyboard."""

    def __init__(self, driver):
        from selenium.webdriver.common.keys import Keys

        self.driver, self.keys = driver, Keys

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        *held, last = keys
        actions = ActionChains(self.driver)
        for key in held:
            actions.key_down(key)
        actions.send_keys(last)
        for key in reversed(held):
            actions.key_up(key)
        actions.perform()
        time.sleep(0.3)

    def go(self, place):
        self.press(self.keys.CONTROL, "g")
        self.press(f"{place}")
        self.press(self.keys.ENTER)

    def wait(self, *texts, of="body", seconds=60):
        """Wait until a part of the window has all texts, and return what it has."""
        end = time.monotonic() + seconds
        while True:
            script = "return [...document.querySelectorAll(arguments[0])].map((each) => each.innerText).join('\\n')"
            shown = self.driver.execute_script(script, of).replace("\xa0", " ")
            if all(text in shown for text in texts):
                return shown
            assert time.monotonic() < end, f"{texts} is not shown: {shown}"
            time.sleep(0.1)


@pytest.fixture
def window(address):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for switch in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1240,1210"):
        options.add_argument(switch)
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    end = time.monotonic() + 60
    while "Welcome" not in driver.title and "flights" not in driver.title:
        assert time.monotonic() < end, driver.title
        try:
            driver.get(address)
        except Exception:  # it does not listen yet
            time.sleep(0.2)
        time.sleep(2)
    yield Window(driver)
    driver.quit()


@pytest.mark.slow
@pytest.mark.nightly
def test_a_model_in_vs_code(window):
    keys = window.keys
    window.wait("models", of=".explorer-folders-view")
    window.press(keys.CONTROL, "p")
    window.press("fct_flight.sql")
    window.wait("models/facts", of=".quick-input-list")
    window.press(keys.ENTER)
    window.wait("MERGE: static", of=".statusbar")
    window.go(28)
    window.press(keys.HOME)
    window.press(keys.HOME)
    window.press(keys.SHIFT, keys.ARROW_DOWN)
    window.press(keys.SHIFT, keys.ARROW_DOWN)
    window.press(f"    on date(t.scheduled_at) = s.flight_date{keys.ENTER}")
    window.wait("MERGE: full scan", of=".statusbar")
    window.press(keys.CONTROL, keys.SHIFT, "m")
    window.wait("the target is partitioned by `flight_date`", "K001", of=".markers-panel")
    window.press(keys.CONTROL, "1")
    window.go("7:3")
    window.press(keys.CONTROL, "k")
    window.press(keys.CONTROL, "i")
    window.wait("no condition of ON skips a file", of=".monaco-hover")
    folder = os.environ.get("SCREENSHOTS")
    if folder is not None:
        time.sleep(1)  # it fades in
        assert window.driver.save_screenshot(str(Path(folder) / "screenshot.png"))
