"""`merge-runner eject`."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.cli.command import command as make
from merge_runner.cli.completion import model_names
from merge_runner.cli.display.messages import say, show
from merge_runner.cli.loading import load_project
from merge_runner.options.declaration import argument
from merge_runner.options.project import ProjectOptions


@dataclass(frozen=True)
class Options(ProjectOptions):
    """The options of `eject`."""

    model: str = argument(metavar="MODEL", complete=model_names)


@make("eject", Options)
def command(options: Options) -> int:
    """Write the MERGE of MODEL, which a macro of merge_patterns writes, into the model's file.

    `ref`, `source`, `this`, vars and `is_incremental()` are kept: the model renders to the same text as before,
    whatever they are. Where something cannot be kept, the file is left as it is.
    """
    file = load_project(options).eject(options.model)
    show(str(file))
    if not options.quiet:
        say(f"the MERGE of {options.model} is written out, and renders to the same text as before")
    return 0
