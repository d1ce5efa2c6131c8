"""What one changed file costs in a project whose models all call macros: `lint`, `lint FILE` and `ls`.

    python benchmarks/incremental.py [--models 1000] [--large 10000] [--rounds 5] [--dbt PATH | --no-dbt]
        [--profile FOLDER]

The project is that of benchmarks/lint.py (ten layers, ten columns and two data tests a model, twenty models a YAML file)
with more to read: each model calls macros with branches and loops, which call others, and reads vars; one in twenty
differs between an incremental and a first run. dbt has the same models with the same macros.

lint cold      the cache folder is removed before
lint warm      the same again, nothing has changed
lint changed   one model in the middle has another condition since the last run
lint file      that model alone, changed again
ls cold, warm  with and without the cache folder

The same is measured once over the large project, without dbt (`--large 0` leaves it out). At the end comes what is aimed
at, with what was measured: the smallest processor times, and the largest memory of all processes of a command together.

Processor time is that of the process and those that it waited for. `--profile` writes what cProfile says of each case.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path

from dbt_environment import CACHE, dbt_command
from lint import LAYERS, SHAPES, Model, fresh, measured, models, query, write_models

MACROS = {
    "windows.sql": """{% macro window_start() -%}
    date'{{ var('window_start', '2024-01-01') }}'
{%- endmacro %}

{% macro in_window(column, end=none) -%}
    {{ column }} >= {{ window_start() }}
    {%- if end is not none %} and {{ column }} < date'{{ end }}'{% endif %}
{%- endmacro %}
""",
    "filters.sql": """{% macro one_of(column, values) -%}
    {{ column }} in ({% for value in values %}'{{ value }}'{% if not loop.last %}, {% endif %}{% endfor %})
{%- endmacro %}

{% macro not_internal(alias) -%}
    {%- set column = alias ~ '.region' -%}
    {{ alias }}.customer_id is not null and not ({{ one_of(column, var('internal_regions', ['internal', 'test'])) }})
{%- endmacro %}
""",
}
LATE = "\n        {% if is_incremental() %}and e.updated_at >= {{ window_start() }}{% endif %}"
CASES = ("lint cold", "lint warm", "lint changed", "lint file", "ls cold", "ls warm")


def where(model: Model) -> str:
    """The condition of a model: calls of macros that call others."""
    end = ", end='2025-01-01'" if model.number % 2 else ""
    late = LATE if model.number % 20 == 7 else ""
    return f"{{{{ in_window('e.day'{end}) }}}}\n        and {{{{ not_internal('e') }}}}{late}"


def write(root: Path, made: list[Model], dbt: bool) -> None:
    """One of the two projects."""
    fresh(root)
    (root / "macros").mkdir()
    for name, text in MACROS.items():
        (root / "macros" / name).write_text(text)
    if dbt:
        (root / "dbt_project.yml").write_text(
            "name: bench\nprofile: bench\nversion: '1.0'\nconfig-version: 2\nvars: {window_start: '2024-01-01'}\n"
        )
        output = "{type: spark, method: session, schema: bench, host: NA, threads: 1}"
        (root / "profiles.yml").write_text(f"bench:\n  target: dev\n  outputs:\n    dev: {output}\n")
    else:
        settings = '[tool.merge-runner]\nname = "bench"\n\n[tool.merge-runner.vars]\nwindow_start = "2024-01-01"\n'
        (root / "pyproject.toml").write_text(settings)
        (root / "profiles.yml").write_text("bench: {outputs: {dev: {schema: bench}}}\n")

    def text(model: Model) -> str:
        keys = f"unique_key=['event_id', 'day'], partition_by=['day'], tags=['layer_{model.layer}']"
        source = query(model.parent, where(model))
        if dbt:
            kind = "materialized='incremental', incremental_strategy='merge', file_format='delta'"
            return f"{{{{ config({kind}, {keys}) }}}}\n\n{source}\n"
        merge = f"merge into {{{{ this }}}} as t\nusing (\n{source}\n) as s\n{SHAPES[model.shape]}"
        return f"{{{{ config({keys}) }}}}\n\n{merge}"

    write_models(root, made, text, "data_tests")


def middle(root: Path) -> Path:
    """The model that changes."""
    return min((root / "models" / f"layer_{LAYERS // 2}").glob("*.sql"))


def change(root: Path) -> None:
    """Another condition in the model of the middle."""
    file = middle(root)
    text = file.read_text()
    begin = text.index("    where ") + len("    where ")
    first = text[begin:].removeprefix("e.amount > ")
    number, _, rest = first.partition(" and ") if first != text[begin:] else ("", "", first)
    file.write_text(f"{text[:begin]}e.amount > {int(number or 0) + 1} and {rest}")


@dataclass
class Measured:
    """What the rounds of one case took."""

    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        wall, cpu, memory = statistics.median(self.seconds), statistics.median(self.cpu), max(self.memory)
        return f"{wall:.2f} s | {cpu:.2f} s | {min(self.cpu):.2f} s | {memory:.0f} MB"


def arguments_of(case: str, root: Path) -> list[str]:
    """The command line of a case."""
    command, _, how = case.partition(" ")
    return [command, str(middle(root).relative_to(root))] if how == "file" else [command]


def prepare(case: str, root: Path) -> None:
    """Bring about what the case begins with."""
    if case.endswith("cold"):
        shutil.rmtree(root / ".cache", ignore_errors=True)
    if case in ("lint changed", "lint file"):
        change(root)


@dataclass(frozen=True)
class Aim:
    """A figure, and what it is to be at most."""

    what: str
    measured: float
    most: float
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.what} | {self.measured:.2f}{self.unit} | {self.most:g}{self.unit}"


def aims(found: Mapping[str, Measured], large: Mapping[str, Measured]) -> Iterator[Aim]:
    """What is aimed at for 1,000 models, and for the large project."""
    cpu = {name: min(one.cpu) for name, one in found.items()}
    for case, most in (("cold", 0.40), ("changed", 0.20)):
        if f"dbt parse {case}" in cpu:
            yield Aim(f"lint {case}, ratio to dbt parse", cpu[f"lint {case}"] / cpu[f"dbt parse {case}"], most)
    for case, seconds in (("lint warm", 0.30), ("lint file", 0.60), ("ls warm", 0.40)):
        yield Aim(case, cpu[case], seconds, " s")
    yield Aim("memory", max(max(found[case].memory) for case in CASES), 200, " MB")
    if large:
        yield Aim("large: lint cold, ratio to 1,000 models", min(large["lint cold"].cpu) / cpu["lint cold"], 11)
        yield Aim("large: memory", max(max(large[case].memory) for case in CASES), 500, " MB")


def rounds(ours: Path, dbt: tuple[str, Path] | None, count: int) -> dict[str, Measured]:
    """Take turns, and return what was measured."""
    found: dict[str, Measured] = {}

    def run(name: str, command: list[str], root: Path) -> None:
        seconds, cpu, _, memory = measured(command, root)
        one = found.setdefault(name, Measured())
        one.seconds.append(seconds)
        one.cpu.append(cpu)
        one.memory.append(memory)
        print(f"{name}: {seconds:.2f} s, processor {cpu:.2f} s, {memory:.0f} MB", file=sys.stderr)

    for _ in range(count):
        for case in CASES:
            prepare(case, ours)
            run(case, [sys.executable, "-m", "merge_runner", *arguments_of(case, ours)], ours)
        if dbt is not None:
            command, root = dbt
            for case, flags in (("cold", ["--no-partial-parse"]), ("warm", []), ("changed", [])):
                prepare(f"lint {case}", root)
                run(f"dbt parse {case}", [command, "parse", *flags], root)
    return found


def profile(root: Path, folder: Path) -> None:
    """Write what cProfile says of each case, in one process: what is imported counts for the first case alone."""
    import cProfile
    import io
    import pstats

    from merge_runner.cli.main import main as run

    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(root)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])  # a profiler sees no other process
    for case in CASES:
        prepare(case, root)
        profiler = cProfile.Profile()
        started = time.process_time()
        with suppress(SystemExit), redirect_stdout(io.StringIO()):
            profiler.runcall(run, arguments_of(case, root))
        text = io.StringIO()
        statistics_ = pstats.Stats(profiler, stream=text)
        statistics_.sort_stats("cumulative").print_stats(60)
        statistics_.sort_stats("tottime").print_stats(40)
        name = case.replace(" ", "_")
        (folder / f"{name}.txt").write_text(text.getvalue())
        print(f"{case}: {time.process_time() - started:.2f} s with the profiler", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description="What one changed file costs in a project with macros.")
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--large", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dbt", help="the dbt to compare with; default: one installed into the cache folder")
    parser.add_argument("--no-dbt", action="store_true", help="measure merge-runner alone")
    parser.add_argument("--profile", type=Path, metavar="FOLDER", help="write profiles instead of measuring")
    parser.add_argument("--keep", type=Path, help="write the projects into this folder and keep them")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.keep or Path(temporary)).absolute()
        made = models(arguments.models)
        write(folder / "ours", made, dbt=False)
        if arguments.profile:
            profile(folder / "ours", arguments.profile.absolute())
            return
        dbt = None
        if not arguments.no_dbt:
            write(folder / "dbt", made, dbt=True)
            dbt = (dbt_command(arguments.dbt, CACHE), folder / "dbt")
        found = rounds(folder / "ours", dbt, arguments.rounds)
        large = {}
        if arguments.large:
            write(folder / "large", models(arguments.large), dbt=False)
            large = rounds(folder / "large", None, 1)
        print("| case | wall, median | processor, median | processor, smallest | peak memory |\n|---|---|---|---|---|")
        for count, each in ((arguments.models, found), (arguments.large, large)):
            for name, one in each.items():
                print(f"| {name}, {count:,} models | {one} |")
        print("\n| aim | measured | at most |\n|---|---|---|")
        for aim in aims(found, large):
            print(f"| {aim} |")


if __name__ == "__main__":
    main()
