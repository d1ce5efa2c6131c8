"""Writes a first unit test of a model from real rows: given rows are sampled, expected rows are the model's output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from merge_runner.atomic import write_atomic
from merge_runner.engine.context import NodeContext
from merge_runner.engine.driver.driver_source import DriverSource
from merge_runner.engine.model_tests.sample import Sample, made_rows, met_rows, some_rows
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.steps.perform import perform
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.engine.tables.input_cache import SharedInputs
from merge_runner.errors import Problem, ProblemsError
from merge_runner.graph.graph import ModelNode
from merge_runner.graph.test_nodes import unit_test_node
from merge_runner.plan.layout.table_layout import table_layout
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.model_tests.unit_test_inputs import input_name
from merge_runner.plan.model_tests.unit_tests import Scratch, UnitTestPlanner
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.inputs import AttachInputs, OpenFeed
from merge_runner.plan.steps.model_tests import RunUnitTest
from merge_runner.project.load.files import UnitTestEntry
from merge_runner.project.load.unit_test_file import as_written, unit_test_file
from merge_runner.project.schema.unit_test import Expect, Given, UnitTest
from merge_runner.run.execution.driver_scope import driving
from merge_runner.run.execution.scratch_folder import scratch_folder
from merge_runner.run.results.event_types import Message
from merge_runner.run.results.events import Events

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 3
"""Rows of each input: few enough for a user to read and edit."""
_NAME = "what_it_does_today"


def write_first_unit_test(
    prepared: Prepared,
    model: ModelNode,
    events: Events,
    source: DriverSource,
) -> Path:
    """Write `<model>.unit_tests.yml` next to the model, and return its path.

    Raises ProblemsError where that file is there already, and EngineError where the inputs have not been built or have
    no rows.
    """
    path = (prepared.files.root / model.path).with_name(f"{model.name}.unit_tests.yml")
    if path.exists():
        hint = "add another test to it by hand, or move it away"
        raise ProblemsError([Problem("file-exists", f"{path.name} is there already", model.place, hint)])
    with (
        scratch_folder(Scratch.of(uuid4().hex)) as scratch,
        driving(prepared, events, source) as running,
        running.session() as session,
    ):
        inputs, expected = _Sampler(prepared, model, scratch, session, Catalog(running.table_format)).rows()
    if not expected:
        message = f"{model.name} makes no row of what was sampled: the test expects none, so give it rows that matter"
        events.emit(Message(message, level="warn"))
    write_atomic(path, unit_test_file(model.name, _NAME, inputs, expected))
    return path


def _no_rows(inputs: Mapping[str, Sample]) -> str:
    names = " and ".join(inputs)
    return f"{names} {'has' if len(inputs) == 1 else 'have'} no rows to take a sample of"


class _Sampler:
    def __init__(
        self, prepared: Prepared, model: ModelNode, scratch: Scratch, session: SparkSession, catalog: Catalog
    ) -> None:
        self.prepared = prepared
        self.model = model
        self.scratch = scratch
        self.context = NodeContext(session, catalog, SharedInputs(()), stamp="", description=f"sampling {model.name}")

    def rows(self) -> tuple[dict[str, Sample], Sample]:
        """Rows by input as the test names them, and those that the statement makes of them."""
        plan = Planner(self.prepared).plan(self.model.unique_id)
        # The test may be one of a first run, which reads other inputs.
        for step in (step for form in plan.forms for step in form.steps) if plan is not None else ():
            if isinstance(step, (AttachInputs, OpenFeed)):
                perform(step, self.context)
        inputs = dict(map(self._sample_input, self.model.depends_on))
        if inputs and not any(inputs.values()):
            hint = f"load them first (`merge-runner build -s +{self.model.name}`), or write the test by hand"
            raise EngineError("nothing-to-sample", f"no test is written: {_no_rows(inputs)}", hint)
        if self.model.materialized == "merge":
            layout = table_layout(self.prepared, self.model)
            there = self.context.catalog.adopt(self.context.session, layout)
            met = met_rows(self._step(inputs), self.context, layout.relation, ROWS) if there else []
            inputs = {"this": met, **inputs}
        return inputs, made_rows(self._step(inputs), self.context)

    def _sample_input(self, parent: str) -> tuple[str, Sample]:
        rows = some_rows(self.context.session, self.prepared.compiler.relation(parent), ROWS)
        node = self.prepared.graph.nodes[parent]
        if self.model.changes_of == parent:
            return f"changes('{node.name}')", [{**row, "_change_type": "insert"} for row in rows]
        return input_name(node), rows

    def _step(self, inputs: Mapping[str, Sample]) -> RunUnitTest:
        """The test that gives these rows."""
        test = UnitTest(
            _NAME,
            self.model.name,
            Expect(rows=()),
            tuple(Given(name, tuple(map(as_written, rows))) for name, rows in inputs.items()),
        )
        entry = UnitTestEntry(test, self.model.place)
        files = self.prepared.files
        prepared = replace(self.prepared, files=replace(files, unit_tests=(entry,)))
        node = unit_test_node(files.settings.name, entry, self.model.unique_id)
        step = UnitTestPlanner(prepared, self.scratch).plan(node).steps[0]
        assert isinstance(step, RunUnitTest)
        return step
