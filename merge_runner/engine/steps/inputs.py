"""What the SQL of a node reads: inputs attached to the catalog, shared between nodes, and views of changes."""

from __future__ import annotations

from merge_runner.engine.context import NodeContext
from merge_runner.engine.merge.change_feed_source import define_empty
from merge_runner.plan.steps.inputs import AttachInputs, OpenFeed, ShareInputs


def attach_inputs(step: AttachInputs, context: NodeContext) -> None:
    """Make the inputs known to the session's catalog. Raises EngineError."""
    for item in step.inputs:
        context.catalog.attach(context.session, item)


def share_inputs(step: ShareInputs, context: NodeContext) -> None:
    """Cache what several nodes read, or take what another one has cached. Raises EngineError."""
    for relation in step.readers:
        context.shared.acquire(context.session, relation)


def open_feed(step: OpenFeed, context: NodeContext) -> None:
    """Define the view of a feed, without rows. Raises EngineError."""
    define_empty(context.session, step.feed)
