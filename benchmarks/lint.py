"""`merge-runner lint` against `dbt parse`, over the same number of merge models, each as a whole process.

    python benchmarks/lint.py [--models 1000] [--large 10000] [--rounds 3] [--dbt PATH] [--cache FOLDER]

Two generated projects say the same: for merge-runner hand-written MERGE models, for dbt incremental models with
`incremental_strategy='merge'` and the same YAML (ten columns and two data tests a model, twenty models a file).
dbt-core<1.12 and dbt-spark get a virtual environment of their own, made once in the cache folder, with the `session`
method, so that no server is asked. `dbt parse` stops before a single MERGE is generated, and lint reads and judges each.

cold     the cache folder is removed before every run; dbt with --no-partial-parse
warm     the same again, nothing has changed
changed  one model in the middle has another comment since the last run

Contenders take turns. CPU seconds are told beside the wall clock: they say more on a machine that is not idle. Peak memory is `ru_maxrss` of the process and of the processes that it has waited for, whichever
is larger (so says wait4), and for a command that spreads over processes also the sum over them, sampled from /proc.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dbt_environment import CACHE, QUIET, dbt_command

LAYERS = 10
PER_YAML_FILE = 20

COLUMNS = (
    "event_id",
    "day",
    "customer_id",
    "region",
    "status",
    "amount",
    "quantity",
    "note",
    "created_at",
    "updated_at",
)
TYPES = ("bigint", "date", "bigint", "string", "string", "decimal(18, 2)", "int", "string", "timestamp", "timestamp")


def query(parent: str, where: str) -> str:
    """The source query, which both projects have."""
    columns = ",\n        ".join(f"e.{name}" for name in COLUMNS)
    return f"""    select
        {columns}
    from {{{{ {parent} }}}} as e
    where {where}"""


SETS = ",\n    ".join(f"{name} = s.{name}" for name in COLUMNS[2:])
VALUES = ", ".join(f"s.{name}" for name in COLUMNS)

SHAPES = (
    # a late arrival wins
    """    on t.event_id = s.event_id
    and t.day = s.day
when matched and s.updated_at > t.updated_at then update set *
when not matched then insert *
""",
    # a window of days
    f"""    on t.event_id = s.event_id
    and t.day = s.day
    and t.day >= date'2024-01-01'
when matched and s.status = 'deleted' then delete
when matched and s.updated_at > t.updated_at then update set
    {SETS}
when not matched and s.day >= date'2024-01-01' and s.status <> 'deleted' then insert
    ({", ".join(COLUMNS)})
    values ({VALUES})
""",
    # what came is kept
    """    on t.event_id = s.event_id
    and t.day between date'2024-01-01' and date'2024-12-31'
    and t.day = s.day
when not matched and s.day between date'2024-01-01' and date'2024-12-31' then insert *
""",
    # the source is the truth about its day
    f"""    on t.event_id <=> s.event_id
    and t.day = s.day
when matched then update set
    {SETS}
when not matched then insert
    ({", ".join(COLUMNS)})
    values ({VALUES})
when not matched by source and t.day >= date'2024-06-01' and t.status <> 'final' then update set
    status = 'gone'
""",
    # a few expressions
    f"""    on t.event_id = s.event_id
    and t.day = s.day
when matched and (t.status <> 'final' or t.updated_at < s.updated_at) and coalesce(s.amount, 0) <> coalesce(t.amount, 0) then update set
    amount = cast(s.amount + t.amount as decimal(18, 2)),
    quantity = case when s.quantity > 0 then s.quantity else t.quantity end,
    note = concat_ws(' ', t.note, s.note),
    updated_at = greatest(s.updated_at, t.updated_at)
when not matched then insert
    ({", ".join(COLUMNS)})
    values ({VALUES})
""",
)

WEIGHTS = (8, 6, 4, 1, 6)
"""How often each shape comes: most projects are clean, and BY SOURCE is rare."""

MACROS = """{% macro in_window(column) -%}
    {{ column }} >= date'2024-01-01' and {{ column }} < date'2025-01-01'
{%- endmacro %}

{% macro not_internal(alias) -%}
    {{ alias }}.customer_id is not null and {{ alias }}.region <> {{ var('internal_region', 'internal') | literal }}
{%- endmacro %}
"""

ENTRY = """  - name: {name}
    description: Events of layer {layer}, as they were last told.
    columns:
"""


@dataclass(frozen=True)
class Model:
    """One model of both projects."""

    number: int
    layer: int
    parent: str
    shape: int
    where: str

    @property
    def name(self) -> str:
        return f"model_{self.number:05}"


def models(count: int) -> list[Model]:
    """The models, in ten layers; three of ten filter by a macro call."""
    dice = random.Random(7)
    per_layer = max(1, count // LAYERS)
    made: list[Model] = []
    for number in range(count):
        layer = min(number // per_layer, LAYERS - 1)
        parent = "source('raw', 'events')"
        if layer:
            parent = f"ref('model_{dice.randrange((layer - 1) * per_layer, layer * per_layer):05}')"
        where = "e.day >= date'2024-01-01' and e.amount is not null"
        if dice.random() < 0.3:
            where = dice.choice(["{{ in_window('e.day') }}", "{{ not_internal('e') }}"])
        made.append(Model(number, layer, parent, dice.choices(range(len(SHAPES)), WEIGHTS)[0], where))
    return made


def write_models(root: Path, made: list[Model], text: Callable[[Model], str], tests: str) -> None:
    """The SQL and YAML files; `tests` is the key of a column's tests."""
    folders = [root / "models" / f"layer_{layer}" for layer in range(LAYERS)]
    for folder in folders:
        folder.mkdir(parents=True)
    for model in made:
        (folders[model.layer] / f"{model.name}.sql").write_text(text(model))
    for layer, folder in enumerate(folders):
        inside = [model for model in made if model.layer == layer]
        for start in range(0, len(inside), PER_YAML_FILE):
            entries = "".join(entry(model, tests) for model in inside[start : start + PER_YAML_FILE])
            (folder / f"models_{start:05}.yml").write_text(f"version: 2\nmodels:\n{entries}")
    table = "".join(column(name, type_) for name, type_ in zip(COLUMNS, TYPES, strict=True))
    source = f"version: 2\nsources:\n  - name: raw\n    tables:\n      - name: events\n        columns:\n{indented(table, 4)}"
    (root / "models" / "sources.yml").write_text(source)


def entry(model: Model, tests: str) -> str:
    """The YAML of a model: ten columns, two of them tested."""
    lines = [column(name, type_) for name, type_ in zip(COLUMNS, TYPES, strict=True)]
    for tested in (0, 1):
        lines[tested] += f"        {tests}: [not_null]\n"
    return ENTRY.format(name=model.name, layer=model.layer) + "".join(lines)


def column(name: str, type_: str) -> str:
    """The YAML of a column."""
    return f"      - name: {name}\n        data_type: {type_}\n        description: The {name} of an event.\n"


def indented(text: str, blanks: int) -> str:
    """Every line of `text` moved to the right."""
    return "".join(" " * blanks + line for line in text.splitlines(keepends=True))


def write_ours(root: Path, made: list[Model]) -> None:
    """The merge-runner project."""
    (root / "macros").mkdir(parents=True)
    (root / "macros" / "filters.sql").write_text(MACROS)
    (root / "pyproject.toml").write_text('[tool.merge-runner]\nname = "bench"\n')
    (root / "profiles.yml").write_text("bench: {outputs: {dev: {schema: bench}}}\n")

    def text(model: Model) -> str:
        config = f"{{{{ config(unique_key=['event_id', 'day'], partition_by=['day'], tags=['layer_{model.layer}']) }}}}"
        source = query(model.parent, model.where)
        return f"{config}\n\nmerge into {{{{ this }}}} as t\nusing (\n{source}\n) as s\n{SHAPES[model.shape]}"

    write_models(root, made, text, "data_tests")


def write_dbt(root: Path, made: list[Model]) -> None:
    """The dbt project; its MERGE is the one that dbt generates from these configs."""
    (root / "macros").mkdir(parents=True)
    macros = MACROS.replace(
        "{{ var('internal_region', 'internal') | literal }}", "'{{ var('internal_region', 'internal') }}'"
    )
    (root / "macros" / "filters.sql").write_text(macros)
    (root / "dbt_project.yml").write_text("name: bench\nprofile: bench\nversion: '1.0'\nconfig-version: 2\n")
    output = "{type: spark, method: session, schema: bench, host: NA, threads: 1}"
    (root / "profiles.yml").write_text(f"bench:\n  target: dev\n  outputs:\n    dev: {output}\n")

    def text(model: Model) -> str:
        config = (
            "{{ config(materialized='incremental', incremental_strategy='merge', file_format='delta', "
            f"unique_key=['event_id', 'day'], partition_by=['day'], tags=['layer_{model.layer}'],\n"
            """    incremental_predicates=["DBT_INTERNAL_DEST.day >= date'2024-01-01'"]) }}"""
        )
        return f"{config}\n\n{query(model.parent, model.where)}\n"

    write_models(root, made, text, "data_tests")


@dataclass
class Contender:
    """A command in its project: what it took so far."""

    name: str
    command: list[str]
    cold_flags: list[str]
    root: Path
    seconds: dict[str, list[float]] = field(default_factory=dict)
    cpu: dict[str, list[float]] = field(default_factory=dict)
    largest: dict[str, list[float]] = field(default_factory=dict)
    summed: dict[str, list[float]] = field(default_factory=dict)

    def run(self, case: str) -> None:
        """One round of a case."""
        if case == "cold":
            shutil.rmtree(self.root / ".cache", ignore_errors=True)
        if case == "changed":
            change_one(self.root)
        command = self.command + (self.cold_flags if case == "cold" else [])
        seconds, cpu, largest, summed = measured(command, self.root)
        self.seconds.setdefault(case, []).append(seconds)
        self.cpu.setdefault(case, []).append(cpu)
        self.largest.setdefault(case, []).append(largest)
        self.summed.setdefault(case, []).append(summed)
        print(f"{self.name} {case}: {seconds:.2f} s, CPU {cpu:.2f} s, {largest:.0f} MB", file=sys.stderr)

    def median(self, case: str) -> float:
        """The median of the seconds."""
        return statistics.median(self.seconds[case])


def change_one(root: Path) -> None:
    """Another comment at the end of a model of the middle layer."""
    model = min((root / "models" / f"layer_{LAYERS // 2}").glob("*.sql"))
    text = model.read_text().partition("-- changed")[0]
    model.write_text(f"{text}-- changed {time.monotonic_ns()}\n")


def measured(command: list[str], root: Path) -> tuple[float, float, float, float]:
    """Seconds, CPU seconds, the largest process in MB, and the largest sum over the processes of the command in MB."""
    with tempfile.TemporaryFile() as output:
        started = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=root,
            stdout=output,
            stderr=output,
            env={**os.environ, **QUIET, "HOME": str(root), "MERGE_RUNNER_CACHE_DIR": str(root / ".cache")},
        )
        sampler = Sampler(process.pid)
        sampler.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - started
        sampler.stop()
        code = process.returncode = os.waitstatus_to_exitcode(status)
        if code not in (0, 1):  # 1 is a finding
            output.seek(0)
            sys.exit(f"{' '.join(command)} ended with {code}:\n{output.read().decode()[-3000:]}")
    kilobytes = 1024 * 1024 if sys.platform == "darwin" else 1024
    largest = usage.ru_maxrss / kilobytes
    return seconds, usage.ru_utime + usage.ru_stime, largest, max(largest, sampler.peak)


class Sampler(threading.Thread):
    """Adds up the resident memory of a process and its children ten times a second (Linux only)."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid = pid
        self.peak = 0.0
        self._stopped = threading.Event()

    def run(self) -> None:
        while not self._stopped.wait(0.1):
            self.peak = max(self.peak, sum(map(resident, family(self.pid))))

    def stop(self) -> None:
        """Ends the sampling."""
        self._stopped.set()
        self.join()


def family(pid: int) -> list[int]:
    """A process and what it started, down to the last."""
    found = [pid]
    for member in found:
        for task in Path(f"/proc/{member}/task").glob("*/children"):
            try:
                found += [int(child) for child in task.read_text().split()]
            except OSError:
                continue
    return found


def resident(pid: int) -> float:
    """The proportional share of memory in MB, so that pages shared by forks count once; 0 where it has ended."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description="merge-runner lint against dbt parse.")
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--large", type=int, default=10_000, help="models of the large project; 0 leaves it out")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dbt", help="the dbt to run; default: one installed into the cache folder")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--command", default="lint", help="our command, with its arguments")
    parser.add_argument("--only", choices=["dbt", "ours"], help="measure one of the two")
    parser.add_argument("--keep", type=Path, help="write the projects into this folder and keep them")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        bench(arguments, arguments.keep or Path(temporary))


def bench(arguments: argparse.Namespace, folder: Path) -> None:
    """Writes the projects into the folder, runs the rounds and prints the table."""
    ours = [sys.executable, "-m", "merge_runner", *arguments.command.split()]
    contenders: list[Contender] = []
    for name, count in (("ours", arguments.models), ("large", arguments.large)):
        if count and arguments.only != "dbt":
            fresh(folder / name)
            write_ours(folder / name, models(count))
            contenders.append(Contender(name, ours, [], folder / name))
    if arguments.only != "ours":
        fresh(folder / "dbt")
        write_dbt(folder / "dbt", models(arguments.models))
        dbt = [dbt_command(arguments.dbt, arguments.cache), "parse"]
        contenders.append(Contender("dbt", dbt, ["--no-partial-parse"], folder / "dbt"))
    for _ in range(arguments.rounds):
        for case in ("cold", "warm", "changed"):
            for contender in contenders:
                contender.run(case)
    report({contender.name: contender for contender in contenders}, arguments)


def fresh(folder: Path) -> None:
    """An empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def report(by_name: dict[str, Contender], arguments: argparse.Namespace) -> None:
    """Prints the medians, and the ratios with what is required of them."""
    labels = {
        "ours": f"merge-runner {arguments.command}, {arguments.models:,} models",
        "large": f"merge-runner {arguments.command}, {arguments.large:,} models",
        "dbt": f"dbt parse, {arguments.models:,} models",
    }
    print(
        "| command | cold | warm | one model changed | CPU cold, warm | peak memory cold, warm | all its processes |\n|---|---|---|---|---|---|---|"
    )
    for name, contender in by_name.items():
        times = " | ".join(f"{contender.median(case):.2f} s" for case in ("cold", "warm", "changed"))
        cpu = ", ".join(f"{statistics.median(contender.cpu[case]):.2f} s" for case in ("cold", "warm"))
        largest = ", ".join(f"{max(contender.largest[case]):.0f} MB" for case in ("cold", "warm"))
        print(f"| {labels[name]} | {times} | {cpu} | {largest} | {max(map(max, contender.summed.values())):.0f} MB |")
    rows = ratios(by_name, arguments)
    if rows:
        print("\n| ratio of medians | measured | required |\n|---|---|---|")
        for row in rows:
            print(f"| {' | '.join(row)} |")


def ratios(by_name: dict[str, Contender], arguments: argparse.Namespace) -> list[tuple[str, str, str]]:
    """What is compared, the figure, and what is required of it."""
    rows: list[tuple[str, str, str]] = []
    ours, large, dbt = (by_name.get(name) for name in ("ours", "large", "dbt"))
    if ours and dbt:
        for case, required in (("cold", "≤ 0.30"), ("warm", "≤ 0.12"), ("changed", "")):
            rows += [(f"{case}: lint to dbt parse", f"{ours.median(case) / dbt.median(case):.2f}", required)]
    if ours and large:
        growth = f"{arguments.large:,} models to {arguments.models:,}"
        required = "≤ 12" if arguments.large == 10 * arguments.models else ""
        for case in ("cold", "warm"):
            rows += [(f"{growth}, {case}", f"{large.median(case) / ours.median(case):.1f}", required)]
    if ours:
        peak = max(map(max, ours.summed.values()))
        required = "≤ 300 MB" if arguments.models == 1000 else ""
        rows += [(f"peak memory of lint, {arguments.models:,} models", f"{peak:.0f} MB", required)]
    return rows


if __name__ == "__main__":
    main()
