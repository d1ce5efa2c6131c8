"""Every type of step has its function."""

from typing import get_args

from merge_runner.engine.steps.perform import FUNCTIONS
from merge_runner.plan.steps.node_plan import Step


def test_every_step_is_performed():
    assert set(FUNCTIONS) == set(get_args(Step))
