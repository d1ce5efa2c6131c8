"""`merge-runner run`."""

from __future__ import annotations

from merge_runner.cli.command import command as make
from merge_runner.cli.node_commands import chosen_nodes, run_nodes
from merge_runner.options.nodes import (
    Batch,
    Branch,
    Budget,
    Comparing,
    NodeOptions,
    Reporting,
    Reusing,
    Running,
    Sampling,
    Windows,
)
from merge_runner.options.project import Defer, FullRefresh, Selection


@make(
    "run",
    NodeOptions,
    offers=(
        Selection,
        Defer,
        Running,
        Budget,
        Comparing,
        Reporting,
        Batch,
        Windows,
        Branch,
        Reusing,
        Sampling,
        FullRefresh,
    ),
)
def command(options: NodeOptions) -> int:
    """Run the models, in DAG order."""
    return run_nodes("run", *chosen_nodes("run", options))
