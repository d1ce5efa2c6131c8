"""Where the steps of one node are performed, and what they found out so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from merge_runner.engine.shared_inputs import SharedInputs
from merge_runner.engine.tables import Catalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.engine.batches import Batch


@dataclass(frozen=True)
class Tested:
    """What a test found: how many failures, whether that is `pass`, `warn` or `fail`, and what failed in words."""

    failures: int
    verdict: Literal["pass", "warn", "fail"]
    message: str | None = None


@dataclass
class Workplace:
    """Where the steps of one node are performed, and what they found out so far."""

    session: SparkSession
    catalog: Catalog
    shared: SharedInputs
    stamp: str
    """What the commits of this node's statement carry (engine/stamp.py)."""
    description: str
    on_merge: Callable[[str], None] = lambda _: None
    """Told of the MERGE as it will run, with what was spliced into the author's text."""
    earlier: tuple[str, ...] = ()
    """The stamps under which its MERGE may have committed in an invocation that this one goes on with."""
    batch: Batch | None = None
    """The batch that its MERGE is stamped with."""
    past_record: bool = False
    """Whether the table has recorded this very batch, and was replaced since."""
    response: dict[str, Any] = field(default_factory=dict)
    """The node's adapter response."""
    warnings: list[str] = field(default_factory=list)
    tested: Tested | None = None
    no_op: str | None = None
    """Why the node's statement had nothing to do."""
