"""The extension for VS Code: its tests, which drive the real server, and its package."""

from __future__ import annotations

import json
import re
import struct
import zipfile
from pathlib import Path

import pytest
import tomli

from tests.editors.conftest import EXTENSION, ROOT, npm

MANIFEST = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
LOCK = json.loads((EXTENSION / "package-lock.json").read_text(encoding="utf-8"))
REPOSITORY = MANIFEST["repository"]["url"]


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


def test_the_icon_has_the_size_that_the_marketplaces_show():
    content = (EXTENSION / MANIFEST["icon"]).read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", content[16:24]) == (128, 128)


@pytest.mark.slow
def test_types_and_tests_of_the_extension(extension):
    printed = npm(extension, "test")
    assert re.search(r"pass [1-9]", printed)
    assert re.search(r"skipped 0\b", printed)


@pytest.mark.slow
def test_the_package_has_what_runs_and_nothing_else(package):
    with zipfile.ZipFile(package) as archive:
        readme = archive.read("extension/readme.md").decode()
        files = {name.removeprefix("extension/") for name in archive.namelist() if name.startswith("extension/")}
    named = {Path(each["path"]).as_posix() for key in ("grammars", "snippets") for each in MANIFEST["contributes"][key]}
    assert files == {"package.json", "readme.md", "LICENSE.txt", "dist/extension.js", MANIFEST["icon"], *named}
    images = re.findall(r"\]\((\S+\.png)\)", readme)
    assert images
    assert all((ROOT / url.removeprefix(f"{REPOSITORY}/raw/main/")).is_file() for url in images)
