"""What a committed MERGE did, in the engine's own figures and in the names of an adapter response."""

from __future__ import annotations

from merge_runner.engine.context import NodeContext
from merge_runner.engine.response import MergeFigures
from merge_runner.engine.spark.errors import Kind, engine_error, from_engine
from merge_runner.engine.spark.sql import Ran
from merge_runner.formats import Format
from merge_runner.relation import Relation


def merge_figures(context: NodeContext, target: Relation, format: Format | None, ran: Ran) -> MergeFigures:
    """The figures of a MERGE that has run.

    The statement has returned, so that it has committed: figures that cannot be read are a warning, and never a failure
    of the model. Raises EngineError where the node was cancelled meanwhile.
    """
    try:
        return context.table_format(format).merge_figures(context.session, target, context.stamp, ran)
    except Exception as error:
        if not from_engine(error):
            raise
        known = engine_error(error)
        if known.kind is Kind.CANCELLED:
            raise known from error
        context.output.warnings.append(f"the MERGE ran to its end, and its figures cannot be read: {known.message}")
    return MergeFigures.unknown()
