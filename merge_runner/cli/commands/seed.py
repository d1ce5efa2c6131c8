"""`merge-runner seed`."""

from __future__ import annotations

from merge_runner.cli.command import command as make
from merge_runner.cli.node_commands import chosen_nodes, run_nodes
from merge_runner.options.nodes import Branch, NodeOptions, Reporting, Running
from merge_runner.options.project import FullRefresh, Selection


# A seed is loaded as a whole: a full refresh is what it does anyway.
@make("seed", NodeOptions, offers=(Selection, Running, Reporting, Branch, FullRefresh), ignores=("full_refresh",))
def command(options: NodeOptions) -> int:
    """Load the seeds alone: all, or the selected ones, though their files may not have changed."""
    return run_nodes("seed", *chosen_nodes("seed", options))
