"""The options of a command that runs nodes, of the arguments of a Python caller."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.api.arguments import Names, as_path, texts
from merge_runner.formats.branches import branch_name
from merge_runner.options.nodes import LARGEST_BATCH, NodeOptions

if TYPE_CHECKING:
    from merge_runner.run.settings import Mode


def node_options(
    select: Names,
    exclude: Names,
    selector: str | None,
    state: str | Path | None,
    defer: bool,
    threads: int | None,
    fail_fast: bool,
    batch_id: int | None,
    branch: str | None,
    *,
    no_lint: bool = False,
    reuse: Mode = "auto",
) -> NodeOptions:
    """Return the options of a command for the arguments of the method of its name. Raises ValueError."""
    if batch_id is not None and (isinstance(batch_id, bool) or not 0 <= batch_id <= LARGEST_BATCH):
        raise ValueError(f"batch_id is a whole number from 0, not {batch_id!r}")
    return NodeOptions(
        select=texts(select),
        exclude=texts(exclude),
        selector=selector,
        state=as_path(state),
        defer=defer,
        threads=threads,
        fail_fast=fail_fast,
        batch_id=batch_id,
        branch=branch_name(branch) if branch is not None else None,
        no_lint=no_lint,
        no_reuse=reuse == "off",
        fresh=reuse == "fresh",
    )
