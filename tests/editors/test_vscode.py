"""The extension for VS Code: its tests, which drive the real server, and its package."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import tomli

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors/vscode"
MANIFEST = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
LOCK = json.loads((EXTENSION / "package-lock.json").read_text(encoding="utf-8"))
REPOSITORY = MANIFEST["repository"]["url"]
NPM = shutil.which("npm")


def test_the_lock_file_names_the_public_registry_alone():
    resolved = [package["resolved"] for name, package in LOCK["packages"].items() if name]
    assert resolved
    assert [url for url in resolved if not url.startswith("https://registry.npmjs.org/")] == []


def test_the_extension_has_the_version_of_the_package():
    assert MANIFEST["version"] == tomli.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_the_readme_names_every_setting_and_snippet():
    readme = (EXTENSION / "README.md").read_text(encoding="utf-8")
    prefixes = [
        snippet["prefix"]
        for each in MANIFEST["contributes"]["snippets"]
        for snippet in json.loads((EXTENSION / each["path"]).read_text(encoding="utf-8")).values()
    ]
    assert [prefix for prefix in prefixes if f"`{prefix}`" not in readme] == []
    assert "`merge-runner.interpreter`" in readme


@pytest.fixture(scope="module")
def extension(tmp_path_factory):
    """A copy of the extension with its dependencies, so that the repository stays as it is."""
    ping = [NPM, "ping", "--fetch-retries=0", "--fetch-timeout=20000"]
    if subprocess.run(ping, capture_output=True, check=False).returncode:
        pytest.skip("the npm registry cannot be reached")
    root = tmp_path_factory.mktemp("vscode")
    copy = root / "editors/vscode"
    shutil.copytree(EXTENSION, copy, ignore=shutil.ignore_patterns("node_modules", "dist", "*.vsix"))
    shutil.copy(ROOT / "LICENSE", root)
    npm(copy, "ci", "--no-audit", "--no-fund")
    return copy


def npm(folder, *arguments):
    """Run npm; where it fails, the test fails with what it printed."""
    environment = os.environ | {"MERGE_RUNNER_PYTHON": sys.executable}
    done = subprocess.run([NPM, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr[-2_000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(NPM is None, reason="npm is not installed")
def test_types_and_tests_of_the_extension(extension):
    printed = npm(extension, "test")
    assert re.search(r"pass [1-9]", printed)
    assert re.search(r"skipped 0\b", printed)


@pytest.mark.slow
@pytest.mark.skipif(NPM is None, reason="npm is not installed")
def test_the_package_has_what_runs_and_nothing_else(extension):
    npm(extension, "run", "package")
    (package,) = extension.glob("*.vsix")
    with zipfile.ZipFile(package) as archive:
        readme = archive.read("extension/readme.md").decode()
        files = {name.removeprefix("extension/") for name in archive.namelist() if name.startswith("extension/")}
    named = {Path(each["path"]).as_posix() for key in ("grammars", "snippets") for each in MANIFEST["contributes"][key]}
    assert files == {"package.json", "readme.md", "LICENSE.txt", "dist/extension.js", *named}
    images = re.findall(r"\]\((\S+\.png)\)", readme)
    assert images
    assert all((ROOT / url.removeprefix(f"{REPOSITORY}/raw/main/")).is_file() for url in images)
