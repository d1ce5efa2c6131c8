"""What a node reads and writes, as it is stored: the states that a decision and a record are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.inputs import ViewInput
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.plan.steps.table import CreateTarget, DefineView, LoadSeed, ReplaceTable
from merge_runner.relation import Relation
from merge_runner.run.reuse.eligible import inputs_of, query_doubt, view_reading
from merge_runner.run.reuse.stored_state import States, StoredState, stored_input, stored_table, stored_view

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def stored_target(plan: NodePlan, prepared: Prepared) -> StoredState | None:
    """Return where the table or view of a node is stored; None: none that is known."""
    for step in plan.steps:
        if isinstance(step, (CreateTarget, ReplaceTable, LoadSeed)):
            layout = step.layout
            return stored_table(layout.relation, layout.format, layout.location, prepared)
        if isinstance(step, DefineView) and step.definition is not None:
            return stored_view(step.definition)
    return None


def defined_relation(plan: NodePlan) -> Relation | None:
    """Return the table that a node writes, or the view that it defines; None: neither."""
    views = (step.relation for step in plan.steps if isinstance(step, DefineView))
    return plan.writes if plan.writes is not None else next(views, None)


def names_of_inputs(plan: NodePlan, prepared: Prepared) -> dict[str, str]:
    """Return what people call the inputs of a node, by what is stored."""
    states = {item.relation.name: stored_input(item, prepared) for item in inputs_of(plan)}
    states |= {step.path.name: _stored_seed(step) for step in plan.steps if isinstance(step, LoadSeed)}
    return {str(where): name for name, where in states.items() if where is not None}


def _stored_seed(step: LoadSeed) -> StoredState:
    return StoredState("text", str(step.path.absolute()))


def needs_spark(plan: NodePlan, prepared: Prepared) -> bool:
    """Return whether Spark alone knows the state of something that a node reads or writes."""
    inputs = (stored_input(item, prepared) for item in inputs_of(plan))
    return any(state is not None and state.needs_spark for state in (stored_target(plan, prepared), *inputs))


def states_of_inputs(
    plan: NodePlan, prepared: Prepared, states: States, session: SparkSession | None = None
) -> dict[str, str] | str:
    """Return the states of what a node reads, by what is stored; a text says why one of them is not known."""
    states_by_name: dict[str, str] = {}
    for step in plan.steps:
        if isinstance(step, DefineView):
            return states_by_name  # its text alone makes it what it is
        if isinstance(step, LoadSeed):
            seed = _stored_seed(step)
            state = states.of(seed)
            if state is None:
                return f"{step.path.name} cannot be read"
            states_by_name[str(seed)] = state
    relations = [item.relation for item in inputs_of(plan)]
    for item in inputs_of(plan):
        where = stored_input(item, prepared)
        if where is None:
            return f"whether {item.relation.name} has changed is not known"
        if where.needs_spark and session is None:
            return f"whether {item.relation.name} has changed is not known before Spark runs"
        state = states.of(where, session)
        if state is None:
            return f"{item.relation.name} was written just now, or cannot be read"
        states_by_name[str(where)] = state
        if isinstance(item, ViewInput) and (reason := _view_doubt(item, prepared, relations, session)) is not None:
            return reason
    return states_by_name


def _view_doubt(
    item: ViewInput, prepared: Prepared, relations: Sequence[Relation], session: SparkSession | None
) -> str | None:
    reading = view_reading(item, prepared, session)
    if reading is None:
        return f"the view {item.relation.name} cannot be read"
    return query_doubt(reading, relations, f"the view {item.relation.name}")
