"""How the rows that a MERGE writes come to tasks: together by partition, or each task writes into every partition."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WriteDistribution:
    """What a format does with the rows of a MERGE before it writes them into a partitioned table.

    `is_gathered`: the rows of a partition come together. False: up to one file for each task and partition. `setting`
    and `value` decide it. tests/formats/test_write_distribution.py compares every case with the engine.
    """

    is_gathered: bool
    setting: str
    value: str

    @property
    def words(self) -> str:
        """The same as text, for users."""
        effect = (
            "the rows of a partition are brought together before they are written"
            if self.is_gathered
            else "every task writes a file into each partition that it has rows of"
        )
        return f"{effect} ({self.setting} = {self.value})"
