"""Every type of step has its function."""

from merge_runner.engine.steps.perform import FUNCTIONS
from merge_runner.plan import plan  # noqa: F401  # every step that is planned
from merge_runner.plan.steps.step import Step


def test_every_step_is_performed():
    assert set(FUNCTIONS) == set(Step.__subclasses__())
