"""Mutation check of a MERGE model: which small changes of its statement none of its unit tests notices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from merge_runner.engine.context import NodeContext
from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.driver.driver_source import DriverSource
from merge_runner.engine.spark.errors import EngineError, from_engine
from merge_runner.engine.steps.perform import perform
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.engine.tables.input_cache import SharedInputs
from merge_runner.errors import Problem, ProblemsError
from merge_runner.formats.failures import Kind
from merge_runner.graph.graph import ModelNode, UnitTestNode, named_model
from merge_runner.merge.parse import parse
from merge_runner.merge.splice import origin
from merge_runner.plan.layout.table_layout import table_layout
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.model_tests.unit_tests import Scratch, UnitTestPlanner
from merge_runner.plan.steps.model_tests import RunUnitTest
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.execution.driver_scope import driving
from merge_runner.run.execution.scratch_folder import scratch_folder
from merge_runner.run.node.lost_driver import lost_driver
from merge_runner.run.results.event_types import Message
from merge_runner.run.results.events import Events
from merge_runner.testing.mutants import mutants
from merge_runner.text import Place

if TYPE_CHECKING:
    from merge_runner.testing.mutants import Mutant

_EXPLAINED = re.compile(r"--\s*survives:\s*(.+?)\s*$")


@dataclass(frozen=True)
class Change:
    """One change of the statement, and its outcome.

    `noticed_by` names the test that no longer passes with it, None: it survives. `explained` is what the comment
    `-- survives: …` on its line says of why that is well.
    """

    name: str
    words: str
    place: Place | None
    noticed_by: str | None = None
    explained: str | None = None


@dataclass(frozen=True)
class MutationReport:
    """The outcome of a check. `failing` are tests that fail on the unchanged model, with why: nothing was changed."""

    model: str
    tests: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    failing: Mapping[str, str] = field(default_factory=dict)

    @property
    def surviving(self) -> tuple[Change, ...]:
        """Changes that no test notices and no comment explains."""
        return tuple(change for change in self.changes if change.noticed_by is None and change.explained is None)

    @property
    def ok(self) -> bool:
        """Whether every change is noticed or explained."""
        return not self.failing and not self.surviving

    def as_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        changes = [
            {**asdict(change), "place": None if change.place is None else str(change.place)} for change in self.changes
        ]
        return {"model": self.model, "tests": list(self.tests), "failing": dict(self.failing), "changes": changes}


def mutation_check(
    prepared: Prepared,
    model: str,
    threads: int,
    events: Events,
    source: DriverSource,
) -> MutationReport:
    """Changes the MERGE of a model one piece at a time, and runs the model's unit tests until one notices.

    Raises ProblemsError where there is no such model, it is no MERGE, or it has no unit tests; EngineError where what
    the tests run on breaks.
    """
    node = named_model(prepared.graph, model)
    if node.materialized != "merge":
        message = f"{model} is a {node.materialized}: only a MERGE is changed"
        raise ProblemsError([Problem("not-a-merge", message, node.place)])
    tests = [
        test
        for test in prepared.graph.nodes.values()
        if isinstance(test, UnitTestNode) and test.depends_on == (node.unique_id,)
    ]
    if not tests:
        hint = f"`merge-runner test --generate {model}` writes a first one"
        raise ProblemsError([Problem("no-unit-tests", f"{model} has no unit tests", node.place, hint)])
    with scratch_folder(Scratch.of(uuid4().hex)) as scratch:
        places = [_Place(prepared, node, tests, scratch.part(number)) for number in range(threads)]
        with driving(prepared, events, source) as running:
            return _Check(prepared, node, places, running, events).run()


class _Place:
    """The tests as one thread runs them, in separate schemas, and the changes of what each of them runs."""

    def __init__(self, prepared: Prepared, model: ModelNode, tests: Sequence[UnitTestNode], scratch: Scratch) -> None:
        planner = UnitTestPlanner(prepared, scratch)
        table_columns = table_layout(prepared, model).columns
        columns = [column.name for column in table_columns] or None
        filled = [column.name for column in table_columns if column.generated] if columns is not None else None
        self.plans: dict[str, NodePlan] = {test.name: planner.plan(test) for test in tests}
        self.mutants: dict[str, dict[str, Mutant]] = {
            test: {mutant.name: mutant for mutant in mutants(parse(self.step(test).sql), columns, filled)}
            for test in self.plans
        }

    def step(self, test: str) -> RunUnitTest:
        step = self.plans[test].steps[0]
        assert isinstance(step, RunUnitTest)
        return step


class _Check:
    def __init__(
        self, prepared: Prepared, model: ModelNode, places: Sequence[_Place], driver: Driver, events: Events
    ) -> None:
        self.model = model
        self.driver = driver
        self.events = events
        self.threads = len(places)
        self.places: SimpleQueue[_Place] = SimpleQueue()
        for place in places:
            self.places.put(place)
        self.lines = prepared.files.models[model.name].source.text.splitlines()
        self.path = model.path
        self.tests = tuple(places[0].plans)
        self.first = places[0]

    def run(self) -> MutationReport:
        with ThreadPoolExecutor(self.threads) as pool:
            self._say(f"{self.model.name}: {len(self.tests)} unit tests, {self.threads} at a time")
            before = pool.map(lambda test: (test, self._in_place(test, None)), self.tests)
            failing = {test: why for test, why in before if why is not None}
            if failing:
                return MutationReport(self.model.name, self.tests, failing=failing)
            changes = list(self._changes())
            self._say(f"{len(changes)} changes")
            return MutationReport(self.model.name, self.tests, tuple(pool.map(self._judge, changes)))

    def _say(self, message: str) -> None:
        self.events.emit(Message(message))

    def _changes(self) -> Iterator[Change]:
        """Every change that can be made in any of the tests, whose overrides may render other statements."""
        seen = set()
        for test in self.tests:
            plan, step = self.first.plans[test], self.first.step(test)
            for mutant in self.first.mutants[test].values():
                if mutant.name in seen:
                    continue
                seen.add(mutant.name)
                at = origin(step.edits, mutant.span.start)
                place = plan.rendered.place(at) if plan.rendered is not None and at is not None else None
                yield Change(mutant.name, mutant.words, place, explained=self._explanation(place))

    def _explanation(self, place: Place | None) -> str | None:
        if place is None or place.path != self.path:
            return None
        match = _EXPLAINED.search(self.lines[place.line - 1])
        return match[1] if match is not None else None

    def _judge(self, change: Change) -> Change:
        """The change with the first test that notices it."""
        test_name = next((test for test in self.tests if self._in_place(test, change.name) is not None), None)
        return replace(change, noticed_by=test_name)

    def _in_place(self, test: str, change: str | None) -> str | None:
        """Why a test does not pass with a change (None: as it is); None where it passes, or has nothing to change."""
        place = self.places.get()
        try:
            step = place.step(test)
            if change is not None:
                mutant = place.mutants[test].get(change)
                if mutant is None:
                    return None
                step = replace(step, text=mutant.text, edits=())
            return self._why_not(step)
        finally:
            self.places.put(place)

    def _why_not(self, step: RunUnitTest) -> str | None:
        try:
            with self.driver.session() as session:
                workplace = NodeContext(
                    session, Catalog(self.driver.table_format), SharedInputs(()), stamp="", description=str(step)
                )
                perform(step, workplace)
        except EngineError as error:
            if error.kind is not Kind.USER:
                raise  # it says nothing of the change
            return str(error)
        except Exception as error:
            if not from_engine(error):
                raise
            raise lost_driver(self.driver, error) from error
        tested = workplace.output.tested
        assert tested is not None
        return None if tested.verdict == "pass" else tested.words or ""
