"""The examples of the page of the Python API run, in the project that `init` makes."""

from __future__ import annotations

import logging
import re
import subprocess
import sys

import pytest

from merge_runner import Project
from merge_runner.project.scaffold import scaffold
from tests.docs.site import GENERATED, ROOT

PAGE = GENERATED[ROOT / "docs/reference/python-api.md"].partition("## Functions of")[0]
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.S)


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scaffold(tmp_path / "shop")
    return tmp_path


def test_the_examples_without_spark_run_and_print_nothing(shop, capfd):
    static = [example for example in EXAMPLES if "project.build(" not in example]
    assert len(static) == 5
    exec("\n".join(static), {})
    assert capfd.readouterr() == ("", "")


@pytest.mark.nightly
@pytest.mark.spark
def test_the_examples_run_as_a_program_that_prints_nothing(shop):
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(EXAMPLES)], cwd=shop, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_templates_log_goes_to_logging(make_project, caplog):
    root = make_project({"models/stg.sql": "{{ log('here', info=true) }}select 1 as id"})
    with caplog.at_level(logging.INFO, "merge_runner"):
        Project.load(root).compile()
    assert [(each.name, each.levelname, each.message) for each in caplog.records] == [
        ("merge_runner.template", "INFO", "models/stg.sql:1:4: here")
    ]
