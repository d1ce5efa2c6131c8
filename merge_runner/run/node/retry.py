"""Performs the steps of a node, a step again where that is safe: what may be done depends on what went wrong."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from merge_runner.engine.context import NodeContext
from merge_runner.engine.driver.driver import Waits
from merge_runner.engine.response import Operation
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.steps.perform import perform
from merge_runner.formats.failures import Kind
from merge_runner.plan.steps.maintenance import OptimizeTable
from merge_runner.plan.steps.merge import RunHook, RunMerge
from merge_runner.plan.steps.step import Step
from merge_runner.plan.steps.table import LoadSeed, ReplaceTable

DEFAULT_RETRIES = 3
"""How often a statement is run again where the model does not say."""

Committed = Callable[[], int | None]
"""Asks the table for the version that the node's statement has committed, None: it has not. Raises EngineError."""


@dataclass
class Attempts:
    """How the steps of one node are tried.

    `retries` is how often each may be run again. `stopping` ends a pause immediately, `deadline` (of `time.monotonic`)
    at its time. `on_retry` is called with a failure, the number of tries so far, and the seconds until the next.
    """

    context: NodeContext
    retries: int
    find_commit: Committed
    stopping: threading.Event
    on_retry: Callable[[EngineError, int, float], None]
    deadline: float | None = None
    waits: Waits = field(default_factory=Waits)
    is_settled: Callable[[], bool] = lambda: True
    """Whether the engine has ended the command whose connection broke, and answers again."""
    tries: int = field(default=0, init=False)
    """How often the node's own statement was tried."""
    uncertain: bool = field(default=False, init=False)
    """Whether the commit status of the node's statement is unknown: it may have committed."""

    def perform(self, step: Step) -> None:
        """Perform a step, again where that is safe. Raises EngineError, InterruptedError where the run is stopped."""
        failures: Counter[Kind] = Counter()
        while True:
            if self.stopping.is_set():
                raise InterruptedError
            if _writes(step) or (isinstance(step, OptimizeTable) and step.after is None):
                self.tries += 1
            try:
                perform(step, self.context)
            except EngineError as failure:
                error = failure  # handled below: here it would be the context of what is raised next
            else:
                return
            if error.kind is Kind.LOST and not self.is_settled():
                # What it has begun may still commit, whatever the table says.
                self.uncertain = _writes(step)
                raise error
            failures[error.kind] += 1
            attempts = failures.total()
            last = attempts > self.retries or failures[error.kind] > error.most_retries
            if self._has_committed(step, error, last):
                return
            if last or not _may_run_again(step, error.kind):
                if isinstance(step, OptimizeTable) and step.after is not None and not self.stopping.is_set():
                    # The MERGE has committed, and its children read the same rows either way.
                    self.context.output.warnings.append(f"the table is merged, and was not optimized: {error}")
                    return
                raise error
            pause = self._pause(attempts)
            self.on_retry(error, attempts, pause)
            self.stopping.wait(pause)

    def _has_committed(self, step: Step, error: EngineError, last: bool) -> bool:
        """Whether the node's statement is in the table in spite of its error.

        Raises the error where only the table's log could show it, and cannot be read.
        """
        if error.kind not in (Kind.TRANSIENT, Kind.COMMIT_UNKNOWN, Kind.LOST) or not _writes(step):
            return False
        try:
            version = self.find_commit()
        except EngineError as unanswered:
            if unanswered.kind is Kind.CANCELLED:
                raise
            error.message += f"; commit status unknown: reading the table failed: {unanswered.message}"
            self.uncertain = True
            raise error from None
        if version is None:
            if last:
                error.message += "; nothing was committed"
            return False
        output = self.context.output
        output.response.found_commit(version, _OPERATIONS[type(step)])
        output.warnings.append(f"{error.message} [{error.code}]; the table says that it has committed: {version}")
        return True

    def _pause(self, attempts: int) -> float:
        longest = min(self.waits.longest_pause, self.waits.first_pause * 2 ** (attempts - 1))
        pause: float = longest * random.uniform(0.5, 1.0)
        return pause if self.deadline is None else max(0.0, min(pause, self.deadline - time.monotonic()))


_OPERATIONS: dict[type, Operation] = {
    RunMerge: "MERGE",
    ReplaceTable: "CREATE OR REPLACE TABLE AS SELECT",
    LoadSeed: "CREATE OR REPLACE TABLE AS SELECT",
}


def _writes(step: Step) -> bool:
    """Whether the step is the node's own statement, whose commit carries its stamp."""
    return type(step) in _OPERATIONS


def _may_run_again(step: Step, kind: Kind) -> bool:
    """Whether a step may be performed again after a failure of this kind, which the table says it survived."""
    if isinstance(step, RunHook):
        # A hook is one statement of the author's: a conflict says that nothing of it was committed, and only that does.
        return kind is Kind.CONFLICT
    # A table that was created and has no checks yet is adopted the second time, and gets them then.
    return True
