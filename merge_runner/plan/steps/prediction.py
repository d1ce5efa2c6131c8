"""What a MERGE is expected to cost, before it runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from merge_runner.project.syntax.size import size_in_words


@dataclass(frozen=True)
class Prediction:
    """What a MERGE will read of its target, and at most rewrite; None: not known.

    `files` and `bytes` are what is left to scan after pruning, with the runtime filter where there is one.
    `rewritten_bytes` is the size of the files that may have to be written again. `seconds` is a projection of the time
    of the statement, from earlier runs.
    """

    files: int | None
    bytes: int | None
    rewritten_bytes: int | None
    seconds: float | None

    def __str__(self) -> str:
        parts = [f"reads {size_in_words(self.bytes)} of its target"] if self.bytes is not None else []
        if self.rewritten_bytes is not None:
            rewritten = f"at most {size_in_words(self.rewritten_bytes)}" if self.rewritten_bytes else "nothing"
            parts.append(f"rewrites {rewritten}")
        if self.seconds is not None:
            parts.append(f"takes some {self.seconds:.1f} s")
        return f"predicted: {', '.join(parts)}" if parts else "predicted: not known"

    def as_json(self) -> dict[str, Any]:
        """Return its values by name."""
        return asdict(self)
