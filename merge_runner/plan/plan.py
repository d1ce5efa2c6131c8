"""The steps of a node: what `build` runs and `explain` displays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.graph.captures import DEFERRED
from merge_runner.graph.config_checks import is_enforced
from merge_runner.graph.graph import DataTestNode, ModelNode, Node, RefNode, SeedNode, SourceNode, UnitTestNode
from merge_runner.graph.hooks import hook
from merge_runner.graph.naming import view_definition
from merge_runner.graph.writers import other_writers
from merge_runner.merge.statement import MergeStatement
from merge_runner.plan.batches.batch_values import NodeBatch, time_type
from merge_runner.plan.batches.window import time_literal
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.layout.table_layout import own_relation, table_layout
from merge_runner.plan.load.compiler import Compiler, is_rebuilt
from merge_runner.plan.load.defer import BuiltNode
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.load.query import query
from merge_runner.plan.model_tests.data_tests import DataTestPlanner
from merge_runner.plan.model_tests.unit_tests import Scratch, UnitTestPlanner
from merge_runner.plan.nodes.clone import branch_plan, clone_plan
from merge_runner.plan.nodes.inputs import Inputs
from merge_runner.plan.nodes.maintenance import (
    Fault,
    Maintenance,
    compacted_after,
    compaction,
    faults,
    is_maintained,
    too_short,
)
from merge_runner.plan.nodes.own_reads import OwnReads, keep_history
from merge_runner.plan.nodes.sample_plan import sample_plan
from merge_runner.plan.nodes.secret_leaks import kept_secrets
from merge_runner.plan.steps.guardrails import Expectation, cost_limits, expectation
from merge_runner.plan.steps.inferred_schema import Shape, insert_shape
from merge_runner.plan.steps.inputs import Feed, OpenFeed
from merge_runner.plan.steps.maintenance import VacuumTable
from merge_runner.plan.steps.merge import CheckSource, RunHook, RunMerge
from merge_runner.plan.steps.model_tests import MeasureFreshness
from merge_runner.plan.steps.node_plan import FirstRun, NodePlan, RaiseError
from merge_runner.plan.steps.runtime_filter import bounding
from merge_runner.plan.steps.step import Step
from merge_runner.plan.steps.table import (
    CheckSchema,
    CreateTarget,
    DefineView,
    EmptyWindow,
    EnforceContract,
    Layout,
    LoadSeed,
    ReplaceTable,
)
from merge_runner.project.schema.config_layers import Layer, config_place
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.predicate.variables import declared_variables
from merge_runner.relation import changes_of
from merge_runner.template.outcome import ASKS_ENGINE
from merge_runner.text import Place

if TYPE_CHECKING:
    from merge_runner.pruning.judge.merge_analysis import JudgedMerge


class Planner:
    """Makes the plans of one invocation. Raises ProblemsError for a recorded catalog that cannot be read."""

    def __init__(self, prepared: Prepared, invocation_id: str = "") -> None:
        self.layouts = Layouts.load(prepared)
        """What is known of every table of the project."""
        self._prepared = prepared
        self._compiler = prepared.compiler
        self._root = prepared.files.root
        self._profile = prepared.files.profile
        self._inputs = Inputs(prepared)
        self._data_tests = DataTestPlanner(prepared, self._inputs, self._judge)
        self._unit_tests = UnitTestPlanner(prepared, Scratch.of(invocation_id), self.layouts)

    def plan(self, unique_id: str) -> NodePlan | None:
        """The steps of a node; None where it has none.

        Raises ProblemsError for text that cannot be compiled, and for secrets that a table would keep.
        """
        node = self._prepared.graph.nodes[unique_id]
        try:
            plan = self._plan(node)
        except ProblemsError as error:
            plan = self._asking(node, error)
        return self._checked(node, plan)

    def batch(self, batch: NodeBatch, *, full_refresh: bool) -> NodePlan:
        """The steps of one batch of a model; `full_refresh`: they replace its table. Raises what `plan` does."""
        node = self._prepared.graph.nodes[batch.unique_id]
        assert isinstance(node, ModelNode), "models alone have batches"
        prepared = self._prepared.for_batch(batch, full_refresh=full_refresh)
        prepared.compiler.known_columns = self.layouts.columns
        try:
            plan: NodePlan | None = self._merge(node, prepared)
        except ProblemsError as error:
            plan = self._asking(node, error)
        plan = self._checked(node, plan)
        assert plan is not None, "a MERGE has steps"
        return plan

    def _checked(self, node: Node, plan: NodePlan | None) -> NodePlan | None:
        """Return the plan of a node as a sampled run has it. Raises ProblemsError for secrets a table would keep."""
        sample = self._prepared.sample
        if plan is not None and plan.writes is not None and sample is not None and isinstance(node, ModelNode):
            plan = sample_plan(plan, node, table_layout(self._prepared, node), sample)
        if plan is not None and self._prepared.secrets:
            problems = Problems()
            for form in plan.forms:
                problems.extend(kept_secrets(form, node.place, self._prepared.reveals_secret))
            problems.check()
        return plan

    def _asking(self, node: Node, error: ProblemsError) -> NodePlan | None:
        """The plan of a node whose text depends on what a query returns. Raises any other error."""
        may_ask = isinstance(node, ModelNode | SeedNode | DataTestNode) and self._prepared.asking is None
        if not may_ask:
            raise error
        asks = asked_first(error)
        if node.materialized == "ephemeral":
            return None  # what reads it asks
        writes = own_relation(node) if isinstance(node, RefNode) and node.materialized != "view" else None
        return NodePlan(node.unique_id, (), writes=writes, asks=asks)

    def _plan(self, node: Node) -> NodePlan | None:
        if isinstance(node, SeedNode):
            return self._seed(node)
        if isinstance(node, DataTestNode):
            return self._data_tests.plan(node)
        if isinstance(node, UnitTestNode):
            return self._unit_tests.plan(node)
        if not isinstance(node, ModelNode):
            return None
        if node.materialized == "ephemeral":
            query(self._compiler.render(node.unique_id))  # raises where it is none; models that read it hold its text
            return None
        makers: dict[str, Callable[[ModelNode], NodePlan]] = {
            "merge": lambda merge: self._merge(merge, self._prepared),
            "table": self._table,
            "view": self._view,
        }
        return makers[node.materialized](node)

    def clone(self, unique_id: str, built_nodes: Mapping[str, BuiltNode]) -> NodePlan | None:
        """The steps that clone the table of a node from that of `built_nodes`, or define its view; None: it has none.

        Raises ProblemsError for what cannot be cloned.
        """
        node = self._prepared.graph.nodes[unique_id]
        if not isinstance(node, RefNode):
            return None
        return self._plan(node) if node.materialized == "view" else clone_plan(self._prepared, node, built_nodes)

    def branch(self, unique_id: str, branch: str) -> NodePlan | None:
        """The steps that make a branch of the table of a node; None where it has none.

        Raises ProblemsError for a table that has no branches.
        """
        node = self._prepared.graph.nodes[unique_id]
        return branch_plan(self._prepared, node, branch) if isinstance(node, RefNode) else None

    def maintenance(self, unique_id: str, maintenance: Maintenance) -> NodePlan | None:
        """The steps that compact the table of a node, and vacuum it where that is asked for; None where it has none.

        Raises ProblemsError for what the table cannot be asked for.
        """
        node = self._prepared.graph.nodes[unique_id]
        if not is_maintained(node):
            return None
        layout = table_layout(self._prepared, node)
        problems = list(faults(node, layout))
        if (
            maintenance.vacuum
            and maintenance.retain is not None
            and (short := too_short(maintenance.retain, layout)) is not None
        ):
            problems.append(short)
        self._check(node, problems)
        steps: list[Step] = [compaction(node, layout)]
        if maintenance.vacuum:
            steps.append(VacuumTable(layout, maintenance.retain))
        return NodePlan(unique_id, tuple(steps), writes=layout.relation)

    def freshness(self, unique_id: str) -> NodePlan | None:
        """The steps that ask how fresh a source is; None where nothing says how fresh it is to be.

        Raises ProblemsError where nothing says by which column, or where it is no table.
        """
        node = self._prepared.graph.nodes[unique_id]
        if not isinstance(node, SourceNode):
            return None
        config = node.config
        if config.freshness is None:
            return None
        name = f"source {node.full_name}"
        if config.stream is not None:
            message, hint = f"{name} is a stream, and no table that could be asked", "take its `freshness` out"
            raise ProblemsError([Problem("freshness", message, node.place, hint)])
        if config.loaded_at_field is None:
            message, hint = (
                f'{name} has "freshness" and no "loaded_at_field"',
                "name the column with the time of each row",
            )
            raise ProblemsError([Problem("missing-key", message, node.place, hint)])
        relation = self._compiler.relation(unique_id)
        step = MeasureFreshness(relation, config.loaded_at_field, config.freshness)
        return NodePlan(unique_id, (self._inputs.attach([unique_id]), step))

    def _merge(self, node: ModelNode, prepared: Prepared) -> NodePlan:
        if (asking := prepared.asking) is not None:
            return self._merge_plan(node, prepared.first_run if asking.first_run else prepared)
        if not node.differs_by_run or is_rebuilt(node, prepared.invocation):
            return self._merge_plan(node, prepared)
        plan, first = (self._form(node, of_run) for of_run in (prepared, prepared.first_run))
        if plan.asks is None and _texts(first) == _texts(plan):
            return plan
        others = frozenset(other.unique_id for other in other_writers(self._prepared.graph.nodes, node))
        return replace(plan, first_run=FirstRun(first, table_layout(self._prepared, node), others))

    def _form(self, node: ModelNode, prepared: Prepared) -> NodePlan:
        """The plan of one kind of run; an error that the author raises in its text counts only where it runs."""
        try:
            return self._merge_plan(node, prepared)
        except ProblemsError as error:
            if any(problem.code != DEFERRED for problem in error.problems):
                plan = self._asking(node, error)
                assert plan is not None
                return plan
            return NodePlan(node.unique_id, (RaiseError(error.problems[0]),), writes=own_relation(node))

    def _merge_plan(self, node: ModelNode, prepared: Prepared) -> NodePlan:
        """The plan of one kind of run: what is different in it is what `prepared` renders."""
        compiler = prepared.compiler
        rendered = compiler.render(node.unique_id)
        statement = compiler.merge(node.unique_id)
        relation = own_relation(node)
        default = relation.schema == self._profile.schema
        if statement.target.parts and not relation.is_named_by(statement.target.parts, default=default):
            span = statement.target.relation
            raise ProblemsError(
                [
                    Problem(
                        "not-a-merge",
                        f"the MERGE writes {'.'.join(statement.target.parts)}, and this model is {relation.name}",
                        rendered.place(span.start, span.end),
                        "write `merge into {{ this }}`; the config keys `alias` and `schema` name the table",
                    )
                ]
            )
        rebuilt = is_rebuilt(node, prepared.invocation)
        empties = prepared.batch is not None and prepared.batch.empties
        reads = OwnReads.of(statement, rendered)
        loses = rebuilt and node.config.full_refresh is True
        judged = self._judge(node, statement)
        feed = self._feed(node)
        layout = table_layout(self._prepared, node)
        shape = insert_shape(statement)
        expect = self._expectation(node, judged)
        looks_first = (rebuilt or empties) and feed is None and expect is not None and expect.before_replacing
        adds = layout.on_schema_change == "append_new_columns" and not rebuilt
        if node.config.batch_size == "hour" and time_type(node) == "date":
            raise ProblemsError([self._hours_of_dates(node)])
        if layout.on_schema_change == "fail" and statement.schema_evolution:
            raise ProblemsError([self._contradiction(node)])
        steps: list[Step] = [
            *([OpenFeed(feed)] if feed else ()),
            *self._contract(node, existing=not rebuilt, merge=statement),
            *([self._schema_check(node, layout, shape)] if layout.on_schema_change == "fail" and not rebuilt else ()),
            *([CheckSource(relation, rendered.text, judged, expect)] if expect and looks_first else ()),
            CreateTarget(layout, shape, rebuilt, reads.first, reads.history is not None and loses),
            *self._empty_window(node, layout, prepared.batch),
            *(self._contract(node, existing=True, merge=statement, after_adding=True) if adds else ()),
            RunMerge(
                *(relation, rendered.text, judged, bounding(judged, node.config.bounds)),
                *(feed, expect, cost_limits(node.config.expect_merge)),
            ),
        ]
        plan = self._with_surroundings(node, steps, compiler)
        if (rebuilt or empties) and not loses and reads.history is not None:
            plan = replace(plan, steps=(keep_history(layout, reads.history), *plan.steps))
        after = compacted_after(node)
        if after is None:
            return plan
        self._check(node, faults(node, layout))
        return replace(plan, steps=(*plan.steps, replace(compaction(node, layout), after=after)))

    def _empty_window(self, node: ModelNode, layout: Layout, batch: NodeBatch | None) -> Sequence[Step]:
        """The step that removes the rows of a batch before they are merged again, where that is asked for."""
        if batch is None or not batch.empties:
            return ()
        event_time, type = node.config.event_time, time_type(node)
        start, end = (time_literal(time, type) for time in (batch.window.start, batch.window.end))
        return [EmptyWindow(layout, f"{event_time} >= {start} AND {event_time} < {end}")]

    def _check(self, node: RefNode, faults: Iterable[Fault]) -> None:
        """Raises the faults of a node's `optimize`, at the place of that config key, as ProblemsError."""
        problems = [
            Problem(fault.code, fault.message, self._config_place(node, "optimize"), fault.hint) for fault in faults
        ]
        if problems:
            raise ProblemsError(problems)

    def _config_place(self, node: RefNode, key: str) -> Place:
        """Return the place of a config key of a node."""
        files = self._prepared.files
        if isinstance(node, SeedNode):
            layers = list(files.seeds[node.name].layers)
        else:
            layers = [*files.models[node.name].layers, self._compiler.render(node.unique_id).captured.config]
        return config_place(layers, key) or Place(node.path, 1, 1)

    def _contract(self, node: ModelNode, **of: Any) -> Sequence[Step]:
        """The step that enforces a model's contract, where it has one; `of` says what is compared."""
        model = self._prepared.files.models[node.name]
        if not is_enforced(node.config):
            return ()
        return [
            EnforceContract(
                table_layout(self._prepared, node), model.properties_place or node.place, model.column_places, **of
            )
        ]

    def _schema_check(self, node: ModelNode, layout: Layout, shape: Shape | None) -> CheckSchema:
        model = self._prepared.files.models[node.name]
        return CheckSchema(layout, shape, model.properties_place or node.place, model.column_places)

    def _hours_of_dates(self, node: ModelNode) -> Problem:
        """Return the problem of a model whose batches are shorter than what its `event_time` can say."""
        message = f"the batches of {node.name} are hours, and its {node.config.event_time} is a date"
        hint = "give it `batch_size: day`, or an `event_time` of the type timestamp"
        return Problem("broken-batches", message, self._config_place(node, "batch_size"), hint)

    def _contradiction(self, node: ModelNode) -> Problem:
        """Return the problem of a MERGE that changes the columns of a table whose model stops where they change."""
        message = "WITH SCHEMA EVOLUTION adds columns to the table, and `on_schema_change` is fail"
        hint = "take one of them out; with `on_schema_change: append_new_columns` declared columns are added"
        return Problem("schema-change", message, self._config_place(node, "on_schema_change"), hint)

    def _expectation(self, node: ModelNode, judged: JudgedMerge) -> Expectation | None:
        """What is expected of a MERGE. Raises ProblemsError where ON does not say what the source's keys are."""
        expect = expectation(node.config.expect_merge, judged, node.config.format)
        if expect is not None and expect.limits.unique_source and not expect.keys.spans:
            message = "`unique_source` needs keys, and ON has no equality between a column of the target and the source"
            hint = "qualify the columns of ON by the aliases of target and source, or leave `unique_source` out"
            raise ProblemsError([Problem("expect-merge", message, self._config_place(node, "expect_merge"), hint)])
        return expect

    def _refuse_expectation(self, node: ModelNode) -> None:
        """Raises ProblemsError where a model without a MERGE says itself what is expected of one."""
        properties = self._prepared.files.models[node.name].properties
        own = self._compiler.render(node.unique_id).captured.config.values
        if "expect_merge" in own or (properties is not None and "expect_merge" in properties.config):
            kind = node.materialized
            message = f"`expect_merge` guards a MERGE, and {node.name} is a {kind}: nothing would be guarded"
            hint = "take it out here; as a default for a folder it is for the merges in it"
            raise ProblemsError([Problem("expect-merge", message, self._config_place(node, "expect_merge"), hint)])

    def _feed(self, node: ModelNode) -> Feed | None:
        if node.changes_of is None:
            return None
        parent = self._prepared.graph.nodes[node.changes_of]
        assert isinstance(parent, RefNode)  # graph/change_feeds.py refuses others
        relation = self._compiler.relation(node.changes_of)
        return Feed(changes_of(parent.name), relation, node.application, parent.config.format)

    def _judge(self, node: ModelNode, statement: MergeStatement) -> JudgedMerge:
        layout, variables = self.layouts.target(node.unique_id), declared_variables(node.config.pre_hook)
        return judge_merge(statement, layout, self.layouts.lookup, node.config.bounds, variables)

    def _table(self, node: ModelNode) -> NodePlan:
        self._refuse_expectation(node)
        text = query(self._compiler.render(node.unique_id))
        steps: list[Step] = [*self._contract(node, query=text), ReplaceTable(table_layout(self._prepared, node), text)]
        return self._with_surroundings(node, steps)

    def _view(self, node: ModelNode) -> NodePlan:
        self._refuse_expectation(node)
        compiler = self._prepared.whole.compiler  # a view is the same in a sampled run: others may read it
        text = query(compiler.render(node.unique_id))
        relation = own_relation(node)
        steps: list[Step] = [
            *self._contract(node, query=text),
            DefineView(relation, text, view_definition(self._root, self._profile, relation)),
        ]
        return self._with_surroundings(node, steps, compiler)

    def _seed(self, node: SeedNode) -> NodePlan:
        seed = self._prepared.files.seeds[node.name]
        types = {column["name"]: column["data_type"] for column in node.columns.values() if column["data_type"]}
        step = LoadSeed(
            table_layout(self._prepared, node), seed.path, node.config.delimiter, types | {**node.config.column_types}
        )
        around = self._hooks(node, seed.layers)
        steps: tuple[Step, ...] = (*around["pre_hook"], step, *around["post_hook"])
        return NodePlan(node.unique_id, steps, writes=own_relation(node))

    def _with_surroundings(self, node: ModelNode, steps: Iterable[Step], compiler: Compiler | None = None) -> NodePlan:
        """The steps between what every model needs: its inputs, and its hooks."""
        compiler = compiler or self._compiler
        rendered = compiler.render(node.unique_id)
        layers = [*self._prepared.files.models[node.name].layers, rendered.captured.config]
        around, steps = self._hooks(node, layers, compiler), tuple(steps)
        target = next((step for step in steps if isinstance(step, CreateTarget)), None)
        before = (replace(hook, prepares=target) for hook in around["pre_hook"])
        all_steps = (self._inputs.attach(compiler.read_by(node)), *before, *steps, *around["post_hook"])
        writes = None if node.materialized == "view" else own_relation(node)
        return NodePlan(node.unique_id, all_steps, rendered, rendered.text, writes)

    def _hooks(
        self, node: RefNode, layers: Sequence[Layer], compiler: Compiler | None = None
    ) -> Mapping[str, Sequence[RunHook]]:
        """The hooks of a model or seed by when they run; `layers` are all of its config. A blank one is left out."""
        compiler = compiler or self._compiler
        problems = Problems()
        around: dict[str, list[RunHook]] = {"pre_hook": [], "post_hook": []}
        for when, texts in (("pre_hook", node.config.pre_hook), ("post_hook", node.config.post_hook)):
            for text in texts:
                snippet = hook(node.path, layers, when, text)
                with problems.collecting():
                    rendered = compiler.snippet(node, snippet)
                    if rendered.text.strip():
                        names_this = rendered.captured.uses_this
                        around[when].append(RunHook(rendered.text, when, names_this=names_this, place=snippet.at))
        problems.check()
        return around


def asked_first(error: ProblemsError) -> Problem:
    """Return where a text asks the engine first. Raises the error where anything else is wrong with the text."""
    if any(problem.code != ASKS_ENGINE for problem in error.problems):
        raise error
    return error.problems[0]


def _texts(plan: NodePlan) -> tuple[str, ...]:
    """What the templates of a node have rendered to: its text and its hooks."""
    return (plan.sql, *(step.sql for step in plan.steps if isinstance(step, RunHook)))
