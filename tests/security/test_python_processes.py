"""Python processes that are started in the folder of a project import none of its modules."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import merge_runner
from merge_runner.engine.warm.client import Order, spawn_keeper
from merge_runner.integrations.process import THIS
from merge_runner.python_process import python_command
from tests.written_project import write_files

ROOT = Path(merge_runner.__file__).parents[1]
NAMES = (
    "json",
    "queue",
    "click",
    "socket",
    "threading",
    "runpy",
    "multiprocessing",
    "signal",
    "yaml",
    "sqlglot",
    "random",
)
SHOP = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
    "profiles.yml": "shop: {target: dev, outputs: {dev: {schema: shop, warehouse: warehouse}}}\n",
    "models/a.sql": "{{ config(materialized='view') }}select 1 as id",
}
ENV = {key: value for key, value in os.environ.items() if key != "PYTHONSAFEPATH"} | {"PYTHONPATH": str(ROOT)}


@pytest.fixture
def shop(tmp_path):
    """A project whose modules leave a file `ran` where they are imported."""
    ran = f"open({str(tmp_path / 'ran')!r}, 'a').write(__name__ + ' ')\n"
    modules = {f"{name}.py": ran for name in NAMES} | {"sitecustomize.py": "", "merge_runner/__init__.py": ran}
    return write_files(tmp_path / "shop", {**SHOP, **modules})


def imported(tmp_path):
    ran = tmp_path / "ran"
    return ran.read_text().split() if ran.exists() else []


COMMANDS = {
    "integrations": ([*THIS, "ls"], "a\n"),
    "warm daemon": (python_command("merge_runner.engine.warm.daemon"), ""),
    "module of the standard library": (python_command("this"), "The Zen of Python"),
    "pip": (python_command("pip", "--version"), "pip "),
}


@pytest.mark.parametrize(("command", "output"), COMMANDS.values(), ids=COMMANDS)
def test_no_module_of_the_project_is_imported(command, output, shop, tmp_path):
    ended = subprocess.run(
        command, cwd=shop, env=ENV, input="", capture_output=True, text=True, check=False, timeout=120
    )
    assert imported(tmp_path) == []
    assert output in ended.stdout, ended.stderr
    assert "No module named" not in ended.stderr


def test_the_working_folder_is_the_first_place_otherwise(shop, tmp_path):
    """What the command is against: `python -m` imports the package of the project."""
    command = [sys.executable, "-m", "merge_runner", "ls"]
    subprocess.run(command, cwd=shop, env={**ENV, "PYTHONPATH": ""}, capture_output=True, check=False, timeout=120)
    assert "merge_runner" in imported(tmp_path)


def test_the_command_line_imports_no_module_of_the_project(shop, tmp_path):
    """`python -m` with a package that is found before that of the project: of its other modules none is imported."""
    for path in (shop / "merge_runner").iterdir():
        path.unlink()
    (shop / "merge_runner").rmdir()
    command = [sys.executable, "-m", "merge_runner", "ls"]
    ended = subprocess.run(command, cwd=shop, env=ENV, capture_output=True, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stdout.split()) == (0, ["a"]), ended.stderr
    assert [name for name in imported(tmp_path) if name != "runpy"] == []


def test_a_keeper_imports_no_module_of_the_project(shop, tmp_path):
    """The order names a socket in a folder that is not there: it ends before it starts a JVM."""
    order = Order({}, "", str(shop), str(tmp_path / "log"), "", str(tmp_path / "none" / "socket"))
    keeper = spawn_keeper(order)
    assert keeper.wait(120) != 0
    assert imported(tmp_path) == []
    assert "none/socket" in (tmp_path / "log").read_text() or "FileNotFoundError" in (tmp_path / "log").read_text()


def test_arguments_and_the_environment_come_as_they_are(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "shown.py").write_text("import json, sys; print(json.dumps([__name__, sys.argv]))")
    words = python_command("shown", "-c", "a b", "", "--", "-m")
    env = {**ENV, "PYTHONPATH": str(tmp_path / "site")}
    shown = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=True).stdout
    name, [program, *rest] = json.loads(shown)
    assert (name, Path(program).name, rest) == ("__main__", "shown.py", ["-c", "a b", "", "--", "-m"])


def test_one_function_starts_python():
    package = Path(merge_runner.__file__).parent
    files = [file for file in sorted(package.rglob("*.py")) if "sys.executable" in file.read_text("utf-8")]
    assert [file.name for file in files] == ["python_process.py"]


def test_the_editor_starts_it_in_the_same_way():
    text = (ROOT / "editors/vscode/src/interpreter.ts").read_text("utf-8")
    safe = re.search(r'const SAFE = "(.*)";', text)[1]
    module = re.search(r"`\$\{SAFE\}(import runpy.*?)`", text)[1]
    assert [*python_command("merge_runner")[1:]] == ["-c", safe + module, "merge_runner"]


def test_the_language_server_looks_at_a_project_without_its_modules(shop, tmp_path):
    pytest.importorskip("pygls")
    code = (
        "import os, runpy, sys\n"
        "sys.path[:] = filter(None, sys.path)\n"
        "from merge_runner.cli.main import main\n"
        "sys.stdin.close(); os.close(0); os.open(os.devnull, os.O_RDONLY); sys.stdin = open(0)\n"
        "try: main(['lsp'])\n"
        "except SystemExit: pass\n"
        "import asyncio, pathlib\n"
        "from merge_runner.lsp.documents.whole_project import project_remarks\n"
        "print(asyncio.run(project_remarks(pathlib.Path.cwd(), dict(os.environ))))\n"
    )
    script = tmp_path / "script" / "look.py"
    script.parent.mkdir()
    script.write_text(f"if __name__ == '__main__':\n    exec({code!r})\n")
    ended = subprocess.run(
        [sys.executable, str(script)], cwd=shop, env=ENV, capture_output=True, text=True, check=False, timeout=180
    )
    assert ended.returncode == 0, ended.stderr
    assert imported(tmp_path) == []


def test_the_language_server_listens_at_no_address(tmp_path):
    words = [sys.executable, "-m", "merge_runner", "lsp", "--tcp", "127.0.0.1:0"]
    ended = subprocess.run(words, cwd=tmp_path, env=ENV, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 2
    assert "merge-runner lsp" in ended.stderr
