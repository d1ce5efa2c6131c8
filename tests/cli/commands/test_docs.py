"""`merge-runner docs`: what it writes and prints, its exit status, and the server."""

import json
import signal
import subprocess
import sys
import urllib.request

import pytest

FILES = {"models/a.sql": "{{ config(materialized='view') }} select 1 as id"}


@pytest.fixture
def root(make_project):
    return make_project(FILES)


def test_generate_writes_the_page_and_the_manifest(call, root):
    ended = call("docs", "generate", cwd=root)
    page = root / "target" / "docs" / "index.html"
    assert (ended.returncode, ended.stdout) == (0, f"{page}\n")
    assert '"name":"a"' in page.read_text()
    assert json.loads(page.with_name("manifest.json").read_text())["nodes"]


def test_static_writes_one_file(call, root):
    ended = call("docs", "generate", "--static", cwd=root)
    assert (ended.returncode, ended.stdout) == (0, f"{root / 'target' / 'docs.html'}\n")
    assert not (root / "target" / "docs").exists()


def test_open_gives_the_page_to_the_browser(process, root, tmp_path):
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\nprintf %s "$1" > "$0.log"\n')
    browser.chmod(0o755)
    assert process("docs", "generate", "--open", cwd=root, env={"BROWSER": f"{browser} %s"}).returncode == 0
    assert (tmp_path / "browser.log").read_text() == (root / "target" / "docs" / "index.html").as_uri()


def test_open_without_a_browser_is_a_warning_with_the_address(process, root):
    ended = process("docs", "generate", "--open", cwd=root, env={"BROWSER": "false"})
    assert ended.returncode == 0
    assert f"no browser was found for --open: {(root / 'target' / 'docs' / 'index.html').as_uri()}" in ended.stderr


def test_a_project_that_cannot_be_read_has_no_page(call, make_project):
    root = make_project({"models/a.sql": "{{ config(materialized='view') }} select * from {{ ref('missing') }}"})
    ended = call("docs", "generate", cwd=root)
    assert ended.returncode == 2
    assert "models/a.sql:1" in ended.stderr


def test_serve_without_a_page_says_what_to_do(call, root):
    ended = call("docs", "serve", cwd=root)
    assert ended.returncode == 2
    assert "docs generate" in ended.stderr


def test_serve_serves_until_it_is_interrupted(call, root):
    call("docs", "generate", cwd=root)
    command = [sys.executable, "-m", "merge_runner", "docs", "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, text=True) as server:
        address = server.stderr.readline().split(" at ")[1].partition(",")[0]
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert b'"name":"a"' in answer.read()
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 0
