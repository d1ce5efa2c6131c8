"""Loads what waiting nodes will need of their tables while other nodes run, in a thread that is idle."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from merge_runner.engine.spark.errors import from_engine
from merge_runner.plan.steps.inputs import AttachInputs, TableInput
from merge_runner.plan.steps.table import CreateTarget
from merge_runner.run.node.run_context import RunContext


class TablePrefetch:
    """Preloads the targets of merges that are not replaced, and the tables that nodes read and no other one will write.

    A statement would wait for the same. Where its node is left out in the end, an idle thread has worked in vain.
    `ended` returns whether a node has run, or will not.
    """

    def __init__(self, run: RunContext, ended: Callable[[str], bool]) -> None:
        self._run = run
        self._ended = ended
        self._group = f"{run.id}/prefetch"
        self._stopped = threading.Event()
        self._loading = False
        self._writers: dict[str, list[str]] = {}
        for unique_id, written in run.writes.items():
            self._writers.setdefault(written.table, []).append(unique_id)

    def load(self, node: str) -> None:
        """Load the states of the tables of a node. What the engine raises, the node will meet itself."""
        tables = list(self._tables(node))
        if not tables:
            return
        driver = self._run.driver
        try:
            with driver.job_group(driver.spark, self._group, "states of tables"):
                # In this order: who stops it either sees that something is loaded, or nothing more is loaded here.
                self._loading = True
                for table in tables:
                    if self._stopped.is_set():
                        return
                    self._run.catalog.preload(driver.spark, table)
        except Exception as failure:
            if not from_engine(failure):
                raise
        finally:
            self._loading = False

    def stop(self) -> None:
        """Cancel what is being loaded; nothing is loaded any more."""
        self._stopped.set()
        if self._loading:
            self._run.driver.cancel(self._group)

    def _tables(self, node: str) -> Iterator[TableInput]:
        for step in self._run.nodes.plans[node].steps:
            if isinstance(step, CreateTarget) and not step.replace:
                yield TableInput(step.layout.relation, step.layout.format, step.layout.location)
            if isinstance(step, AttachInputs):
                yield from (item for item in step.inputs if isinstance(item, TableInput) and self._stays(item))

    def _stays(self, table: TableInput) -> bool:
        """Whether no node that has not ended writes a table."""
        return all(map(self._ended, self._writers.get(table.relation.name.casefold(), ())))
