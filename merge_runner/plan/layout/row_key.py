"""The columns that identify a row of a model's table."""

from __future__ import annotations

from collections.abc import Sequence

from merge_runner.merge.statement import MergeStatement
from merge_runner.project.schema.config import ModelConfig
from merge_runner.pruning.layout.layout import UNKNOWN
from merge_runner.pruning.predicate.join_keys import join_keys
from merge_runner.pruning.predicate.scope import Scope


def row_key(config: ModelConfig, statement: MergeStatement | None) -> Sequence[str]:
    """Return the `unique_key` of the config, else the columns that ON of the MERGE equates with the source.

    None of the two: no columns.
    """
    if config.unique_key or statement is None:
        return config.unique_key
    return tuple(key.column.column for key in join_keys(statement.on, Scope.of(statement, UNKNOWN)))
