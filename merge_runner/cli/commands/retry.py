"""`merge-runner retry`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from merge_runner.cli.command import Command
from merge_runner.cli.options import (
    batch_option,
    branch_option,
    full_refresh_option,
    load_project,
    output_options,
    project_options,
    running_options,
)
from merge_runner.cli.project_root import project_root

_PATHS = frozenset({"state", "profiles_dir"})


@click.command("retry", cls=Command)
@running_options
@batch_option
@branch_option
@full_refresh_option
@project_options
@output_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Run what failed or was skipped in the last invocation, with its arguments; those given here win."""
    from merge_runner.cli.display.messages import say
    from merge_runner.cli.display.problems import show_no_effect, show_warnings
    from merge_runner.cli.node_commands import run_nodes
    from merge_runner.errors import Problem, Problems
    from merge_runner.project.load.load import read_settings
    from merge_runner.run.results.previous_run import last_invocation

    root = project_root(options["project_dir"])
    last = last_invocation(root / (options["target_path"] or read_settings(root, Problems()).target_path))
    _check_vars(ctx, last.args)
    options = _options(ctx, options, last.args)
    project = load_project(options)
    nodes = project.graph.nodes
    gone = [node for node in last.undone if node not in nodes]
    show_warnings(
        [Problem("node-gone", f"{node} is not in the project any more: it is not run again") for node in gone],
        as_errors=options["warn_error"],
    )
    ids = tuple(node for node in last.undone if node in nodes)
    if not ids:
        say(f"nothing to retry of the last {last.command}")
        return 0
    show_no_effect(project.graph, ids, options)
    say(f"retrying {len(ids)} of the last {last.command}")
    return run_nodes(last.command, project, ids, options, last)


def _check_vars(ctx: click.Context, last: Mapping[str, Any]) -> None:
    """Vars that held a secret are not kept whole. Raises ProblemsError where they would have to be known."""
    from merge_runner.errors import Problem, ProblemsError
    from merge_runner.template.redact import HIDDEN

    given = ctx.get_parameter_source("vars_text") is not click.core.ParameterSource.DEFAULT
    if not given and HIDDEN in str(last.get("vars_text")):
        hint = "say them again: `merge-runner retry --vars …`"
        raise ProblemsError(
            [Problem("vars-not-kept", "the vars of the last run held a secret, which is not kept", hint=hint)]
        )


def _options(ctx: click.Context, given: Mapping[str, Any], last: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the invocation to go on with: what is given now, else what was given then, else the default."""
    options = dict(given)
    for name, value in last.items():
        # An option that `retry` does not have has no source.
        said = ctx.get_parameter_source(name) not in (None, click.core.ParameterSource.DEFAULT)
        if name in options and not said and value is not None:
            options[name] = Path(value) if name in _PATHS else value
    return options
