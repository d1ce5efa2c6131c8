"""What the nodes of one run on one driver have in common."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from merge_runner.engine.context import PastMerge, ScanBudget
from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.engine.tables.input_cache import SharedInputs
from merge_runner.location import Location, location
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.results.events import Events
from merge_runner.run.results.results import Timing
from merge_runner.run.reuse.reuse import Reuse
from merge_runner.run.scheduling.write_conflicts import WriteKey
from merge_runner.run.settings import RunSettings


@dataclass(frozen=True)
class Nodes:
    """What is run: the plans by node, how long each took to compile, and how long it took to run before (seconds).

    `past_merges` returns the earlier runs of MERGEs by node, which are read from files once a node runs.
    """

    plans: Mapping[str, NodePlan]
    compile_times: Mapping[str, Timing] = field(default_factory=dict)
    durations: Mapping[str, float] = field(default_factory=dict)
    past_merges: Callable[[], Mapping[str, tuple[PastMerge, ...]]] = dict


@dataclass(frozen=True)
class RunContext:
    """What the nodes of one run on one driver have in common.

    `id` distinguishes their commits and job groups from those of every other run; `stopping` is set when it is
    cancelled.
    """

    prepared: Prepared
    nodes: Nodes
    settings: RunSettings
    id: str
    events: Events
    driver: Driver
    catalog: Catalog
    shared: SharedInputs
    writes: Mapping[str, WriteKey]
    """What each node writes: a part of a table that another one writes as well, or the whole table."""
    stopping: threading.Event
    scan_budget: ScanBudget | None = None
    reuse: Reuse | None = None
    """Which nodes need not run; None: all run."""

    @property
    def warehouse(self) -> Location | None:
        """The folder of the embedded tables; None where a catalog keeps them."""
        folder = self.prepared.files.profile.warehouse
        return location(self.prepared.files.root, folder) if folder is not None else None

    def shares(self, unique_id: str) -> bool:
        """Whether others may write the node's table at the same time, other parts of it."""
        return unique_id in self.writes and self.writes[unique_id].group > 0

    def group(self, unique_id: str) -> str:
        """Return the job group of a node: its statements are cancelled together."""
        return f"{self.id}/{unique_id}"

    def diagnosis_group(self, unique_id: str) -> str:
        """Return the job group of the queries that find out why a node failed."""
        return f"{self.id}/{unique_id}/why"
