"""What a MERGE reports whose figures cannot be read: it has committed all the same."""

import pytest

from merge_runner.engine.context import NodeContext
from merge_runner.engine.merge.pipeline import merge_figures
from merge_runner.engine.response import MergeFigures
from merge_runner.engine.spark.errors import EngineError, Kind
from merge_runner.engine.table_format.commit_metadata import stamp
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.engine.tables.input_cache import SharedInputs
from merge_runner.relation import Relation


class Unreadable:
    """A table format whose log cannot be read."""

    def __init__(self, error):
        self.error = error

    def merge_figures(self, *_):
        raise self.error


def context_of(error):
    formats = Catalog(lambda _: Unreadable(error))
    return NodeContext(None, formats, SharedInputs([]), stamp("run", "model.shop.m"), "test")


def test_figures_that_cannot_be_read_do_not_undo_a_merge():
    context = context_of(EngineError("gone", "the log is gone"))
    assert merge_figures(context, Relation("m"), "delta", None) == MergeFigures.unknown()
    assert context.output.warnings == ["the MERGE ran to its end, and its figures cannot be read: the log is gone"]


def test_a_node_that_was_cancelled_meanwhile_is_cancelled():
    context = context_of(EngineError("cancelled", "cancelled", kind=Kind.CANCELLED))
    with pytest.raises(EngineError, match="cancelled"):
        merge_figures(context, Relation("m"), "delta", None)
