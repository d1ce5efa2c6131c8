"""`merge-runner build`."""

from __future__ import annotations

from merge_runner.cli.command import command as make
from merge_runner.cli.node_commands import chosen_nodes, run_nodes
from merge_runner.options.nodes import (
    Batch,
    Branch,
    Budget,
    Comparing,
    Junit,
    Linting,
    NodeOptions,
    Reporting,
    Reusing,
    Running,
    Sampling,
    Windows,
)
from merge_runner.options.project import Defer, FullRefresh, Selection


@make(
    "build",
    NodeOptions,
    offers=(
        Linting,
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
        Junit,
        FullRefresh,
    ),
)
def command(options: NodeOptions) -> int:
    """Lint, then run models, load seeds and run tests, in DAG order."""
    return run_nodes("build", *chosen_nodes("build", options))
