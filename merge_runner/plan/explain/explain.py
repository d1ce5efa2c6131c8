"""What a build would do, without running it: levels, and the steps of each node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

from merge_runner.columns import padded, width
from merge_runner.errors import Problems
from merge_runner.formats.merge_plans import MergePlan
from merge_runner.formats.registry import capabilities
from merge_runner.formats.write_distribution import WriteDistribution
from merge_runner.graph.graph import ModelNode, Node, run_config
from merge_runner.graph.model_text import OlderRows
from merge_runner.graph.order import contracted, levels_of, unit_tests_first
from merge_runner.lineage.edge import TableLineage
from merge_runner.plan.batches.batch_values import schedule_of
from merge_runner.plan.explain import merge_columns
from merge_runner.plan.explain.batch_outlook import BatchOutlook
from merge_runner.plan.explain.join_strategy import engine_plan, write_distribution_of
from merge_runner.plan.explain.spark_explain import EngineReport, report_as_json
from merge_runner.plan.lineage.model_lineage import ModelLineages
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.nodes.input_caching import with_shared_inputs
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.merge_variants import Variant, variants
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.plan.steps.prediction import Prediction
from merge_runner.plan.steps.scan_cost import predict_full_scan
from merge_runner.plan.steps.step import Step
from merge_runner.pruning.judge.merge_analysis import JudgedMerge


@dataclass(frozen=True)
class Forms:
    """The forms of a node whose first run differs. `is_built`: whether its table was built; None: not known here."""

    table: str
    first_run: NodePlan
    is_built: bool | None

    def __str__(self) -> str:
        if self.is_built is None:
            return f"an incremental run is shown; where {self.table} was never built, the first run differs"
        if self.is_built:
            return f"an incremental run: {self.table} was built before"
        return f"a first run: {self.table} was never built, so is_incremental() is false"


class ReusePrediction(Protocol):
    """What a build would do with a node; its text says it in words."""

    @property
    def runs(self) -> bool:
        """Whether the node would run."""

    @property
    def because(self) -> str:
        """Why it would run, or why not."""


@dataclass(frozen=True)
class ExplainedNode:
    """A node and its plan; `merge` is what is known of its MERGE, None where it has none.

    `kind` is a model's materialization (`merge`, `table`, `view`), for other nodes the resource type (`seed`, `test`,
    `unit_test`). `engine_report` is what a running engine reports about it, where one was queried.
    """

    name: str
    kind: str
    plan: NodePlan
    merge: JudgedMerge | None
    conf: Mapping[str, str] = field(default_factory=dict)
    """The confs of its session."""
    engine_report: EngineReport | None = None
    forms: Forms | None = None
    """Which form of the node `plan` is, where a first run differs from the others."""
    lineages: ModelLineages | None = field(default=None, repr=False, compare=False)
    reuse: ReusePrediction | None = None
    """Whether a build would leave it out; None: it was not asked."""
    batches: BatchOutlook | None = None
    """Its batches; None: it has none."""
    older_rows: OlderRows | None = None
    """How many commits of its table an older text has made; None: that is not known, or it has no table."""

    @property
    def distribution(self) -> WriteDistribution | None:
        """How the rows of its MERGE come to the tasks that write them; None where it has none, or no partitions."""
        return write_distribution_of(self.merge, self.conf) if self.merge is not None else None

    @property
    def lineage(self) -> TableLineage:
        """The columns that its MERGE writes, and what it reads for them; of what cannot be resolved, none."""
        if self.merge is None or self.lineages is None:
            return TableLineage(())
        return self.lineages.of_statement(self.plan.unique_id, self.merge.statement)

    @property
    def predicted(self) -> Prediction | None:
        """What its MERGE is expected to cost: as the engine says, where it was asked, else by the recorded catalog."""
        if self.engine_report is not None:
            return self.engine_report.predicted
        is_first_run = self.forms is not None and self.forms.is_built is False
        return predict_full_scan(self.merge) if self.merge is not None and not is_first_run else None

    def lines(self) -> Iterator[str]:
        """Yield what a build would do with it, as text: its name, then what is below it."""
        words = [self.kind]
        if self.merge is not None:
            words += [self.merge.statement.merge_class, self.merge.judgement.verdict]
        yield f"{self.name} ({', '.join(words)})"
        outlook = (self.forms, self.reuse, self.older_rows if self.older_rows and self.older_rows.older else None)
        yield from (f"  {part}" for part in outlook if part is not None)
        if self.batches is not None:
            yield from (f"  {line}" for line in self.batches.lines())
        if self.plan.asks is not None:
            yield f"  render it when it runs, after the query at {self.plan.asks.place}; then plan its steps"
        for step in self.plan.steps:
            yield f"  {step}"
            yield from (f"    {variant}" for variant in _variants(step))
        if self.merge is not None:
            yield f"  its scan is {self.merge.judgement.verdict}: {self.merge.judgement.reason}"
        yield from (f"  {line}" for line in merge_columns.lines(self.lineage, self.name))
        if self.engine_plan is not None:
            yield f"  on {self.engine_plan.format}: {self.engine_plan.words}"
        if self.distribution is not None:
            yield f"  {self.distribution.words}"
        if self.predicted is not None:
            yield f"  {self.predicted}"
        if self.engine_report is not None:
            yield from (f"  {line}" for line in self.engine_report.lines())

    @property
    def is_test(self) -> bool:
        """Whether it is a data test or a unit test."""
        return self.kind in ("test", "unit_test")

    @property
    def engine_plan(self) -> MergePlan | None:
        """How the engine will run its MERGE; None where it has none."""
        return engine_plan(self.merge) if self.merge is not None else None


@dataclass(frozen=True)
class Explanation:
    """The nodes that have steps, level by level: all nodes of a level could run concurrently.

    `has_engine_reports`: a running engine was asked about each MERGE.
    """

    levels: tuple[tuple[ExplainedNode, ...], ...]
    has_engine_reports: bool = False

    @property
    def ok(self) -> bool:
        """Whether no statement was refused by an engine that was asked."""
        return not any(
            node.engine_report is not None and node.engine_report.error for level in self.levels for node in level
        )

    def lines(self) -> Iterator[str]:
        """Return the plan as text. Tests are counted under their level; the JSON form has them in full."""
        for number, level in enumerate(self.levels, start=1):
            models = [node for node in level if not node.is_test]
            tests = len(level) - len(models)
            words = [f"{len(models)} side by side"] if models else []
            words += [f"{tests} test" + "s" * (tests > 1)] if tests else []
            yield f"level {number}: {', '.join(words)}"
            for node in models:
                yield from (f"  {line}".rstrip() for line in node.lines())

    def table(self) -> Iterator[str]:
        """Return a line for each node, tests included: its level and kind, whether a build would run it, and why."""
        rows = [("level", "node", "kind", "would run", "because")]
        for number, level in enumerate(self.levels, start=1):
            for node in level:
                answer = "" if node.reuse is None else "yes" if node.reuse.runs else "no"
                because = node.reuse.because if node.reuse is not None else ""
                rows.append((str(number), node.name, node.kind, answer, because))
        widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
        for *cells, last in rows:
            yield "  ".join((*(padded(cell, columns) for cell, columns in zip(cells, widths, strict=True)), last))

    def as_json(self) -> dict[str, Any]:
        """The plan as JSON values."""
        return {
            "levels": [
                [
                    {
                        "unique_id": node.plan.unique_id,
                        "name": node.name,
                        "kind": node.kind,
                        "class": node.merge.statement.merge_class if node.merge else None,
                        "verdict": node.merge.judgement.verdict if node.merge else None,
                        "reason": node.merge.judgement.reason if node.merge else None,
                        **_columns_json(node.lineage),
                        "engine_plan": _plan_json(node.engine_plan),
                        "distribution": asdict(node.distribution) if node.distribution else None,
                        "predicted": node.predicted.as_json() if node.predicted is not None else None,
                        "steps": _steps_json(node.plan),
                        "asks_engine": str(node.plan.asks.place) if node.plan.asks is not None else None,
                        "built": node.forms.is_built if node.forms else None,
                        "first_run": _steps_json(node.forms.first_run) if node.forms else None,
                        "runs": node.reuse.runs if node.reuse else None,
                        "because": node.reuse.because if node.reuse else None,
                        "batches": node.batches.as_json() if node.batches else None,
                        "older_rows": asdict(node.older_rows) if node.older_rows else None,
                        **(report_as_json(node.engine_report) if self.has_engine_reports else {}),
                    }
                    for node in level
                ]
                for level in self.levels
            ]
        }


def explain(
    prepared: Prepared,
    ids: Sequence[str],
    is_built: Callable[[NodePlan], bool | None] = lambda _: None,
    outlook: Callable[[Prepared, Mapping[str, NodePlan]], Mapping[str, ReusePrediction]] = lambda _prepared, _plans: {},
    older_rows: Callable[[Node], OlderRows | None] = lambda _node: None,
) -> Explanation:
    """Return the plan of the selected nodes. Raises ProblemsError for texts that cannot be compiled.

    `is_built` returns whether the table of a node was built before, None where that is not known; `outlook` which nodes
    a build would leave out; `older_rows` how many commits of a table an older text has made.
    """
    planner = Planner(prepared)
    problems = Problems()
    with problems.collecting():
        prepared.templates.check()
    lineages = ModelLineages(prepared, planner.layouts)
    explained: dict[str, ExplainedNode] = {}
    for unique_id in ids:
        with problems.collecting():
            plan = planner.plan(unique_id)
            if plan is not None:
                node = prepared.graph.nodes[unique_id]
                kind = node.materialized if isinstance(node, ModelNode) else node.resource_type
                conf = {**prepared.files.profile.conf, **run_config(node).conf}
                schedule = schedule_of(node) if isinstance(node, ModelNode) else None
                explained[unique_id] = ExplainedNode(
                    *(node.name, kind, plan, None, conf),
                    lineages=lineages,
                    batches=BatchOutlook(schedule) if schedule is not None else None,
                    older_rows=older_rows(node),
                )
    problems.check()
    plans = with_shared_inputs(prepared, {unique_id: node.plan for unique_id, node in explained.items()})
    reused = outlook(prepared, plans)
    explained = {
        unique_id: with_running_form(
            replace(node, plan=plans[unique_id], reuse=reused.get(unique_id)), is_built(plans[unique_id])
        )
        for unique_id, node in explained.items()
    }
    unit_tests = [unique_id for unique_id, node in explained.items() if node.kind == "unit_test"]
    dag = unit_tests_first(contracted(prepared.graph, explained), unit_tests)
    return Explanation(tuple(tuple(explained[unique_id] for unique_id in level) for level in levels_of(dag)))


def with_running_form(node: ExplainedNode, is_built: bool | None) -> ExplainedNode:
    """Return the node with the plan that runs where its table was built before (None: not known), or was not."""
    plan, forms, first = node.plan, None, node.plan.first_run
    if first is not None:
        forms = Forms(first.layout.relation.name, first.plan, is_built)
        plan = first.plan if is_built is False else plan
    merge = next((step.judged for step in plan.steps if isinstance(step, RunMerge)), None)
    return replace(node, plan=plan, merge=merge, forms=forms)


def _columns_json(lineage: TableLineage) -> dict[str, Any]:
    reads = {relation: list(columns) for relation, columns in merge_columns.columns_read(lineage).items()}
    return {"reads": reads, "columns": merge_columns.columns_written(lineage)}


def _steps_json(plan: NodePlan) -> list[dict[str, Any]]:
    return [_step_json(step) for step in plan.steps]


def _step_json(step: Step) -> dict[str, Any]:
    variants = [
        {"name": variant.name, "adds": variant.adds, "after": variant.after, "on_branch": variant.branch is not None}
        for variant in _variants(step)
    ]
    return {"step": type(step).__name__, "text": str(step)} | ({"variants": variants} if variants else {})


def _variants(step: Step) -> tuple[Variant, ...]:
    """Return the statements that a MERGE may be sent as, where other processes may write its table."""
    if not isinstance(step, RunMerge) or step.judged.layout.format is None:
        return ()
    return variants(step, capabilities(step.judged.layout.format))


def _plan_json(plan: MergePlan | None) -> dict[str, Any] | None:
    return None if plan is None else {"find": plan.find, "write": plan.write, "text": plan.words}
