"""Every command with every option that it declares, on every kind of node: looks for internal errors.

    python tests/cli/every_command.py             # without Spark: a project with every feature, this repository, the examples
    python tests/cli/every_command.py --spark     # the project with every feature, on a warm driver
    python tests/cli/every_command.py build ls    # these commands alone; VERBOSE=1 prints every invocation

Commands, options and choices are read from click's declarations: a new one is called without an entry here. An invocation is at
fault where it ends with another status than 0, 1 or 2, with an internal error or a traceback, or with 2 and no message.
The exit status is 1 where one was.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import Path
from textwrap import dedent

import click
from every_kind import FILES

from merge_runner.cli.main import cli, main, process

REPOSITORY = Path(__file__).resolve().parents[2]
_FAULT = re.compile(
    r"\[internal\]|internal error: |Traceback \(most recent call last\)|\"code\": \"internal\"|fault of merge-runner"
)
_SECONDS = 240
_COPIED = ("pyproject.toml", "profiles.yml", "models", "macros", "seeds", "data")

_GIVEN: dict[str, Sequence[Sequence[str]]] = {
    "selector": [["nightly"], ["none"]],
    "state": [["kept"], ["models"]],
    "pr": [["."], ["models"]],
    "exclude": [["fct+"]],
    "vars_text": [["{day: 2024-01-02, shop: true}"], ["[1]"]],
    "profile": [["shop"], ["none"]],
    "target": [["prod"], ["none"]],
    "profiles_dir": [["."], ["models"]],
    "project_dir": [["."], ["models"]],
    "target_path": [["elsewhere"], [".."]],
    "inline": [["select 1"], ["delete from x"]],
    "macro": [["twice"], ["none"]],
    "arguments": [["{column: a}"], ["[1]"]],
    "mutate": [["fct"], ["stg"], ["none"]],
    "generate": [["guarded"], ["numbers"], ["colours"], ["none"]],
    "retain": [["14d"]],
    "max_scanned": [["50 GiB"], ["none"]],
    "layout": [["given/layout.yml"], ["given/not_sql.txt"]],
    "baseline": [["given/baseline.json"], ["given/layout.yml"]],
    "write_baseline": [["written.json"]],
    "write_catalog": [["written.yml"]],
    "changed": [["HEAD"], ["none"]],
    "branch": [["nightly"], ["a b"]],
    "rules": [["P"], ["P001,correctness"]],
    "ignore": [["P001"], ["none"]],
    "junit": [["junit.xml"]],
    "output": [["written"]],
    "stdin_filename": [["models/fct.sql"], ["given/plain.sql"]],
    "paths": [
        ["models"],
        ["models/fct.sql"],
        ["macros/all.sql"],
        ["given/plain.sql"],
        ["given/not_sql.txt"],
        ["dbt_project.yml"],
        ["data/events.csv"],
        ["none"],
    ],
    "codes": [["P001"], ["K"], ["none"]],
    "name": [["made"], ["models"]],
}
"""Values by parameter name, where a value of the parameter's type alone would only be refused."""
_WITH = {
    "defer": ["--state", "kept"],
    "retain": ["--vacuum"],
    "unsafe_fixes": ["--fix"],
    "junit": ["-s", "numbers"],
    "spark": ["-s", "fct"],
}
"""What an option needs next to it to have an effect."""
_ENDLESS = (["docs", "serve"],)
"""What runs until it is interrupted."""
_SELECTED = (
    "tag:daily",
    "config.materialized:view",
    "state:modified+",
    "result:error",
    "@stg",
    "source:raw",
    "git:HEAD+",
    "test_type:unit",
    "old disabled",
    "1+fct+1,resource_type:model",
)


@dataclass(frozen=True)
class Called:
    """An invocation that has ended."""

    arguments: Sequence[str]
    status: int
    out: str
    err: str
    seconds: float

    @property
    def fault(self) -> str | None:
        """What is wrong with how it ended; None where nothing is."""
        if self.status not in (0, 1, 2):
            return f"exit status {self.status}"
        if found := _FAULT.search(self.out + self.err):
            return found[0]
        return (
            "exit status 2 without a message"
            if self.status == 2 and not self.err.strip() and not self.out.strip()
            else None
        )


@dataclass(frozen=True)
class Part:
    """What is called: all nodes `together`, `each` node alone, all `options`, with `most` of their values.

    Options select `few` nodes where these are given. `shared`: of an option that many commands have, how many of them are
    called with it; None: each.
    """

    together: bool = True
    each: bool = False
    options: bool = False
    most: int | None = None
    few: str | None = None
    shared: int | None = None


def commands() -> dict[str, click.Command]:
    """Return the commands by name, as the command line has them."""
    context = click.Context(cli)
    found = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def _owners(param: click.Parameter) -> list[str]:
    """Return the commands that have a parameter of this name and type, in an order that differs from name to name."""
    same = [
        name
        for name, command in commands().items()
        if any((each.name, str(each.type)) == (param.name, str(param.type)) for each in command.params)
    ]
    turn = len(str(param.name)) % len(same)
    return same[turn:] + same[:turn]


def values(param: click.Parameter) -> Iterator[list[str]]:
    """Yield values of a parameter, as words of the command line."""
    if param.name in _GIVEN and not isinstance(param.type, click.Choice):
        yield from map(list, _GIVEN[str(param.name)])
    elif isinstance(param.type, click.Choice):
        yield from ([str(choice)] for choice in param.type.choices)
    elif isinstance(param.type, click.types.IntParamType | click.types.FloatParamType):
        yield ["1"]
        yield ["-1"]
    else:
        yield ["none"]


def of_option(option: click.Option, most: int | None) -> Iterator[list[str]]:
    """Yield an option with its values, at `most` so many, and with what it needs next to it."""
    name = max(option.opts, key=len)
    beside = _WITH.get(str(option.name))
    if option.is_flag or option._flag_needs_value:
        yield [name]
        if beside:
            yield [name, *beside]
    if not option.is_flag:
        for value in islice(values(option), most):
            yield [name, *value]
            if beside:
                yield [name, *value, *beside]


def leading(command: click.Command) -> Iterator[list[str]]:
    """Yield the arguments that a command may begin with: one choice of each that it needs."""
    found: list[list[str]] = [[]]
    for param in command.params:
        if isinstance(param, click.Argument) and param.required:
            found = [[*words, *value] for words in found for value in values(param)]
    yield from found


def invocations(name: str, command: click.Command, nodes: Sequence[str], part: Part) -> Iterator[list[str]]:
    """Yield what to call of a command: as `part` says."""
    always = ["--available-now"] if name == "stream" else []
    begins = [words for words in leading(command) if [name, *words] not in _ENDLESS]
    for words in begins if part.together else ():
        yield [name, *words, *always]
    begin = [name, *begins[0], *always]
    params = {str(param.name): param for param in command.params}
    if "select" in params and part.together:
        yield [*begin, "-s", *nodes]
        output = params.get("output")
        if output is not None and isinstance(output.type, click.Choice):  # a form may fit some kinds of nodes only
            for choice in output.type.choices:
                yield [*begin, "--output", str(choice), "-s", *nodes]
    if "select" in params and part.each:
        for selected in (*nodes, *_SELECTED):
            yield [*begin, "-s", selected]
    if part.options:
        yield from with_options(name, command, begin, part)


def with_options(name: str, command: click.Command, begin: Sequence[str], part: Part) -> Iterator[list[str]]:
    """Yield a command with each of its options, and with each argument that it can do without."""
    for param in command.params:
        if part.shared is not None and name not in _owners(param)[: part.shared]:
            continue
        if isinstance(param, click.Argument) and not param.required:
            for value in values(param):
                yield [name, *value]
        elif isinstance(param, click.Option) and param.name not in ("select", "available_now"):
            selects = any(each.name == "select" for each in command.params)
            few = ["-s", part.few] if part.few and selects else []
            for words in of_option(param, part.most):
                if selects or "-s" not in words:
                    yield [*begin, *few, *words]


def call(arguments: Sequence[str], folder: Path, env: dict[str, str]) -> Called:
    """Run the command line in a forked process, which has everything imported already."""
    begun = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            _become(arguments, folder, env, out.fileno(), err.fileno())
        _, ended = os.waitpid(child, 0)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    return Called(arguments, os.waitstatus_to_exitcode(ended), *texts, time.monotonic() - begun)


def _become(arguments: Sequence[str], folder: Path, env: dict[str, str], out: int, err: int) -> None:
    status = 70
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.alarm(_SECONDS)
        os.dup2(
            os.open(folder / "models/fct.sql" if (folder / "models/fct.sql").is_file() else os.devnull, os.O_RDONLY), 0
        )
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(env)
        sys.argv = ["merge-runner", *arguments]
        process()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def generated(folder: Path) -> Path:
    """Write the project with every feature, in a git repository, with the artifacts of an earlier run in `kept`."""
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(dedent(text))
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-C", str(folder)]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    return folder


@dataclass(frozen=True)
class Node:
    """A node of a project: its id, its resource type, and how it is selected."""

    unique_id: str
    kind: str
    selected_by: str


def listed(folder: Path, env: dict[str, str]) -> list[Node]:
    """Return the nodes of a project. Exit where it cannot be listed."""
    done = call(["ls", "--output", "json"], folder, env)
    if done.status or not done.out:
        sys.exit(f"no node of {folder} is listed: {done.err}")
    nodes = map(json.loads, done.out.splitlines())
    return [
        Node(
            node["unique_id"],
            node["resource_type"],
            f"source:{node['source_name']}.{node['name']}" if node["resource_type"] == "source" else node["name"],
        )
        for node in nodes
    ]


def fail_all(folder: Path, nodes: Sequence[Node], command: str = "build") -> None:
    """Write run results of a command in which every node has failed."""
    results = [{"unique_id": node.unique_id, "status": "error"} for node in nodes if node.kind != "source"]
    document = {"metadata": {"invocation_id": "i"}, "args": {"which": command}, "results": results}
    folder.mkdir(exist_ok=True)
    (folder / "run_results.json").write_text(json.dumps(document))


def copied(project: Path, folder: Path) -> Path:
    """Copy a project without what it has generated."""
    for name in (*_COPIED, "data_tests" if project == REPOSITORY else "tests"):
        if (project / name).is_dir():
            shutil.copytree(project / name, folder / name)
        elif (project / name).exists():
            folder.mkdir(exist_ok=True)
            shutil.copy(project / name, folder / name)
    return folder


def without_spark(scratch: Path) -> dict[str, str]:
    """Return the environment in which nothing starts a JVM: no jars are at hand, and none can be fetched."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ}
    return {
        **kept,
        "HOME": str(scratch),
        "MERGE_RUNNER_CACHE_DIR": str(scratch / "cache"),
        "MERGE_RUNNER_MAVEN_URL": "http://127.0.0.1:1",
        "MERGE_RUNNER_WARM": "0",
    }


def with_spark(scratch: Path) -> dict[str, str]:
    """Return the environment in which all that is called shares the warm driver of its project."""
    return {**os.environ, "MERGE_RUNNER_WARM": "1", "XDG_RUNTIME_DIR": str(scratch)}


def prepare(folder: Path) -> None:
    """Run some commands in this process, so that what they import and compile is there in every fork."""
    at = Path.cwd()
    os.chdir(folder)
    for command in ("ls", "lint", "explain"):
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()), suppress(SystemExit):
            main([command])
    shutil.rmtree("target", ignore_errors=True)
    os.chdir(at)
    gc.freeze()  # a collection in a fork would copy all pages of this process


def run(folder: Path, names: Sequence[str], env: dict[str, str], part: Part) -> tuple[int, int]:
    """Call everything in a project, and print what is at fault; return how many were called, and how many are."""
    nodes = listed(folder, env)
    selected = [node.selected_by for node in nodes]
    call(["parse", "--target-path", "kept"], folder, env)
    fail_all(folder / "kept", nodes)
    count = wrong = 0
    for name, command in commands().items():
        if names and name not in names:
            continue
        for arguments in invocations(name, command, selected, part):
            if name == "retry":
                fail_all(folder / "target", nodes, ("build", "test", "optimize", "run")[count % 4])
            done = call(arguments, folder, env)
            count += 1
            shown = f"{folder.name}: {done.status} {done.seconds:6.2f} s  merge-runner {' '.join(arguments)}"
            if done.fault is not None:
                wrong += 1
                print(f"{shown}\n    FAULT: {done.fault}\n{done.err[-2000:]}", flush=True)
            elif "VERBOSE" in os.environ:
                print(shown, flush=True)
    return count, wrong


def script() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", help="these commands alone")
    parser.add_argument("--spark", action="store_true", help="on a warm driver; default: nothing starts a JVM")
    parser.add_argument("--brief", action="store_true", help="each command on all nodes together, without options")
    parser.add_argument(
        "--options", action="store_true", help="each option with one value of it, on one command that has it"
    )
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # the warm driver is stopped then
    with tempfile.TemporaryDirectory(prefix="mr") as name:
        scratch = Path(name)
        env = with_spark(scratch) if asked.spark else without_spark(scratch)
        project = generated(scratch / "generated")
        prepare(project)
        if asked.spark:
            call(["warm", "start", "--idle", "5"], project, env)
        try:
            # On Spark all nodes are selected together: each of them alone is called without it.
            few = "numbers" if asked.spark else None
            complete = not asked.brief and not asked.options
            part = Part(
                together=not asked.options,
                each=complete and not asked.spark,
                options=complete or asked.options,
                most=None if complete else 1,
                few=few,
                shared=1 if asked.options else None,
            )
            done = [run(project, asked.commands, env, part)]
            if complete and not asked.spark:
                projects = (
                    REPOSITORY,
                    *sorted(file.parent for file in (REPOSITORY / "examples").glob("*/profiles.yml")),
                )
                done += [run(copied(path, scratch / path.name), asked.commands, env, Part()) for path in projects]
        finally:
            if asked.spark:
                call(["warm", "stop"], project, env)
    count, wrong = map(sum, zip(*done, strict=True))
    print(f"{count:,} invocations, {wrong} at fault")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    script()
