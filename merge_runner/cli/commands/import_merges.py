"""`merge-runner import`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from merge_runner.api import import_dbt, import_merges
from merge_runner.cli.command import command as make
from merge_runner.cli.display.messages import counted, say, show
from merge_runner.cli.display.problems import show_warnings
from merge_runner.errors import Problem
from merge_runner.options.declaration import argument, option
from merge_runner.options.output import OutputOptions
from merge_runner.project.schema.profile import Adapter

if TYPE_CHECKING:
    from merge_runner.conversion.dbt.todo import Todo

_DBT = "dbt"
_MOST_REASONS = 6
"""Why something is left out, in the line that counts it."""


@dataclass(frozen=True)
class Options(OutputOptions):
    """The options of `import`."""

    paths: tuple[Path, ...] = argument(())
    to: Path | None = option("--to", metavar="DIR", help="The folder of the project that the models are written into.")
    adapter: Adapter | None = option(
        "--adapter", help="The adapter of the dbt project, where neither its manifest nor its profile is here."
    )


@make("import", Options)
def command(options: Options) -> int:
    """Write a model for each MERGE of PATHS: scripts, notebooks, Python and Scala code, builders.

    Sources are declared, with the layouts that CREATE and ALTER TABLE in PATHS describe. IMPORT.md lists what is left
    to decide. No existing file is changed.

    `import dbt DIR` writes a project that does what the dbt project in DIR does: its incremental models and snapshots
    become MERGEs. import_report.md lists what is left to decide.
    """
    if not options.paths:
        raise click.UsageError("name the files or folders with MERGEs: `merge-runner import jobs/ --to shop`.")
    if options.to is None:
        raise click.UsageError("name the folder of the project with --to DIR.")
    if len(options.paths) == 2 and str(options.paths[0]) == _DBT:
        return _import_dbt(options, options.paths[1], options.to)
    return _import_merges(options, options.to)


def _import_merges(options: Options, to: Path) -> int:
    imported = import_merges(options.paths, to)
    for file in imported.files:
        show(str(file))
    show_warnings(imported.left_out, as_errors=options.warn_error)
    if not options.quiet:
        for decision in imported.decisions:
            say(f"{decision.place}: {decision.model}: {decision.text}")
        models = counted(len(imported.models), "model")
        left = counted(len(imported.decisions), "decision")
        say(f"\n{models} written, {left} left to make (IMPORT.md); next: cd {to} && merge-runner lint")
    return 0


def _import_dbt(options: Options, path: Path, to: Path) -> int:
    imported = import_dbt(path, to, adapter=options.adapter)
    for file in imported.files:
        show(str(file))
    left_out = [todo for todo in imported.todos if todo.kind == "left-out"]
    warned = [Problem("not-imported", todo.message, todo.place, todo.hint) for todo in left_out]
    warned += [Problem("decide", todo.message, todo.place, todo.hint) for todo in imported.todos if todo.warns]
    show_warnings(warned, as_errors=options.warn_error)
    if not options.quiet:
        models, decide = counted(len(imported.models), "model"), len(imported.todos) - len(left_out)
        say(
            f"\n{models} written, {_count_reasons(left_out)}, {counted(decide, 'decision')} left to make "
            f"(import_report.md); next: cd {to} && merge-runner lint"
        )
    return 0


def _count_reasons(left_out: Sequence[Todo]) -> str:
    """Return how much is left out, and of each reason how often it is one, the most frequent first."""
    reasons = Counter(todo.reason for todo in left_out)
    parts = [f"{count} × {reason}" if count > 1 else reason for reason, count in reasons.most_common(_MOST_REASONS)]
    if (others := len(reasons) - len(parts)) > 0:
        parts.append(counted(others, "other reason"))
    return f"{len(left_out)} left out" + (f" ({'; '.join(parts)})" if parts else "")
