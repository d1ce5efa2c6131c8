"""A committed target folder: no byte of it decides about code that runs, or about what lint says."""

from __future__ import annotations

import ast
import os
import pickle
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = {
    "models/base.sql": "{{ config(materialized='view') }}\nselect 1 as id\n",
    "models/m.sql": "merge into {{ this }} as t using {{ ref('base') }} as s on t.id = s.id\n"
    "when not matched then insert *\n",
}
COMMANDS = (["lint", "--format", "json"], ["ls"], ["ls", "-s", "m+"], ["lineage"])
"""Commands that read nothing of the target folder; parse and compile replace what they write there."""

WATCHED = """
import os, sys
target = os.path.realpath(sys.argv[1])

def watch(event, arguments):
    if event in ("open", "os.listdir", "os.scandir", "sqlite3.connect") and isinstance(arguments[0], (str, bytes)):
        if os.path.realpath(os.fsdecode(arguments[0])).startswith(target):
            print("READ", event, os.fsdecode(arguments[0]), file=sys.stderr)

sys.addaudithook(watch)
from merge_runner.cli.main import main
main(sys.argv[2:])
"""


class Payload:
    """A value whose pickle makes a file where it is read."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.canary),)


def run(root: Path, cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the project; what it opens in the target folder is in its messages."""
    return subprocess.run(
        [sys.executable, "-c", WATCHED, str(root / "target"), *arguments],
        check=False,
        cwd=root,
        env=os.environ | {"MERGE_RUNNER_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        timeout=60,
    )


def commit_pickles(target: Path, canary: Path) -> None:
    """Have a pickle with a payload under every name that a cache in the target folder has had."""
    content = pickle.dumps(Payload(canary))
    for name in ("file_stamps.bin", "project_cache/a.bin", "lint_cache/a.bin", "lint_cache/a.report", "a.checked"):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(content)


def commit_endless_view(target: Path, _canary: Path) -> None:
    """Have a view over a query without end where the table of a store was."""
    target.mkdir()
    with sqlite3.connect(target / "contributions.sqlite") as connection:
        connection.execute(
            "create view kept as with recursive n(id) as (select 1 union all select id + 1 from n) "
            "select id, x'00' as key, '' as content, x'' as checksum from n where id < 0"
        )


def commit_pipes(target: Path, _canary: Path) -> None:
    """Have pipes that nobody writes to."""
    (target / "lint_cache").mkdir(parents=True)
    for name in ("contributions.sqlite", "file_stamps.bin", "lint_cache/a.report"):
        os.mkfifo(target / name)


def commit_links(target: Path, canary: Path) -> None:
    """Have links to a folder of somebody else where caches were tidied."""
    victim = canary.parent / "victim"
    victim.mkdir()
    for number in range(80):
        (victim / f"{number}.report").write_text("mine")
    target.mkdir()
    for name in ("lint_cache", "project_cache"):
        (target / name).symlink_to(victim)


@pytest.mark.parametrize("commit", [commit_pickles, commit_endless_view, commit_pipes, commit_links])
def test_nothing_of_it_is_read_and_nothing_runs(make_project, tmp_path, commit):
    root, canary, cache = make_project(FILES), tmp_path / "canary", tmp_path / "cache"
    plain = [run(root, tmp_path / "other", *command) for command in COMMANDS]
    commit(root / "target", canary)
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if cache not in path.parents)
    for command, expected in zip(COMMANDS, plain, strict=True):
        for _ in range(2):  # the second run has what the first kept
            done = run(root, cache, *command)
            assert "READ" not in done.stderr, done.stderr
            assert (done.returncode, done.stdout) == (expected.returncode, expected.stdout)
    assert not canary.exists()
    after = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if cache not in path.parents)
    assert [path for path in after if path != cache.relative_to(tmp_path)] == before


def test_a_cache_folder_that_others_can_write_is_not_read(make_project, tmp_path):
    root, cache = make_project(FILES), tmp_path / "cache"
    run(root, cache, "ls")
    (file,) = (cache / "projects").iterdir()
    assert (cache / "projects").stat().st_mode & 0o777 == 0o700
    with sqlite3.connect(file) as connection:
        assert connection.execute("select count(*) from kept").fetchone()[0] > 0
        connection.execute("delete from kept")
    connection.close()
    (cache / "projects").chmod(0o777)
    assert run(root, cache, "ls").returncode == 0
    with sqlite3.connect(file) as connection:
        assert connection.execute("select count(*) from kept").fetchone()[0] == 0


def test_a_store_belongs_to_the_real_path_of_a_project(make_project, tmp_path):
    root, cache = make_project(FILES), tmp_path / "cache"
    link = tmp_path / "link"
    link.symlink_to(root)
    run(root, cache, "ls")
    run(link, cache, "ls")
    run(make_project(FILES), cache, "ls")
    assert len(list((cache / "projects").iterdir())) == 2


@pytest.mark.parametrize("key", ["cache-dir", "cache_dir"])
def test_a_project_does_not_choose_the_cache_folder(make_project, tmp_path, key):
    root = make_project(FILES)
    with (root / "pyproject.toml").open("a") as settings:
        settings.write(f'{key} = "target"\n')
    done = run(root, tmp_path / "cache", "lint")
    assert done.returncode == 2
    assert key in done.stderr


def test_no_module_reads_values_that_can_run_code():
    unsafe = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle"}
    modules = {}
    for file in sorted((ROOT / "merge_runner").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if unsafe & {name.partition(".")[0] for name in names}:
                modules[file.relative_to(ROOT).as_posix()] = names
    assert modules == {}
