"""What a server may do: the project as it was accepted at the start, and the driver of its tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from merge_runner.api.warm import WarmStart
from merge_runner.cli.commands.mcp_server.arguments import command_words
from merge_runner.cli.commands.mcp_server.call import CommandResult, call
from merge_runner.cli.commands.mcp_server.tools import BUILD, READING_TOOLS, Tool
from merge_runner.cli.host import Host
from merge_runner.errors import Problem, ProblemsError
from merge_runner.run.results.results import run_results_text
from merge_runner.version import version

if TYPE_CHECKING:
    from merge_runner.api.accepted_project import AcceptedProject
    from merge_runner.api.project import Project
    from merge_runner.graph.selection.select import Selection
    from merge_runner.run.results.results import Command, RunResults

_WARM_MINUTES = 30
"""After which the driver ends, where no tool needs it and the server was not ended."""


class Session:
    """The tools of one server. `accepted_project` None: the project could not be loaded, and no tool gets Spark.

    `values` are the options that say which project; each command gets them. With `may_write` there is the tool `build`.
    """

    def __init__(self, accepted_project: AcceptedProject | None, values: Mapping[str, Any], *, may_write: bool) -> None:
        self.tools: tuple[Tool, ...] = (*READING_TOOLS, BUILD) if may_write else READING_TOOLS
        self._accepted_project = accepted_project
        self._values = values
        self._may_write = may_write
        self._driver = WarmStart(_WARM_MINUTES, _refuse if accepted_project is None else accepted_project.check_output)
        self._host = Host(start=self._driver, queries_only=True, permit=self._permit, on_results=_print_results)

    def call(self, tool: Tool, arguments: Mapping[str, Any]) -> CommandResult:
        """Run the command of a tool."""
        if tool is BUILD and not arguments.get("select"):
            arguments = {**arguments, "select": self._may_be_built()}
        words = command_words(tool.kind, {**self._values, **arguments, "quiet": True})
        return call([tool.name, *tool.words, *words], self._host)

    def close(self) -> None:
        """End the driver that was started here."""
        self._driver.close()

    def _may_be_built(self) -> list[str]:
        merges = self._accepted_project.merges if self._accepted_project is not None else ()
        return [f"fqn:{unique_id.split('.', 2)[2]}" for unique_id in merges]

    def _permit(self, command: Command, project: Project, selection: Selection) -> None:
        """Raise ProblemsError where a command may not run these nodes."""
        if self._accepted_project is None:
            _refuse(project)
        elif command == "build":
            self._accepted_project.check_build(project.prepared, selection.ids)
        else:
            self._accepted_project.check_test(project.prepared, selection.ids, may_write=self._may_write)


def _refuse(_project: object) -> None:
    """Raise ProblemsError: nothing of the project was accepted."""
    message = "the project could not be loaded when the server was started, so nothing of it was accepted"
    hint = "mend it (`lint` says how); then the user starts the server again"
    raise ProblemsError([Problem("not-accepted", message, hint=hint)])


def _print_results(results: RunResults) -> None:
    """Print what run_results.json has."""
    click.echo(run_results_text(results, version()))
