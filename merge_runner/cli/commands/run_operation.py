"""`merge-runner run-operation`."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.cli.command import command as make
from merge_runner.cli.completion import macro_names
from merge_runner.cli.display.messages import counted, say, show
from merge_runner.cli.display.problems import show_problems
from merge_runner.cli.loading import load_project
from merge_runner.cli.node_commands import display_for
from merge_runner.options.declaration import argument, option
from merge_runner.options.project import ProjectOptions
from merge_runner.project.load.load import parse_arguments


@dataclass(frozen=True)
class Options(ProjectOptions):
    """The options of `run-operation`."""

    macro: str = argument(metavar="MACRO", complete=macro_names)
    arguments: str | None = option("--args", metavar="YAML", help="The macro's arguments, as '{name: value, …}'.")


@make("run-operation", Options)
def command(options: Options) -> int:
    """Call a macro that may execute statements, with `run_query` or a `statement` block.

    Prints what the macro returns, or the text that it renders to. The exit status is 1 where the macro fails.
    """
    arguments = parse_arguments(options.arguments or "")
    project = load_project(options, secrets=True)
    display = display_for(options, project.graph)
    try:
        operation = project.run_operation(options.macro, arguments, on_event=display)
    finally:
        display.close()
    if not operation.ok:
        show_problems(operation.problems)
        return 1
    text = "" if operation.returned is None else str(operation.returned).strip()
    if text:
        show(text)
    if not options.quiet:
        say(f"{operation.macro}: {counted(operation.statements, 'statement')} executed")
    return 0
