"""What a unit test runs: its model's own statement, over tables that hold what the test gives and nothing else."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import gettempdir
from typing import Any, cast

from merge_runner.errors import Problems, ProblemsError, did_you_mean
from merge_runner.formats.capabilities import Capabilities
from merge_runner.formats.merge_plans import marks
from merge_runner.formats.registry import capabilities
from merge_runner.graph.graph import Graph, ModelNode, Node, SourceNode, UnitTestNode
from merge_runner.graph.table_catalog import no_catalog_problem
from merge_runner.merge.clock import stopped_clock
from merge_runner.merge.splice import splice
from merge_runner.plan.batches.batch_values import NodeBatch, schedule_of
from merge_runner.plan.batches.window import Window, moved_start, window_start
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.layout.row_key import row_key
from merge_runner.plan.layout.table_layout import declared_columns, own_relation, table_layout
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.load.query import query
from merge_runner.plan.model_tests.unit_test_inputs import UnitTestInputs
from merge_runner.plan.model_tests.unit_test_places import WrittenRows
from merge_runner.plan.nodes.own_reads import OwnReads
from merge_runner.plan.steps.inferred_schema import Shape, insert_shape
from merge_runner.plan.steps.model_tests import Expected, Given, RunUnitTest
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.plan.steps.table import Layout
from merge_runner.project.load.files import UnitTestEntry
from merge_runner.project.schema.declared_vars import RefusedVar, read_var_values
from merge_runner.project.schema.properties import Column
from merge_runner.project.schema.unit_test import Expect, Overrides
from merge_runner.project.schema.unit_test import Given as GivenRows
from merge_runner.project.syntax.places import KeyPath
from merge_runner.project.syntax.point_in_time import read_time
from merge_runner.relation import Relation, changes_of
from merge_runner.template.templates import RUN_FLAGS
from merge_runner.testing.rows import RowError, Rows, Types, check_names, read_rows, rows_query
from merge_runner.text import Place, Span

_OF_A_CHANGE: Types = {"_change_type": "string", "_commit_version": "bigint", "_commit_timestamp": "timestamp"}
PROBLEM = "unit-test"
"""The code of a problem of a unit test."""
_CATALOG = "merge_runner_unit_tests"
"""The Iceberg catalog of unit tests where the project's tables lie in an embedded warehouse."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Scratch:
    """Where unit tests have their tables: in schemas whose names begin with `prefix`, in the embedded warehouse's stead
    below `folder`.
    """

    folder: Path
    prefix: str

    @classmethod
    def of(cls, invocation_id: str) -> Scratch:
        """That of an invocation. It is not made: its name is as good as its id is random."""
        name = f"unit_tests_{invocation_id[:8]}"
        return cls(Path(gettempdir()) / f"merge_runner_{name}", f"{name}_")

    def part(self, number: int) -> Scratch:
        """A place within this one, where the same tests may run at the same time."""
        return Scratch(self.folder / str(number), f"{self.prefix}{number}_")


class UnitTestPlanner:
    """Makes the plans of unit tests. Raises ProblemsError for a test that does not fit its model."""

    def __init__(self, prepared: Prepared, scratch: Scratch, layouts: Layouts | None = None) -> None:
        self._prepared = prepared
        self._layouts = layouts or Layouts.load(prepared)
        self._scratch = scratch
        self._entries = {(entry.test.model, entry.test.name): entry for entry in prepared.files.unit_tests}

    def plan(self, node: UnitTestNode) -> NodePlan:
        """The step of one unit test. Raises ProblemsError."""
        entry = self._entries[(node.unit_test.model, node.name)]
        return _UnitTestPlanner(self._prepared, self._scratch, self._layouts, entry, node).plan()


def check_unit_tests(prepared: Prepared) -> None:
    """Raise ProblemsError with what is wrong in unit tests themselves, such as an unknown column or input.

    Errors of the models under test are left to `compile` and `build`.
    """
    nodes = [node for node in prepared.graph.nodes.values() if isinstance(node, UnitTestNode)]
    if not nodes:
        return
    planner, problems = UnitTestPlanner(prepared, Scratch.of("")), Problems()
    for node in nodes:
        try:
            planner.plan(node)
        except ProblemsError as error:
            problems.extend(problem for problem in error.problems if problem.code == PROBLEM)
    problems.check()


class _UnitTestPlanner:
    """One unit test on its way to a plan."""

    def __init__(
        self, prepared: Prepared, scratch: Scratch, layouts: Layouts, entry: UnitTestEntry, node: UnitTestNode
    ) -> None:
        self.real = prepared
        self.layouts = layouts
        self.entry = entry
        self.test = entry.test
        self.node = node
        self.model = prepared.graph.model(node.depends_on[0])
        self.folder = scratch.folder / f"{node.checksum[:12]}"
        self.schema = f"{scratch.prefix}{node.checksum[:8]}"
        self.problems = Problems()
        self.inputs = UnitTestInputs(prepared.graph, self.model, self._add, self._read_by)

    def plan(self) -> NodePlan:
        self.inputs.read(self.test.given)
        self._check_overrides(self.test.overrides)
        self.problems.check()
        prepared = self._in_scratch()
        model = prepared.graph.model(self.model.unique_id)
        rendered = prepared.compiler.render(model.unique_id)
        is_merge = model.materialized == "merge"
        statement = prepared.compiler.merge(model.unique_id) if is_merge else None
        if statement is not None and not own_relation(model).is_named_by(statement.target.parts, default=False):
            # Whatever else it names is no table of the test's.
            self._add(f"the MERGE of {model.name} names its table by itself", "write `merge into {{ this }}`")
        text = rendered.text if statement is not None else query(rendered)
        edits = self._edits(text)
        given = [*self._given(prepared)]
        layout = None if statement is None else self._layout(prepared, model)
        this = self._rows("this", self.inputs.this)
        expected = self._expected(layout)
        self._check_rows(text, given, this, expected)
        shape, reads_itself = (None, None) if layout is None else self._shape(prepared, layout)
        self.problems.check()
        step = RunUnitTest(
            model.name,
            tuple(given),
            layout,
            shape,
            this,
            text,
            edits,
            expected,
            tuple(row_key(self.model.config, statement)),
            self._confs(),
            reads_itself,
        )
        return NodePlan(self.node.unique_id, (step,), rendered, splice(text, edits))

    def _add(self, message: str, hint: str | None = None, at: KeyPath = ()) -> None:
        self._add_at(self.entry.value_place(at) if at else self.entry.place, message, hint)

    def _add_at(self, place: Place | None, message: str, hint: str | None) -> None:
        place = place or self.entry.place
        self.problems.add(PROBLEM, f"unit test {self.test.name}: {message}", place, hint)

    def _add_error(self, name: str, error: RowError) -> None:
        self._add_at(error.place, f"the rows of {name}: {error}", error.hint)

    def _check_overrides(self, overrides: Overrides) -> None:
        if overrides.batch is not None and schedule_of(self.model) is None:
            message = f"overrides the batch, and {self.model.name} has none"
            hint = "leave it out, or give the model a `batch_size`"
            self._add_at(self.entry.key_place(("overrides", "batch")), message, hint)
        macros = [macro.name for macro in self.real.templates.macros()]
        for name in overrides.macros:
            if name not in RUN_FLAGS and name not in macros:
                message = f'overrides the macro "{name}", which does not exist'
                self._add_at(self.entry.key_place(("overrides", "macros", name)), message, did_you_mean(name, macros))
        for refused in self._vars()[1]:
            hint = f"write `{refused.name}: {refused.example}`, or {refused.otherwise}"
            self._add_at(self.entry.value_place(("overrides", "vars", refused.name)), refused.message, hint)

    def _vars(self) -> tuple[dict[str, Any], list[RefusedVar]]:
        """The vars that the test overrides, and those that have another type than their declaration."""
        settings = self.real.files.settings
        return read_var_values(settings.vars, self.test.overrides.vars, settings.places)

    def _in_scratch(self) -> Prepared:
        """Return the project with the tables of the test instead of the project's, and with what the test overrides."""
        overridden = self._overridden()
        graph, files = overridden.graph, overridden.files
        nodes = dict(graph.nodes)
        for unique_id in (self.model.unique_id, *self.inputs.rows):
            if unique_id in nodes:
                nodes[unique_id] = self._moved(nodes[unique_id])
        warehouse = None if files.profile.warehouse is None else str(self.folder)
        return replace(
            overridden,
            files=replace(files, profile=replace(files.profile, warehouse=warehouse)),
            graph=Graph(graph.project, nodes, graph.dag, graph.macros, graph.disabled),
            deferral=type(self.real.deferral)(),
        )

    def _overridden(self) -> Prepared:
        """The project with what the test overrides.

        A test that gives rows of `this` is one of an incremental run, unless it overrides `is_incremental`.
        """
        files, overrides = self.real.files, self.test.overrides
        macros = dict(overrides.macros)
        full_refresh = bool(macros.pop("is_full_refresh", False))
        incremental = bool(macros.pop("is_incremental", self.inputs.gives_target_rows and not full_refresh))
        invocation = replace(
            self.real.invocation,
            env=ChainMap(dict(overrides.env_vars), cast("dict[str, str]", self.real.invocation.env)),
            full_refresh=full_refresh,
            incremental=incremental,
            macros=macros,
        )
        values = {**files.vars, **self._vars()[0]}
        overridden = replace(self.real, files=replace(files, vars=values), invocation=invocation)
        return overridden if overrides.batch is None else replace(overridden, batch=self._batch(overrides.batch))

    def _batch(self, time: str) -> NodeBatch | None:
        """Return the batch of the model that a time is in; None: it has no batches."""
        schedule = schedule_of(self.model)
        if schedule is None:
            return None
        start = window_start(read_time(time), schedule.size)
        return NodeBatch(self.model.unique_id, Window(start, moved_start(start, schedule.size, 1)))

    def _read_by(self) -> Sequence[str]:
        """The parents that the kind of run under test reads."""
        return self._overridden().compiler.read_by(self.model)

    def _moved(self, node: Node) -> Node:
        """Return a node whose table is the test's: given rows of an ephemeral model replace its query."""
        relation = own_relation(node)
        is_target = node.unique_id == self.model.unique_id
        catalog = relation.catalog if is_target else None
        if is_target and self._embedded and self._format.needs_catalog:
            catalog = _CATALOG
        schema = f"{self.schema}_{relation.schema or 'default'}"
        moved = replace(node, relation=Relation(relation.identifier, schema, catalog))
        if not isinstance(moved, ModelNode):
            return moved
        if is_target:
            return replace(moved, config=replace(moved.config, full_refresh=None))  # what the test overrides counts
        if moved.materialized == "ephemeral":
            return replace(moved, config=replace(moved.config, materialized="view"))
        return moved

    @property
    def _format(self) -> Capabilities:
        """What is true of the table format of the model."""
        return capabilities(self.model.config.format)

    @property
    def _embedded(self) -> bool:
        return self.real.files.profile.warehouse is not None

    def _confs(self) -> Mapping[str, str]:
        """The model's own confs, and those of the catalog that Iceberg tables of the test are in."""
        confs = dict(self.model.config.conf)
        catalog_class = self._format.catalog_class
        if not self._embedded or catalog_class is None:
            return confs
        catalog = f"spark.sql.catalog.{_CATALOG}"
        return confs | {
            catalog: catalog_class,
            f"{catalog}.type": "hadoop",
            f"{catalog}.warehouse": str(self.folder / self._format.name),
        }

    def _edits(self, text: str) -> tuple[tuple[Span, str], ...]:
        overrides = self.test.overrides
        return tuple(stopped_clock(text, overrides.current_date, overrides.current_timestamp))

    def _given(self, prepared: Prepared) -> Iterator[Given]:
        nodes = prepared.graph.nodes
        for key, given in self.inputs.rows.items():
            node = nodes[key.removeprefix("changes:")]
            # A column that is known by the model's own text is there though no row has it, and takes any type.
            columns = dict.fromkeys(self.layouts.names(node.unique_id) or ())
            relation, types = own_relation(node), {**columns, **_types(declared_columns(self.real, node))}
            if key.startswith("changes:"):
                relation, types = changes_of(node.name), {**types, **_OF_A_CHANGE}
            yield Given(given.input, relation, self._rows(key, given), types)

    def _rows(self, key: str, given: GivenRows | None) -> Rows:
        if given is None:
            return Rows()
        return self._read(given.input.strip(), given, ("given", self.inputs.numbers[key]))

    def _read(self, name: str, rows: GivenRows | Expect, at: KeyPath) -> Rows:
        fixture = self.real.files.fixtures[rows.fixture] if rows.fixture is not None else None
        text = fixture.text if fixture is not None else rows.rows
        csv = text if isinstance(text, str) and rows.format == "csv" else None
        try:
            return read_rows(
                text if text is not None else (), rows.format, WrittenRows(self.entry, at, "rows", fixture, csv)
            )
        except RowError as error:
            self._add_error(name, error)
            return Rows()

    def _layout(self, prepared: Prepared, model: ModelNode) -> Layout:
        if self._format.needs_catalog and own_relation(self.model).catalog is None:
            # Its table is in a catalog of the test's own, which needs the jars that a catalog of the profile brings.
            problem = no_catalog_problem(self.real.files.profile, self.model)
            if problem is not None:
                raise ProblemsError([problem])
        layout = table_layout(prepared, model)
        if self.test.expect.changes is None:
            return layout
        feed, system = self._format.change_feed_property, self._format.label
        if feed is not None:
            return replace(layout, properties={**layout.properties, feed: "true"})
        if marks(layout.format, layout.properties):
            self._add(
                f"expects changes, and {self.model.name} is merge-on-read: {system} reports no changes for it",
                'leave "changes" out, and expect "rows"',
            )
        return layout

    def _shape(self, prepared: Prepared, layout: Layout) -> tuple[Shape | None, Place | None]:
        """The query that has the columns of the test's table, and where that query reads the table itself.

        The source of an incremental run may read the table, which is not there yet: that of the first run, which
        creates the table in a build, is taken then.
        """
        shape, reads_itself = self._shape_of(prepared)
        if reads_itself is None or layout.has_all_types:
            return shape, reads_itself
        try:
            first, still = self._shape_of(prepared.first_run)
        except ProblemsError:  # the author's text refuses a first run
            return shape, reads_itself
        if still is not None:
            return shape, reads_itself
        for name in self.inputs.missing(prepared.first_run.compiler.read_by(self.model)):
            self._add(
                f"gives no rows of {name}, which the first run reads: the columns of {self.model.name} come from there",
                f"declare the columns of {self.model.name} with name and data_type in YAML, or add rows of {name}",
                ("given",),
            )
        return first, None

    def _shape_of(self, prepared: Prepared) -> tuple[Shape | None, Place | None]:
        statement = prepared.compiler.merge(self.model.unique_id)
        reads = OwnReads.of(statement, prepared.compiler.render(self.model.unique_id))
        return insert_shape(statement), reads.first

    def _expected(self, layout: Layout | None) -> Expected:
        expect = self.test.expect
        if layout is None and expect.changes is not None:
            self._add(f"expects changes, and {self.model.name} is no MERGE")
        has_rows = expect.rows is not None or expect.fixture is not None
        return Expected(
            self._read("expect", expect, ("expect",)) if has_rows else None,
            Rows(tuple(expect.changes), places=WrittenRows(self.entry, ("expect",), "changes"))
            if expect.changes is not None
            else None,
            expect.error,
        )

    def _check_rows(self, text: str, given: Sequence[Given], this: Rows, expected: Expected) -> None:
        """Report before Spark starts what is wrong with rows that can be read now; Spark reads those of a query."""
        for key, given_rows in zip(self.inputs.rows, given, strict=True):
            if given_rows.rows.sql is None:
                self._check(given_rows.name, given_rows.rows, given_rows.types, self._columns_of(key, text))
        types, own = _types(declared_columns(self.real, self.model)), self.layouts.names(self.model.unique_id)
        own_changes = None if own is None else (*own, *_OF_A_CHANGE)
        for name, rows, of, columns in (
            ("this", this, types, own),
            ("expect", expected.rows, types, own),
            ("expect", expected.changes, {**types, **_OF_A_CHANGE}, own_changes),
        ):
            if rows is not None and rows.values:
                self._check(name, rows, of, columns)

    def _check(self, name: str, rows: Rows, types: Types, columns: Sequence[str] | None) -> None:
        try:
            if columns is not None:
                check_names(rows, rows.names, columns)
            rows_query(rows, types)
        except RowError as error:
            self._add_error(name, error)

    def _columns_of(self, key: str, text: str) -> Sequence[str] | None:
        """The columns that rows of an input may have; None where they are not all known.

        A source may have columns that nothing here declares or records yet: those that the statement names are its own.
        """
        unique_id = key.removeprefix("changes:")
        names = self.layouts.names(unique_id)
        if names is None:
            return None
        if isinstance(self.real.graph.nodes[unique_id], SourceNode):
            names = (*names, *_WORD.findall(text))
        return (*names, *_OF_A_CHANGE) if key != unique_id else names


def _types(columns: Iterable[Column]) -> Types:
    return {column.name: column.data_type for column in columns}
