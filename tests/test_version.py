"""Versions and entry points of packages are found as importlib.metadata finds them."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import distributions, version
from zipfile import ZipFile

import pytest

from merge_runner.version import may_provide, package_version


def test_each_installed_package_has_the_version_that_importlib_says():
    names = sorted({found.metadata["Name"] for found in distributions()})
    assert [package_version(name) for name in names] == [version(name) for name in names]
    assert package_version("no-such-package") is None


def test_a_group_of_entry_points_that_no_package_has_is_none():
    assert may_provide("console_scripts")
    assert not may_provide("merge_runner.no_such_group")


@pytest.mark.parametrize("where", ["rules-1.0.dist-info", "rules.egg-info", "rules-1.0-py3.11.egg/EGG-INFO", "zip"])
def test_a_package_with_rules_is_found_wherever_it_is(tmp_path, where):
    folder, content = tmp_path, "[merge_runner.rules]\nacme = acme\n"
    if where == "zip":
        folder = tmp_path / "rules.zip"
        with ZipFile(folder, "w") as archive:
            archive.writestr("rules-1.0.dist-info/entry_points.txt", content)
    else:
        (tmp_path / where).mkdir(parents=True)
        (tmp_path / where / "entry_points.txt").write_text(content)
    code = "from merge_runner.version import may_provide; print(may_provide('merge_runner.rules'))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    asked = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert asked.stdout == "True\n"
