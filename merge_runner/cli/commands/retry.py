"""`merge-runner retry`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merge_runner.api.set_up import target_folder
from merge_runner.cli.command import command as make
from merge_runner.cli.command import names_on_command_line
from merge_runner.cli.display.messages import say
from merge_runner.cli.display.problems import show_no_effect, show_warnings
from merge_runner.cli.loading import load_project, project_root
from merge_runner.cli.node_commands import run_nodes
from merge_runner.errors import Problem, ProblemsError
from merge_runner.graph.selection.select import Selection
from merge_runner.options.nodes import Batch, Branch, Budget, Comparing, NodeOptions, Reporting, Running
from merge_runner.options.project import FullRefresh
from merge_runner.options.recorded_options import restore_options
from merge_runner.run.results.previous_run import last_invocation
from merge_runner.template.redact import HIDDEN


@make("retry", NodeOptions, offers=(Running, Budget, Comparing, Reporting, Batch, Branch, FullRefresh))
def command(options: NodeOptions) -> int:
    """Run what failed or was skipped in the last invocation, with its arguments; those given here win."""
    root = project_root(options.project_dir)
    last = last_invocation(target_folder(root, options.target_path))
    names_given = names_on_command_line()
    if "vars_text" not in names_given:
        _check_vars(last.args)
    options = restore_options(options, last.args, names_given)
    project = load_project(options, secrets=True)
    nodes = project.graph.nodes
    missing = [node for node in last.undone if node not in nodes]
    show_warnings(
        [Problem("node-gone", f"{node} is not in the project any more: it is not run again") for node in missing],
        as_errors=options.warn_error,
    )
    ids = tuple(node for node in last.undone if node in nodes)
    if not ids:
        say(f"nothing to retry of the last {last.command}")
        return 0
    show_no_effect(project.graph, ids, options)
    say(f"retrying {len(ids)} of the last {last.command}")
    return run_nodes(last.command, project, Selection(ids), options, last)


def _check_vars(last: Mapping[str, Any]) -> None:
    """Raise ProblemsError where the vars of the last run held a secret: they are not kept whole."""
    if HIDDEN in str(last.get("vars_text")):
        hint = "say them again: `merge-runner retry --vars …`"
        raise ProblemsError(
            [Problem("vars-not-kept", "the vars of the last run held a secret, which is not kept", hint=hint)]
        )
