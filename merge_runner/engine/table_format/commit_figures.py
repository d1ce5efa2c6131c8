"""What one commit did to a table: rows of each kind, files and bytes, as the commit itself records them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Names = Mapping[str, Sequence[str]]
"""A figure, and the metrics that may have it; the first one that a commit has counts."""


@dataclass(frozen=True)
class CommitFigures:
    """`rows` are by what happened to them (`inserted`, `copied`, …), without those that are not recorded.

    None: the commit does not record it. Unit of the others: files and bytes.
    """

    rows: Mapping[str, int]
    files_added: int | None = None
    files_removed: int | None = None
    bytes_added: int | None = None
    bytes_removed: int | None = None

    @classmethod
    def of(cls, rows: Mapping[str, int], metrics: Mapping[str, str], names: Names) -> CommitFigures:
        """Return the figures of a commit whose files and bytes are the metrics with these names."""
        return cls(rows, **dict(recorded_figures(metrics, names)))


def recorded_figures(metrics: Mapping[str, str], names: Names) -> Iterator[tuple[str, int]]:
    """Yield the figures that the metrics have, with their values."""
    for figure, keys in names.items():
        value = next((metrics[name] for name in keys if metrics.get(name, "").isdecimal()), None)
        if value is not None:
            yield figure, int(value)
