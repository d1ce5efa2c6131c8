"""The session in the guide about agents prints what the guide shows."""

import os
import re
import subprocess
import sys

import pytest

from tests.docs.command_lines import ROOT

pytestmark = pytest.mark.spark  # a build launches a JVM while it lints

PAGE = ROOT / "docs/guides/agents.md"
STAGING = "select cast(id as int) as order_id, cast(id as double) as amount from range(10)"


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)


def test_the_session_prints_what_the_page_shows(make_project):
    (model,), (client,), (shown,) = blocks("sql"), blocks("python"), blocks("text")
    root = make_project({"models/fct_order.sql": model, "models/stg_order.sql": STAGING})
    start = 'command="merge-runner", args=["mcp",'
    assert start in client
    own = f'command={sys.executable!r}, env={dict(os.environ)!r}, args=["-m", "merge_runner", "mcp",'
    (root / "session.py").write_text(client.replace(start, own), encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "session.py"], cwd=root, capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == shown
    assert (root / "models/fct_order.sql").read_text() == model
