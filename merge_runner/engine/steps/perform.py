"""Performs steps: each in the session of the node that it belongs to, by the function of its type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from merge_runner.engine.context import NodeContext
from merge_runner.engine.maintenance import optimize_table, vacuum_table
from merge_runner.engine.merge.contract import check_schema, enforce_contract
from merge_runner.engine.merge.guardrails import check_before_replacing
from merge_runner.engine.merge.idempotency import empty_window
from merge_runner.engine.merge.pipeline import run_merge
from merge_runner.engine.model_tests.data_test import run_data_test
from merge_runner.engine.model_tests.unit_test import run_unit_test
from merge_runner.engine.spark.errors import EngineError, engine_errors
from merge_runner.engine.steps.freshness import measure_freshness
from merge_runner.engine.steps.hooks import run_hook
from merge_runner.engine.steps.tables import (
    attach_inputs,
    clone_table,
    create_branch,
    create_target,
    define_view,
    keep_history,
    keep_rows,
    load_seed,
    open_feed,
    replace_table,
    share_inputs,
)
from merge_runner.plan.steps.inputs import AttachInputs, OpenFeed, ShareInputs
from merge_runner.plan.steps.maintenance import OptimizeTable, VacuumTable
from merge_runner.plan.steps.merge import CheckSource, RunHook, RunMerge
from merge_runner.plan.steps.model_tests import MeasureFreshness, RunTest, RunUnitTest
from merge_runner.plan.steps.node_plan import RaiseError
from merge_runner.plan.steps.step import Step
from merge_runner.plan.steps.table import (
    CheckSchema,
    CloneTable,
    CreateBranch,
    CreateTarget,
    DefineView,
    EmptyWindow,
    EnforceContract,
    KeepHistory,
    KeepRows,
    LoadSeed,
    ReplaceTable,
)

S = TypeVar("S", bound=Step)


def perform(step: Step, context: NodeContext) -> None:
    """Perform one step. Raises EngineError."""
    with engine_errors(or_bugs=True):
        FUNCTIONS[type(step)](step, context)


def _raise_error(step: RaiseError, context: NodeContext) -> None:
    raise EngineError.of(step.problem)


def _by(kind: type[S], function: Callable[[S, NodeContext], None]) -> tuple[type, Callable[[Any, NodeContext], None]]:
    """Return an entry of the table; the function must take steps of this very type."""
    return kind, function


FUNCTIONS: Mapping[type, Callable[[Any, NodeContext], None]] = dict(
    (
        _by(AttachInputs, attach_inputs),
        _by(ShareInputs, share_inputs),
        _by(OpenFeed, open_feed),
        _by(EnforceContract, enforce_contract),
        _by(CheckSchema, check_schema),
        _by(KeepHistory, keep_history),
        _by(KeepRows, keep_rows),
        _by(CloneTable, clone_table),
        _by(CreateBranch, create_branch),
        _by(CheckSource, check_before_replacing),
        _by(CreateTarget, create_target),
        _by(EmptyWindow, empty_window),
        _by(RunHook, run_hook),
        _by(RunMerge, run_merge),
        _by(ReplaceTable, replace_table),
        _by(DefineView, define_view),
        _by(LoadSeed, load_seed),
        _by(RunTest, run_data_test),
        _by(RunUnitTest, run_unit_test),
        _by(MeasureFreshness, measure_freshness),
        _by(OptimizeTable, optimize_table),
        _by(VacuumTable, vacuum_table),
        _by(RaiseError, _raise_error),
    )
)
"""The function of each type of step."""
