"""A project and what can be asked of the engine about it: no table is written."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.api.arguments import Names, as_path, events_to, texts
from merge_runner.api.loaded_project import LoadedProject
from merge_runner.graph.selection.select import Selection

if TYPE_CHECKING:
    from datetime import datetime

    from merge_runner.comparison.report import DiffReport
    from merge_runner.engine.driver.driver import Driver
    from merge_runner.plan.explain.explain import Explanation
    from merge_runner.run.catalog import WrittenCatalog
    from merge_runner.run.model_tests.mutation import MutationReport
    from merge_runner.run.results.events import Listener
    from merge_runner.run.results.results import RunResults
    from merge_runner.run.show import Preview


class QueriedProject(LoadedProject):
    """What leaves every table as it is."""

    def explain(
        self,
        select: Names | Selection = (),
        exclude: Names = (),
        *,
        selector: str | None = None,
        state: str | Path | None = None,
        defer: bool = False,
        spark: bool = False,
        on_event: Listener | None = None,
        driver: Driver | None = None,
    ) -> Explanation:
        """Return what `build` would do: levels, the models of each, and their steps.

        With `spark` it contains Spark's plan of each MERGE and the files that it would read; nothing is run.
        """
        from merge_runner.engine.tables.first_run import built_in_warehouse
        from merge_runner.plan.explain.explain import explain
        from merge_runner.run.older_rows import OlderRowsReader
        from merge_runner.run.reuse.outlook import outlook

        ids = self.select(select, exclude, selector, state).ids
        prepared = self.deferred(ids, defer, state).prepared
        older_rows = OlderRowsReader(prepared).of
        if not spark:
            return explain(prepared, ids, built_in_warehouse, outlook, older_rows)
        from merge_runner.api.node_run import starting
        from merge_runner.run.explain import explain_on_spark

        merges = any(self.graph.nodes[node].materialized == "merge" for node in ids)
        events = events_to(on_event)
        # The JVM comes up while the project is looked at.
        with starting(self.start, prepared, events, driver, early=merges) as source:
            explanation = explain(prepared, ids, outlook=outlook, older_rows=older_rows)
            if merges:
                source.proceed()
            return explain_on_spark(prepared, explanation, events, source)

    def catalog(
        self, *, spark: bool = False, on_event: Listener | None = None, driver: Driver | None = None
    ) -> WrittenCatalog:
        """Write target/catalog.json, in dbt's shape: columns, types and sizes of tables.

        Without Spark these are Delta tables in local folders, tables of embedded Iceberg catalogs in local folders, and
        views that were built with the columns that are declared: nothing is read over a network. With `spark` the
        engine is asked for the other tables and all views. `unread` of the result are the names of the tables that
        could not be read.
        """
        invocation = str(uuid.uuid4())
        if not spark:
            from merge_runner.run.catalog import write_catalog

            return write_catalog(self.prepared, invocation)
        from merge_runner.api.node_run import starting
        from merge_runner.run.catalog_on_spark import write_catalog_on_spark

        events = events_to(on_event)
        with starting(self.start, self.prepared, events, driver) as source:
            return write_catalog_on_spark(self.prepared, invocation, events, source)

    def show(
        self,
        select: Names | Selection = (),
        exclude: Names = (),
        *,
        inline: str | None = None,
        limit: int = 5,
        selector: str | None = None,
        state: str | Path | None = None,
        on_event: Listener | None = None,
        driver: Driver | None = None,
    ) -> tuple[Preview, ...]:
        """Return the first rows of the selected models, seeds, sources and analyses, or of the query `inline`.

        A view, a table or an ephemeral model is the query that it has now, whether or not it has been built. A merge
        model has the rows that each clause would change (`changes`). Raises ProblemsError for what cannot be queried.
        """
        from merge_runner.api.node_run import starting
        from merge_runner.run.show import show

        ids = () if inline is not None else self.select(select, exclude, selector, state).ids
        events = events_to(on_event)
        with starting(self.start, self.prepared, events, driver) as source:
            return show(self.prepared, ids, inline, limit, events, source)

    def diff(
        self,
        select: Names | Selection = (),
        exclude: Names = (),
        *,
        against: str | None = None,
        state: str | Path | None = None,
        version: int | None = None,
        timestamp: datetime | None = None,
        branch: str | None = None,
        rebuild: bool = False,
        key: Names = (),
        where: str | None = None,
        limit: int = 5,
        tolerance: float = 0.0,
        exclude_columns: Names = (),
        selector: str | None = None,
        on_event: Listener | None = None,
        driver: Driver | None = None,
    ) -> DiffReport:
        """Compare the table of each selected model with another state of it; nodes without a table are left out.

        The other state is one of: that of the target `against`; an earlier `version`, or that at a `timestamp`; that on
        a `branch`; what a `rebuild` gives; else the table that the manifest.json in the folder `state` names. `key`
        replaces the columns that identify a row. Raises OtherStateError where none, or more than one, is named.
        """
        from merge_runner.api.node_run import starting
        from merge_runner.comparison.report import DiffReport
        from merge_runner.engine.compare import Criteria
        from merge_runner.run.diff.diff import diff
        from merge_runner.run.diff.other_state import other_state

        ids = self.select(select, exclude, selector, state).ids
        other = other_state(
            self.prepared,
            against=against,
            state=as_path(state),
            version=version,
            timestamp=timestamp,
            branch=branch,
            rebuild=rebuild,
        )
        criteria = Criteria(texts(key), where, limit, tolerance, texts(exclude_columns))
        events = events_to(on_event)
        with starting(self.start, self.prepared, events, driver) as source:
            return DiffReport(tuple(diff(self.prepared, ids, other, criteria, events, source).values()))

    def source_freshness(
        self,
        select: Names | Selection = (),
        exclude: Names = (),
        *,
        selector: str | None = None,
        state: str | Path | None = None,
        threads: int | None = None,
        output: str | Path | None = None,
        on_event: Listener | None = None,
        driver: Driver | None = None,
    ) -> RunResults:
        """Query how old the newest rows of the selected sources are, and write target/sources.json, or `output`.

        A result is `pass`, `warn` or `fail`, or `error` where a source cannot be queried.
        """
        from merge_runner.api.node_run import starting
        from merge_runner.run.freshness import source_freshness

        ids = self.select(select, exclude, selector, state).ids
        events = events_to(on_event)
        with starting(self.start, self.prepared, events, driver) as source:
            return source_freshness(self.prepared, ids, events, source, threads=threads, output=as_path(output))

    def generate_unit_test(self, model: str, *, on_event: Listener | None = None, driver: Driver | None = None) -> Path:
        """Write a first unit test of a model next to it, from rows of what it reads, and return its path.

        Raises ProblemsError where the file exists, and EngineError where the inputs have not been built.
        """
        from merge_runner.api.node_run import starting
        from merge_runner.graph.graph import named_model
        from merge_runner.run.model_tests.generate import write_first_unit_test

        node = named_model(self.graph, model)
        events = events_to(on_event)
        with starting(self.start, self.prepared, events, driver, early=True) as source:
            return write_first_unit_test(self.prepared, node, events, source)

    def mutate(
        self, model: str, *, threads: int | None = None, on_event: Listener | None = None, driver: Driver | None = None
    ) -> MutationReport:
        """Change a model's MERGE one piece at a time, and return which changes its unit tests notice.

        Raises ProblemsError where the model has no MERGE or no unit tests, and EngineError where these cannot run.
        """
        from merge_runner.api.node_run import starting
        from merge_runner.run.execution.dag_run import thread_count
        from merge_runner.run.model_tests.mutation import mutation_check

        events = events_to(on_event)
        # The driver comes up while the tests are planned.
        with starting(self.start, self.prepared, events, driver, early=True) as source:
            parallel = thread_count(self.prepared, threads, 2)
            return mutation_check(self.prepared, model, parallel, events, source)
