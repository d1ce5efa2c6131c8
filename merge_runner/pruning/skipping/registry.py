"""The pruning of each table format."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from merge_runner.formats import DEFAULT, Format
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.skipping.delta import DeltaPruning
from merge_runner.pruning.skipping.iceberg import IcebergPruning
from merge_runner.pruning.skipping.pruning_model import PruningModel

_MODELS: Mapping[Format, type[PruningModel]] = MappingProxyType(
    {model.format: model for model in (DeltaPruning, IcebergPruning)}
)


def pruning_model(layout: TableLayout) -> PruningModel:
    """Return the pruning of a table, by its format."""
    return _MODELS[layout.format or DEFAULT](layout)
